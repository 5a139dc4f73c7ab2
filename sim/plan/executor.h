#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sim/plan/made_run.h"
#include "sim/plan/options.h"
#include "sim/plan/outcome.h"
#include "sim/plan/run_cache.h"
#include "sim/plan/run_plan.h"

namespace warpfold::sim {

// Runs all launches by a plan: epoch by epoch, each through the run cache of the options.
class Executor {
 public:
  // Simulates launches. `until_idle`: stops once all released launches have ended and every SM is pristine.
  using Simulate = std::function<Outcome(const RunInputs& inputs, bool until_idle)>;

  // All arguments must outlive the executor.
  Executor(const Spec& spec, const RunInputs& all, const Simulate& simulate)
      : spec_(spec), all_(all), simulate_(simulate), planner_(spec, all.launches, all.options.serialise) {}

  Outcome run();

 private:
  using Shared = std::shared_ptr<const Outcome>;

  Shared run_epoch(const Epoch& launches, uint64_t dirty_bytes);
  std::vector<std::shared_ptr<const MadeRun>> made_of(const std::vector<Shared>& outcomes) const;
  Shared repeated(const RunPlan& plan, size_t e, const std::vector<Shared>& outcomes) const;
  Options options_of(const Epoch& launches, uint64_t dirty_bytes) const;
  RunInputs inputs_of(const Epoch& launches, uint64_t dirty_bytes) const;

  const Spec& spec_;
  const RunInputs& all_;
  const Simulate& simulate_;
  RunPlanner planner_;
  std::vector<std::shared_ptr<const MadeRun>> made_;  // all simulations, if Options::keep_runs
};

}  // namespace warpfold::sim
