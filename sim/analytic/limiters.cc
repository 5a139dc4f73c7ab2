#include "sim/analytic/limiters.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/analytic/demand.h"
#include "sim/memory/memory_share.h"
#include "sim/sm/make_spec.h"

namespace warpfold::sim {
namespace {

using isa::Pipe;

double number(uint64_t value) { return static_cast<double>(value); }

// Most reads of a bank that a warp finds in the register-file cache because the previous warp in its slot left them.
// The cache holds three operands of up to four registers each, two of them in the bank.
constexpr uint64_t kCachedReads = 6;

// Work of an SM to count. kWholeCtas: the minimum, over all distributions of CTAs, of the work of the busiest SM.
// kEvenly: the mean work of an SM.
enum class Spread { kWholeCtas, kEvenly };

class Counter {
 public:
  Counter(const Spec& spec, const KernelImage& image, Spread spread) : spec_(spec), image_(image), demand_(demand_of(spec, image)) {
    for (const traces::CtaRun& run : image.kernel->grid) chip_.add(demand_.of_cta[run.cta_class], run.count);
    const uint64_t ctas = image.kernel->ctas();
    add_sm(chip_, ctas * image.footprint.warps, spec.memory.sm_count);
    if (spread == Spread::kWholeCtas) add_whole_ctas();
    add_chip();
  }

  std::vector<Limiter> take() { return std::move(limiters_); }

 private:
  // For each CTA class: if n CTAs demand at least as much of a resource as this class, some SM runs at least n / SMs of
  // them, rounded up.
  void add_whole_ctas() {
    std::vector<uint64_t> ctas(demand_.of_cta.size());  // by CTA class
    for (const traces::CtaRun& run : image_.kernel->grid) ctas[run.cta_class] += run.count;
    std::map<std::string, std::vector<std::pair<double, size_t>>> by_resource;  // cycles of one CTA, CTA class
    for (size_t c = 0; c < ctas.size(); ++c) {
      if (ctas[c] == 0) continue;
      for (const Limiter& each : of_ctas(c, 1)) by_resource[each.resource].emplace_back(each.cycles, c);
    }
    for (auto& [resource, classes] : by_resource) {
      std::ranges::sort(classes, std::greater{});
      uint64_t no_less = 0;
      for (const auto& [cycles, c] : classes) {
        no_less += ctas[c];
        const std::vector<Limiter> of_sm = of_ctas(c, (no_less + spec_.memory.sm_count - 1) / spec_.memory.sm_count);
        const Limiter& own = *std::ranges::find(of_sm, resource, &Limiter::resource);
        offer(resource, own.cycles, own.slack);
      }
    }
  }

  // Returns the limiters of one SM that runs `ctas` CTAs of a class.
  std::vector<Limiter> of_ctas(size_t cta_class, uint64_t ctas) {
    std::vector<Limiter> known = std::exchange(limiters_, {});
    Demand demand;
    demand.add(demand_.of_cta[cta_class], ctas);
    add_sm(demand, ctas * image_.footprint.warps, 1);
    std::swap(known, limiters_);
    return known;
  }

  // Adds a limiter. If the resource has one already, keeps the one with the larger lower bound.
  void offer(const std::string& resource, double cycles, double slack) {
    if (cycles <= 0) return;
    const auto known = std::ranges::find(limiters_, resource, &Limiter::resource);
    if (known == limiters_.end()) {
      limiters_.push_back({resource, cycles, slack});
    } else if (cycles - slack > known->cycles - known->slack) {
      *known = {resource, cycles, slack};
    }
  }

  // Adds the resources of `sms` SMs that share the work evenly.
  void add_sm(const Demand& demand, uint64_t warps, uint32_t sms) {
    const double sub_cores = number(spec_.sub_cores) * sms;
    const double slots = number(spec_.issue_width) / spec_.issue_interval * sub_cores;
    offer("issue_slot", number(demand.instructions) / slots, spec_.issue_interval - 1);
    for (const isa::PipeRow& row : isa::kMathPipes) {
      if (!spec_.has(row.pipe)) continue;
      const auto p = static_cast<size_t>(row.pipe);
      // Work that may outlast the kernel: the instruction in the latch and those queued in front of the pipe.
      const uint64_t queued = (spec_.admission[p] + uint64_t{1}) * longest_interval(row.pipe);
      offer(std::string(row.name), number(demand.pipe_cycles[p]) / sub_cores, number(queued));
    }
    add_register_reads(demand, warps, sms);
    add_memory_stage(demand, sms);
  }

  // Instructions for FMA heavy occupy FMA lite as well.
  uint64_t longest_interval(Pipe pipe) const {
    const auto& longest = demand_.largest.pipe_cycles;
    const uint64_t own = longest[static_cast<size_t>(pipe)];
    return pipe == Pipe::kFmaLite ? std::max(own, longest[static_cast<size_t>(Pipe::kFmaHeavy)]) : own;
  }

  void add_register_reads(const Demand& demand, uint64_t warps, double sms) {
    const double rate = number(spec_.half_read_ports_per_bank) / 2 * spec_.sub_cores * sms;
    // Reads of the last two instructions end within two windows after their issue. A wide operand stretches a window to
    // six cycles, or to twelve with half a port per bank. The reads of the additional stages of a wider issue end
    // within these windows too.
    const double in_flight = 4 + 3 * std::max<double>(spec_.read_window, spec_.half_read_ports_per_bank > 1 ? 6 : 12);
    offer("register_read_ports", number(*std::ranges::max_element(demand.register_reads)) / rate,
          in_flight + number(warps * kCachedReads) / rate);
  }

  // Returns the most requests that can be between issue and the data stage when the last warp exits.
  uint64_t outstanding() const { return uint64_t{spec_.sub_cores} * spec_.memory_queue_entries + spec_.memory_credits; }

  uint64_t outstanding_bytes() const {
    uint64_t stages = 0;
    for (const traces::Ring& ring : image_.kernel->rings) stages += ring.depth;
    return outstanding() * demand_.largest.bytes_in + image_.ctas_per_sm * stages * demand_.largest.bulk_bytes;
  }

  void add_memory_stage(const Demand& demand, double sms) {
    const LargestRequest& largest = demand_.largest;
    const uint64_t commands = largest.wgmma_waited_for ? 0 : spec_.wgmma_fifo_entries + uint64_t{1};
    offer("wgmma", number(demand.wgmma_quarter_cycles) / 4 / sms, number(commands * largest.wgmma_cycles));
    // Products that no warp waited for: the capacity of the queues, and one in the tensor cores.
    const uint64_t products = uint64_t{spec_.sub_cores} * spec_.tcgen05_queue_entries + 1;
    if (spec_.has(Pipe::kTcgen05)) offer("tcgen05", number(demand.tcgen05_cycles) / sms, number(products * largest.tcgen05_cycles));
    const double left_over =
        number(outstanding() * largest.wavefronts + commands * largest.wgmma_wavefronts + products * largest.tcgen05_wavefronts);
    const auto at = [](Factor rate) { return number(Factor::kOne) / number(rate.thousandths()); };
    const double wavefront = at(spec_.data_stage_rate) / sms;
    offer("shared_memory",
          (number(demand.wavefronts) + number(demand.wgmma_quarter_wavefronts) / 4 + number(demand.tcgen05_wavefronts)) * wavefront,
          left_over * at(spec_.data_stage_rate));
    const double request = spec_.memory_issue_interval * at(spec_.memory_issue_rate);
    offer("memory_issue", number(demand.memory_requests) * request / sms, number(outstanding()) * request);
    offer("bulk_copy", number(demand.bulk_loads * spec_.bulk_copy_issue) / sms, bulk_slack());
    const double ingress = number(spec_.memory.ingress_milli_bytes_per_clk) / 1000;
    const double egress = number(spec_.memory.egress_milli_bytes_per_clk) / 1000;
    offer("sm_ingress", demand.bytes_in / ingress / sms,
          number(outstanding_bytes()) / ingress + most_bytes_below_mean(demand) / ingress / sms);
    offer("sm_egress", demand.bytes_out / egress / sms, 1);
  }

  // A warp waits for a bulk load before it uses the stage that the load fills. Nothing need wait for the loads of the
  // last stages.
  double bulk_slack() const {
    uint64_t stages = 0;
    for (const traces::Ring& ring : image_.kernel->rings) stages += ring.depth;
    return number(image_.ctas_per_sm * stages * spec_.bulk_copy_issue);
  }

  void add_chip() {
    const MemorySpec& memory = spec_.memory;
    const double l2_read = number(memory.l2_read_milli_bytes_per_clk) / 1000;
    const double l2_write = number(memory.l2_write_milli_bytes_per_clk) / 1000;
    const double dram = number(memory.dram_milli_bytes_per_clk) / 1000;
    const double queued = number(memory.sm_count * outstanding_bytes());
    offer("l2_read", chip_.l2_read_work / l2_read, (queued + most_bytes_below_mean(chip_)) / l2_read + 1);
    offer("l2_write", chip_.l2_write_work / l2_write, 1);
    double read = 0;
    double written = 0;
    double besides = 0;
    for (size_t s = 0; s < image_.kernel->streams.size(); ++s) {
      const traces::MemoryStream& stream = image_.kernel->streams[s];
      const double share = SpreadShare(stream.dram_numerator, stream.dram_denominator).share();
      read += chip_.stream_read_bytes[s] * share;
      written += chip_.stream_written_bytes[s] * share;
      besides += most_bytes_below_mean(chip_, s) * share;
    }
    // Bytes that may stay dirty in L2 need not be written before the kernel ends. Each SM rounds the bytes of each
    // stream by itself.
    const double stays = std::min(written, number(memory.l2_dirty_bytes));
    const double rounded = number(memory.sm_count * image_.kernel->streams.size());
    offer("dram", (read + written) / dram, (stays + queued + rounded + besides) / dram + 1);
  }

  // Returns by how much the bytes of a stream that miss L1 may fall below their mean: the hits may be the largest
  // requests.
  double most_bytes_below_mean(const Demand& demand, size_t s) const {
    const traces::MemoryStream& stream = image_.kernel->streams[s];
    uint64_t requests = 0;
    for (const auto& [bytes, count] : demand.stream_requests[s]) requests += count;
    uint64_t missing = requests - SpreadShare(stream.l1_numerator, stream.l1_denominator).take(requests);
    double least = 0;
    for (const auto& [bytes, count] : demand.stream_requests[s]) {
      const uint64_t smallest = std::min(missing, count);
      least += number(smallest) * bytes;
      missing -= smallest;
    }
    return std::max(0.0, demand.stream_read_bytes[s] + demand.stream_written_bytes[s] - least);
  }

  double most_bytes_below_mean(const Demand& demand) const {
    double bytes = 0;
    for (size_t s = 0; s < image_.kernel->streams.size(); ++s) bytes += most_bytes_below_mean(demand, s);
    return bytes;
  }

  const Spec& spec_;
  const KernelImage& image_;
  KernelDemand demand_;
  Demand chip_;
  std::vector<Limiter> limiters_;
};

Expected<Limiters> count(const Spec& spec, const traces::Kernel& kernel, Spread spread) {
  const auto image = make_image(spec, kernel);
  if (!image) return std::unexpected(image.error());
  return Limiters(Counter(spec, *image, spread).take());
}

}  // namespace

Limiters::Limiters(std::vector<Limiter> limiters) : limiters_(std::move(limiters)) {
  std::ranges::stable_sort(limiters_, [](const Limiter& a, const Limiter& b) { return a.cycles > b.cycles; });
}

double Limiters::cycles_of(const std::string& resource) const {
  const auto found = std::ranges::find(limiters_, resource, &Limiter::resource);
  return found == limiters_.end() ? 0 : found->cycles;
}

double Limiters::lower_bound() const {
  double most = 0;
  for (const Limiter& limiter : limiters_) most = std::max(most, limiter.cycles - limiter.slack);
  return most;
}

Limiters merged(const Limiters& one, const Limiters& other) {
  std::vector<Limiter> sum = one.all();
  for (const Limiter& limiter : other.all()) {
    const auto known = std::ranges::find(sum, limiter.resource, &Limiter::resource);
    if (known == sum.end()) {
      sum.push_back(limiter);
    } else {
      known->cycles += limiter.cycles;
      known->slack += limiter.slack;
    }
  }
  return Limiters(std::move(sum));
}

Expected<Limiters> limiters_of(const configs::Gpu& gpu, const traces::Kernel& kernel) {
  const auto spec = make_spec(gpu);
  if (!spec) return std::unexpected(spec.error());
  return count(*spec, kernel, Spread::kWholeCtas);
}

Expected<Limiters> limiters_of_any_policy(const configs::Gpu& gpu, const std::vector<const traces::Kernel*>& kernels) {
  const auto spec = make_spec(gpu);
  if (!spec) return std::unexpected(spec.error());
  Limiters all({});
  for (const traces::Kernel* kernel : kernels) {
    const auto one = count(*spec, *kernel, Spread::kEvenly);
    if (!one) return std::unexpected(one.error());
    all = merged(all, *one);
  }
  return all;
}

}  // namespace warpfold::sim
