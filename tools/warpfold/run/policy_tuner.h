#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "sim/plan/run_cache.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/planned.h"
#include "tools/warpfold/run/run_options.h"
#include "workloads/workloads.h"

namespace warpfold::cli {

// Chooses the settings that policies leave open (policies::OpenSettings) by simulation: the settings of the shortest run. If the
// settings are ordered by the room that some kernels get, the choice is by bisection: those kernels get more room as long as they
// end after the other kernels. Otherwise each setting is tried.
class PolicyTuner {
 public:
  using Plan = std::function<Expected<Planned>(configs::Scenario scenario)>;

  // `known`: a run cache that trials read and extend.
  PolicyTuner(workloads::KernelMaker& kernels, const RunOptions& options, std::shared_ptr<sim::RunCache> known, Plan plan);

  // The plan of a scenario with the chosen settings, and the settings. `tune` returns none if no setting is open or no choice can
  // be planned. `by_default`: the plan with the policy's defaults, if it has any.
  struct Taken {
    Planned planned;
    configs::TakenSettings said;
  };
  Outcome<std::optional<Taken>> tune(const configs::Scenario& scenario, const Expected<Planned>& by_default);

 private:
  workloads::KernelMaker& kernels_;
  RunOptions options_;
  std::shared_ptr<sim::RunCache> known_;
  Plan plan_;
};

}  // namespace warpfold::cli
