#include "tools/warpfold/run/plan_clock.h"

#include <algorithm>
#include <cmath>

#include "sim/analytic/limiters.h"
#include "sim/sm/make_spec.h"

namespace warpfold::cli {

namespace {

// The time of a run, estimated from limiters at the GPU file's clock: the larger of the longest chain of dependent launches and the
// total demand on any one resource.
class Expectation {
 public:
  Expectation(const policies::Plan& plan, uint32_t sms) : plan_(plan), sms_(sms) {}

  // Adds the plan's next launch.
  void add(const sim::Limiters& limiters) {
    const size_t launch = ends_.size();
    double begin = 0;
    for (size_t before = 0; before < launch; ++before) {
      if (waits(launch, before)) begin = std::max(begin, ends_[before]);
    }
    const double cycles = on_its_sms(limiters, plan_.kernels[launch].sms.count);
    ends_.push_back(begin + cycles);
    in_sequence_ += cycles;
    dram_ += limiters.cycles_of("dram");
    all_ = all_ ? sim::merged(*all_, limiters) : limiters;
  }

  sim::PowerLoad load(double clock_mhz) const {
    // fitted: ratio of simulated to estimated time of the scenarios in configs/scenarios, with launches in sequence and side by
    // side.
    constexpr double kInSequence = 1.1;
    constexpr double kSideBySide = 1.3;
    const double chain = *std::ranges::max_element(ends_);
    const double over_limiter = chain < in_sequence_ ? kSideBySide : kInSequence;
    sim::PowerLoad load;
    load.cycles = over_limiter * std::max(chain, all_->cycles());
    load.dram_cycles = over_limiter * dram_;
    load.clock_mhz = clock_mhz;
    return load;
  }

 private:
  bool waits(size_t launch, size_t before) const {
    const policies::PlannedKernel& kernel = plan_.kernels[launch];
    return plan_.serialise || kernel.stream == plan_.kernels[before].stream ||
           std::ranges::find(kernel.after, static_cast<int>(before)) != kernel.after.end();
  }

  // Limiters assume all SMs. A launch on part of them takes longer in proportion, except in DRAM, whose bandwidth does not depend
  // on the number of SMs.
  double on_its_sms(const sim::Limiters& limiters, uint32_t sms) const {
    const double part = sms > 0 ? static_cast<double>(sms) / sms_ : 1;
    double cycles = limiters.cycles_of("dram");
    for (const sim::Limiter& limiter : limiters.all()) {
      if (limiter.resource != "dram") cycles = std::max(cycles, limiter.cycles / part);
    }
    return cycles;
  }

  const policies::Plan& plan_;
  uint32_t sms_;
  std::vector<double> ends_{};  // of the launches
  double in_sequence_ = 0;
  double dram_ = 0;
  std::optional<sim::Limiters> all_{};
};

}  // namespace

Expected<std::optional<PlanClock>> PlanClock::of(const Planned& planned) {
  const configs::Gpu& gpu = planned.scenario.gpu();
  if (gpu.clock() != configs::POWER) return std::nullopt;
  const auto spec = sim::make_spec(gpu);
  if (!spec) return std::unexpected(spec.error());
  PlanClock clock;
  clock.power_ = gpu.power();
  Expectation expected(planned.plan, gpu.sm_count());
  sim::Energy energy;
  for (const policies::PlannedKernel& kernel : planned.plan.kernels) {
    const auto events = sim::events_of(*spec, kernel.kernel);
    if (!events) return std::unexpected(events.error());
    clock.energies_.push_back(sim::energy_of(gpu.power().energy(), *events));
    energy.add(clock.energies_.back());
    const auto limiters = sim::limiters_of(gpu, kernel.kernel);
    if (!limiters) return std::unexpected(limiters.error());
    expected.add(*limiters);
  }
  clock.load_ = expected.load(gpu.clock_mhz());
  clock.load_.energy = energy;
  clock.clock_.mhz = sim::PowerModel(clock.power_).sustained_clock(clock.load_);
  return clock;
}

// Only DRAM serves a different number of bytes per cycle at another clock. So the run's cycles change at most by the clock's change
// times the share of the time in which DRAM is busy.
bool PlanClock::settles(const sim::Outcome& outcome) {
  constexpr double kMostError = 0.03;
  ++clock_.simulations;
  clock_.simulated_mhz = clock_.mhz;
  load_ = load_of(energies_, outcome, clock_.simulated_mhz);
  clock_.mhz = sim::PowerModel(power_).sustained_clock(load_);
  const double dram = load_.cycles > 0 ? load_.dram_cycles / load_.cycles : 0;
  clock_.error = std::abs(clock_.mhz / clock_.simulated_mhz - 1) * dram;
  return clock_.error <= kMostError;
}

void PlanClock::fill(configs::Result& result) const { fill_power(sim::PowerModel(power_), energies_, load_, clock_, result); }

}  // namespace warpfold::cli
