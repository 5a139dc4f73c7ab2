#include "workloads/common/stream_bytes.h"

#include <numeric>
#include <variant>

namespace warpfold::workloads {

namespace {

double l1_share(const traces::MemoryStream& stream) {
  return static_cast<double>(stream.l1_numerator) / static_cast<double>(stream.l1_denominator);
}

// Adds the bytes of `body` to `bytes`. `times[c]`: executions of the body by all warps in CTAs of class c.
void add_bytes(const traces::Kernel& kernel, const std::vector<traces::Node>& body, const std::vector<uint64_t>& times,
               std::vector<double>& bytes) {
  const auto issued = static_cast<double>(std::accumulate(times.begin(), times.end(), uint64_t{0}));
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      for (const isa::Instruction& instruction : block->code) {
        const auto& effect = instruction.effect;
        if (effect.stream < 0) continue;
        const auto stream = static_cast<size_t>(effect.stream);
        bytes[stream] += issued * (1 - l1_share(kernel.streams[stream])) *
                         static_cast<double>(traces::moved_bytes(kernel.streams[stream], effect.bytes));
      }
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    std::vector<uint64_t> inside = times;
    for (size_t c = 0; c < inside.size(); ++c) inside[c] *= traces::trips(loop.trips, kernel.cta_classes[c]);
    add_bytes(kernel, loop.body, inside, bytes);
  }
}

}  // namespace

std::vector<double> requested_bytes(const traces::Kernel& kernel) {
  std::vector<double> bytes(kernel.streams.size());
  for (const traces::Role& role : kernel.roles) {
    std::vector<uint64_t> warps = traces::ctas_by_class(kernel);
    for (uint64_t& count : warps) count *= role.warps;
    add_bytes(kernel, role.body, warps, bytes);
  }
  return bytes;
}

double dram_share(const traces::MemoryStream& stream) {
  return static_cast<double>(stream.dram_numerator) / static_cast<double>(stream.dram_denominator);
}

void set_dram_share(traces::MemoryStream& stream, uint64_t of_parts, uint64_t parts) {
  stream.dram_numerator = of_parts;
  stream.dram_denominator = of_parts == 0 ? 1 : parts;
}

}  // namespace warpfold::workloads
