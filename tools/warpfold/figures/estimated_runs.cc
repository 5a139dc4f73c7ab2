#include "tools/warpfold/figures/estimated_runs.h"

#include <algorithm>

#include "sim/plan/made_run.h"
#include "tools/warpfold/figures/ratio.h"

namespace warpfold::cli {

// Outcome::made lists equal simulations once. Outcome::folds repeats a simulation's report for each time that the outcome contains
// the simulation.
void EstimatedRuns::fill(const sim::Outcome& outcome, configs::Result& result) {
  configs::Fold& fold = *result.mutable_fold();
  double error_cycles = 0;
  for (const auto& made : outcome.made) {
    const sim::Outcome& simulated = *made->outcome;
    const auto& report = simulated.folds.front();  // later entries are reports of discarded simulations
    if (report->error_bound == 0) continue;
    const auto times = static_cast<uint64_t>(std::ranges::count(outcome.folds, report));
    configs::EstimatedRun& run = *fold.add_estimated();
    run.set_run(number_of(report));
    run.set_cycles(times * simulated.total_cycles);
    run.set_error_bound(report->error_bound);
    error_cycles += static_cast<double>(run.cycles()) * run.error_bound();
  }
  fold.set_total_error_bound(ratio(error_cycles, static_cast<double>(result.total_cycles())));
}

uint32_t EstimatedRuns::number_of(const std::shared_ptr<const sim::FoldReport>& report) {
  const auto found = std::ranges::find(known_, report);
  const auto number = static_cast<uint32_t>(found - known_.begin()) + 1;
  if (found == known_.end()) known_.push_back(report);
  return number;
}

}  // namespace warpfold::cli
