#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sim/plan/options.h"
#include "sim/plan/outcome.h"
#include "sim/plan/run_cache.h"
#include "sim/plan/run_plan.h"
#include "sim/sm/kernel_image.h"

namespace warpfold::sim {

// What one simulation is given.
struct RunInputs {
  std::vector<Launch> launches;
  std::vector<KernelImage> images;  // [launch]
  Options options;
};

// Runs a plan: leaves through the run cache, which Options names.
class Executor {
 public:
  // Simulates launches; `until_idle`: no further than to where all that has been released has ended and every SM is pristine.
  using Simulate = std::function<Outcome(const RunInputs& inputs, bool until_idle)>;

  // All outlive the executor.
  Executor(const Spec& spec, const RunInputs& all, const Simulate& simulate)
      : spec_(spec), all_(all), simulate_(simulate), planner_(spec, all.launches, all.options.serialise) {}

  Outcome run();

 private:
  using Shared = std::shared_ptr<const Outcome>;

  Outcome run_sequence(RunPlan plan) const;
  Shared run_epoch(const RunPlan& plan) const;
  Shared repeated(const RunPlan& sequence, size_t e, const std::vector<Shared>& outcomes) const;
  Outcome run_in_one(const Epoch& launches) const;
  size_t alternative_bounds_of(const RunPlan& sequence) const;
  Options options_of(const Epoch& launches) const;
  RunInputs inputs_of(const Epoch& launches) const;

  const Spec& spec_;
  const RunInputs& all_;
  const Simulate& simulate_;
  RunPlanner planner_;
};

}  // namespace warpfold::sim
