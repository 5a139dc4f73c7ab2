#include "tools/warpfold/run/occupancy_runs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/sm/make_spec.h"
#include "tools/warpfold/figures/occupancy.h"
#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"

namespace warpfold::cli {

namespace {

// Returns the first launch of each kernel of the scenario, with the limits on its CTAs and the footprints to try.
configs::OccupancyStudy study_of(const Planned& planned, const sim::Spec& spec, uint32_t steps) {
  configs::OccupancyStudy study;
  std::set<std::string> seen;
  for (const policies::PlannedKernel& launch : planned.plan.kernels) {
    if (!seen.insert(launch.of).second) continue;
    configs::KernelOccupancy& kernel = *study.add_kernels();
    kernel = occupancy_of(spec, launch, planned.scenario.gpu().sm_count());
    kernel.set_no_smaller(why_no_more(spec, launch, kernel));
    if (!kernel.no_smaller().empty()) continue;
    uint32_t ctas = kernel.ctas_per_sm();
    for (uint32_t step = 0; step < steps; ++step) {
      const auto smaller = footprint_for(spec, launch, ctas + 1);
      if (!smaller) break;
      *kernel.add_smaller() = *smaller;
      ctas = smaller->ctas();
    }
  }
  return study;
}

double time_of(const configs::Result& result, const std::string& of) {
  double time = 0;
  for (const configs::KernelResult& kernel : result.kernels()) time += kernel.of() == of ? kernel.time_us() : 0;
  return time;
}

struct Trial {
  std::string of;
  configs::SmallerFootprint* smaller;
  double error_bound = 0;
  std::optional<Failure> failure{};
};

void run_trial(const OccupancyQuestion& question, const configs::Result& base, const RunOptions& how, Trial& trial) {
  configs::SmallerFootprint& smaller = *trial.smaller;
  const auto varied = simulate_variant(question.scenario, {smaller.setting().begin(), smaller.setting().end()}, how);
  if (varied) {
    smaller.set_total_time_us(varied->total_time_us());
    smaller.set_speedup(ratio(base.total_time_us(), varied->total_time_us()));
    smaller.set_kernel_speedup(ratio(time_of(base, trial.of), time_of(*varied, trial.of)));
    smaller.set_fold(varied->fold().mode());
    trial.error_bound = base.fold().error_bound() + varied->fold().error_bound();
  } else if (is_of_the_variant(varied.error())) {
    smaller.set_not_run(why_not_run(varied.error()));
  } else {
    trial.failure = varied.error();
  }
}

}  // namespace

Outcome<configs::Result> ask_occupancy(const OccupancyQuestion& question, const RunOptions& how) {
  const auto planned = plan_variant(question.scenario, {});
  if (!planned) return std::unexpected(Failure(planned.error()));
  const auto spec = sim::make_spec(planned->scenario.gpu());
  if (!spec) return std::unexpected(Failure(spec.error()));
  auto base = simulate_variant(question.scenario, {}, how);
  if (!base) return base;
  configs::OccupancyStudy study = study_of(*planned, *spec, question.steps);
  std::vector<Trial> trials;
  for (configs::KernelOccupancy& kernel : *study.mutable_kernels()) {
    for (configs::SmallerFootprint& smaller : *kernel.mutable_smaller()) trials.push_back({kernel.of(), &smaller});
  }
  RunOptions one_at_a_time = how;
  one_at_a_time.jobs = 1;
  {
    ProgressBar bar("occupancy", trials.size());
    in_parallel(trials.size(), how.jobs, [&](size_t t) {
      run_trial(question, *base, one_at_a_time, trials[t]);
      bar.step();
    });
  }
  for (const Trial& trial : trials) {
    if (trial.failure) return std::unexpected(*trial.failure);
    study.set_noise(std::max(study.noise(), trial.error_bound));
  }
  *base->mutable_occupancy() = std::move(study);
  return base;
}

}  // namespace warpfold::cli
