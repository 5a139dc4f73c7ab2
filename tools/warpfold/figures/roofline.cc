#include "tools/warpfold/figures/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "sim/analytic/limiters.h"
#include "sim/sm/make_spec.h"
#include "tools/warpfold/figures/ratio.h"

namespace warpfold::cli {

namespace {

// True for a resource that executes instructions, false for a resource that moves bytes or starts such moves.
bool executes(const std::string& resource) {
  constexpr std::array kMoves{"shared_memory", "memory_issue", "bulk_copy", "sm_ingress",
                              "sm_egress",     "l2_read",      "l2_write",  "dram"};
  return std::ranges::find(kMoves, resource) == kMoves.end();
}

class Filler {
 public:
  Filler(const configs::Gpu& gpu, const traces::Kernel& kernel, const configs::KernelResult& result)
      : spec_(sim::make_spec(gpu).value()),
        limiters_(sim::limiters_of_any_policy(gpu, {&kernel}).value()),
        cycles_per_ns_(gpu.clock_mhz() / 1000),
        time_ns_(result.time_us() * 1000) {
    const bool computes = kernel.flops > 0;
    roofline_.set_operation(computes ? "FLOP" : "warp instruction");
    roofline_.set_operations(static_cast<double>(computes ? kernel.flops : result.instructions_issued()));
    roofline_.set_operations_per_ns(ratio(roofline_.operations(), time_ns_));
    add_ceilings();
    add_levels(result.dram_bytes());
    find_roof();
  }

  configs::Roofline take() { return std::move(roofline_); }

 private:
  void add_ceilings() {
    for (const sim::Limiter& limiter : limiters_.all()) {
      if (!executes(limiter.resource)) continue;
      configs::RooflineCeiling& ceiling = *roofline_.add_ceilings();
      ceiling.set_resource(limiter.resource);
      ceiling.set_operations_per_ns(roofline_.operations() / (limiter.cycles / cycles_per_ns_));
    }
  }

  void add_level(const std::string& name, double bytes, double bytes_per_cycle) {
    configs::RooflineLevel& level = *roofline_.add_levels();
    level.set_level(name);
    level.set_bytes(static_cast<uint64_t>(std::llround(bytes)));
    level.set_intensity(ratio(roofline_.operations(), bytes));
    level.set_gb_per_s(ratio(bytes, time_ns_));
    level.set_ceiling_gb_per_s(bytes_per_cycle * cycles_per_ns_);
  }

  void add_levels(uint64_t dram_bytes) {
    const auto per_cycle = [](uint64_t milli) { return static_cast<double>(milli) / 1000; };
    const double sms = spec_.memory.sm_count;
    const double shared = sms * sim::kWavefrontBytes * per_cycle(spec_.data_stage_rate.thousandths());
    add_level("shared_memory", limiters_.cycles_of("shared_memory") * shared, shared);
    // L2 has a bandwidth for reads and another for writes: the ceiling follows from the kernel's mix of the two.
    const double read = limiters_.cycles_of("l2_read");
    const double written = limiters_.cycles_of("l2_write");
    const double l2_bytes =
        read * per_cycle(spec_.memory.l2_read_milli_bytes_per_clk) + written * per_cycle(spec_.memory.l2_write_milli_bytes_per_clk);
    const double longest = std::max(read, written);
    add_level("l2", l2_bytes, longest > 0 ? l2_bytes / longest : per_cycle(spec_.memory.l2_read_milli_bytes_per_clk));
    add_level("dram", static_cast<double>(dram_bytes), per_cycle(spec_.memory.dram_milli_bytes_per_clk));
  }

  void find_roof() {
    const auto lower = [&](const std::string& by, double roof) {
      if (!roofline_.bound_by().empty() && roof >= roofline_.roof()) return;
      roofline_.set_bound_by(by);
      roofline_.set_roof(roof);
    };
    for (const configs::RooflineCeiling& ceiling : roofline_.ceilings()) lower(ceiling.resource(), ceiling.operations_per_ns());
    for (const configs::RooflineLevel& level : roofline_.levels()) {
      if (level.bytes() > 0) lower(level.level(), level.intensity() * level.ceiling_gb_per_s());
    }
  }

  sim::Spec spec_;
  sim::Limiters limiters_;
  double cycles_per_ns_;
  double time_ns_;
  configs::Roofline roofline_;
};

}  // namespace

void fill_roofline(const configs::Gpu& gpu, const traces::Kernel& kernel, configs::KernelResult& result) {
  *result.mutable_roofline() = Filler(gpu, kernel, result).take();
}

}  // namespace warpfold::cli
