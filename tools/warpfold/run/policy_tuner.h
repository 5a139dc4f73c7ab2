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

// Takes what policies leave open (policies::OpenSettings) by trial: the settings of the shortest run. Where the settings are in an
// order from little room for some kernels to much, by bisection: those kernels get more as long as they end after the others. Else
// each is tried.
class PolicyTuner {
 public:
  using Plan = std::function<Expected<Planned>(configs::Scenario scenario)>;

  // `known`: runs that trials may use and leave.
  PolicyTuner(workloads::KernelMaker& kernels, const RunOptions& options, std::shared_ptr<sim::RunCache> known, Plan plan);

  // `scenario` under its policy: planned with the settings taken, and what was taken; none where nothing is open, or nothing that
  // is possible. `by_default`: the same with the policy's defaults, if it has any.
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
