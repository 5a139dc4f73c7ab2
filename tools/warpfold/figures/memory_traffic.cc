#include "tools/warpfold/figures/memory_traffic.h"

#include <cmath>
#include <vector>

#include "sim/analytic/demand.h"
#include "sim/sm/make_spec.h"
#include "tools/warpfold/figures/ratio.h"

namespace warpfold::cli {

namespace {

constexpr double kSectorBytes = 32;

sim::Demand launch_demand(const configs::Gpu& gpu, const traces::Kernel& kernel) {
  sim::Spec spec = sim::make_spec(gpu).value();
  spec.data_stage_rate = {};  // Counts wavefronts: a faster data stage must not change their number.
  const sim::KernelDemand demand = sim::demand_of(spec, sim::make_image(spec, kernel).value());
  const std::vector<uint64_t> ctas = traces::ctas_by_class(kernel);
  sim::Demand launch;
  for (size_t c = 0; c < ctas.size(); ++c) launch.add(demand.of_cta[c], ctas[c]);
  return launch;
}

bool touches_sectors(sim::AccessKind kind) {
  return kind == sim::AccessKind::kGlobalLoad || kind == sim::AccessKind::kGlobalStore || kind == sim::AccessKind::kCopyAsync;
}

// Each of the four warps of a wgmma counts the wavefronts of the whole wgmma.
uint64_t sharers_of(sim::AccessKind kind) { return kind == sim::AccessKind::kWgmmaOperand ? 4 : 1; }

void add_access(sim::AccessKind kind, const sim::AccessCounts& counts, configs::MemoryTraffic& into) {
  if (counts.requests == 0) return;
  configs::AccessTraffic& access = *into.add_accesses();
  access.set_kind(std::string(sim::access_name(kind)));
  access.set_requests(counts.requests);
  access.set_bytes(counts.bytes);
  access.set_l1_bytes(static_cast<uint64_t>(std::llround(counts.l1_bytes)));
  if (touches_sectors(kind))
    access.set_sectors_per_request(static_cast<double>(counts.bytes) / kSectorBytes / static_cast<double>(counts.requests));
  access.set_wavefronts(counts.wavefronts / sharers_of(kind));
  access.set_excess_wavefronts(counts.excess_wavefronts / sharers_of(kind));
}

void add_stream(const traces::MemoryStream& stream, double bytes, configs::MemoryTraffic& into) {
  if (bytes == 0) return;
  configs::StreamTraffic& traffic = *into.add_streams();
  traffic.set_name(stream.name);
  traffic.set_write(stream.write);
  traffic.set_bytes(static_cast<uint64_t>(std::llround(bytes)));
  traffic.set_dram_bytes(
      static_cast<uint64_t>(bytes * static_cast<double>(stream.dram_numerator) / static_cast<double>(stream.dram_denominator)));
}

}  // namespace

void fill_memory_traffic(const configs::Gpu& gpu, const traces::Kernel& kernel, configs::KernelResult& result) {
  const sim::Demand demand = launch_demand(gpu, kernel);
  configs::MemoryTraffic& memory = *result.mutable_memory();
  double asked = 0;
  double in_l1 = 0;
  double wavefronts = 0;
  double excess = 0;
  for (size_t a = 0; a < demand.accesses.size(); ++a) {
    const auto kind = static_cast<sim::AccessKind>(a);
    const sim::AccessCounts& counts = demand.accesses[a];
    add_access(kind, counts, memory);
    const auto sharers = static_cast<double>(sharers_of(kind));
    wavefronts += static_cast<double>(counts.wavefronts) / sharers;
    excess += static_cast<double>(counts.excess_wavefronts) / sharers;
    if (kind != sim::AccessKind::kGlobalLoad && kind != sim::AccessKind::kCopyAsync) continue;
    asked += static_cast<double>(counts.bytes);
    in_l1 += counts.l1_bytes;
  }
  double read = 0;
  double from_dram = 0;
  for (size_t s = 0; s < kernel.streams.size(); ++s) {
    add_stream(kernel.streams[s], demand.stream_read_bytes[s] + demand.stream_written_bytes[s], memory);
    const double share =
        static_cast<double>(kernel.streams[s].dram_numerator) / static_cast<double>(kernel.streams[s].dram_denominator);
    read += demand.stream_read_bytes[s];
    from_dram += demand.stream_read_bytes[s] * share;
  }
  memory.set_l1_hit_rate(ratio(in_l1, asked));
  memory.set_l2_hit_rate(ratio(read - from_dram, read));
  memory.set_conflict_rate(ratio(excess, wavefronts));
}

}  // namespace warpfold::cli
