#include "tools/warpfold/run/plan_clock.h"

#include <algorithm>
#include <cmath>

#include "sim/analytic/limiters.h"
#include "sim/sm/make_spec.h"

namespace warpfold::cli {

namespace {

// What limiters know of a run: kernels one after the other where the plan says so, else as long as the longest and as what all of
// them ask of one resource.
class Expectation {
 public:
  explicit Expectation(bool serialise) : serialise_(serialise) {}

  void add(const sim::Limiters& limiters) {
    double longest = 0;
    for (const sim::Limiter& limiter : limiters.all()) {
      if (limiter.resource != "dram") longest = std::max(longest, limiter.cycles);
    }
    in_sequence_ += longest;
    longest_ = std::max(longest_, longest);
    dram_ += limiters.cycles_of("dram");
    all_ = all_ ? sim::merged(*all_, limiters) : limiters;
  }

  double dram_cycles() const { return dram_; }
  double cycles() const {
    if (serialise_) return in_sequence_;
    double busiest = longest_;
    for (const sim::Limiter& limiter : all_->all()) {
      if (limiter.resource != "dram") busiest = std::max(busiest, limiter.cycles);
    }
    return busiest;
  }

 private:
  bool serialise_;
  double in_sequence_ = 0;
  double longest_ = 0;
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
  Expectation expected(planned.plan.serialise);
  for (const policies::PlannedKernel& kernel : planned.plan.kernels) {
    const auto events = sim::events_of(*spec, kernel.kernel);
    if (!events) return std::unexpected(events.error());
    clock.energies_.push_back(sim::energy_of(gpu.power().energy(), *events));
    clock.load_.energy.add(clock.energies_.back());
    const auto limiters = sim::limiters_of(gpu, kernel.kernel);
    if (!limiters) return std::unexpected(limiters.error());
    expected.add(*limiters);
  }
  clock.load_.cycles = expected.cycles();
  clock.load_.dram_cycles = expected.dram_cycles();
  clock.load_.clock_mhz = gpu.clock_mhz();
  clock.clock_.mhz = sim::PowerModel(clock.power_).sustained_clock(clock.load_);
  return clock;
}

// DRAM alone serves another number of bytes a cycle at another clock: the run is longer or shorter by that part of the time in
// which DRAM is busy, at most.
bool PlanClock::settles(const sim::Outcome& outcome) {
  constexpr double kMostError = 0.02;
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
