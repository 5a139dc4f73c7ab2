#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "sim/plan/run_cache.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/plan_clock.h"
#include "tools/warpfold/run/planned.h"
#include "tools/warpfold/run/run_options.h"
#include "workloads/policies/policy.h"
#include "workloads/workloads.h"

namespace warpfold::cli {

// Runs one scenario under any number of policies.
class Runner {
 public:
  // `kernels` must be made for the scenario's file; results record `command_line`. `known`: a run cache to share with other
  // runners; by default the runner has its own.
  Runner(workloads::KernelMaker& kernels, std::string command_line, const RunOptions& options,
         std::shared_ptr<sim::RunCache> known = std::make_shared<sim::RunCache>())
      : kernels_(kernels), command_line_(std::move(command_line)), options_(options), known_(std::move(known)) {}

  // Returns one result for each of `planned`, which must differ in their policies only. Each kernel is simulated alone once,
  // whichever plans contain it, and so are the scenario's original kernels. A deadlock is a failure with its report. If the clock
  // follows from power, kernels alone run at the clock of the first plan.
  Outcome<std::vector<configs::Result>> run(std::vector<Planned> planned) const;

 private:
  struct Simulation {
    configs::Gpu gpu;
    std::vector<sim::Launch> launches;
    bool serialise;
    bool timeline;
    std::string what;  // for progress
  };
  class Kernels;
  using Clocks = std::vector<std::optional<PlanClock>>;  // by plan; none if its clock is fixed

  Outcome<sim::Outcome> simulate(const Simulation& simulation, const std::vector<const Simulation*>& others,
                                 const sim::FoldOptions& fold) const;
  static bool differ_only_in_bounds(const Simulation& one, const Simulation& other);
  Outcome<std::vector<sim::Outcome>> simulate_all(const std::vector<Simulation>& simulations, const sim::FoldOptions& fold) const;
  // Returns the simulations of each kernel alone, if wanted, then those of each plan.
  std::vector<Simulation> simulations_of(const std::vector<Planned>& planned, const Kernels& kernels) const;
  Outcome<std::vector<sim::Outcome>> simulate_at_clocks(std::vector<Planned>& planned, const Kernels& kernels, Clocks& clocks,
                                                        const sim::FoldOptions& fold) const;
  // Sets the clocks of `planned` to the sustained clocks.
  Outcome<std::vector<configs::Result>> run_folded(std::vector<Planned>& planned, const policies::Plan& written,
                                                   const sim::FoldOptions& fold) const;
  configs::Result result_of(const Planned& planned, const policies::Plan& written, const Kernels& kernels,
                            const sim::Outcome& together, const std::vector<sim::Outcome>& outcomes) const;
  static void compare_with_alone(const Planned& planned, const policies::Plan& written, const Kernels& kernels,
                                 const sim::Outcome& together, const std::vector<sim::Outcome>& outcomes, configs::Result& result);

  workloads::KernelMaker& kernels_;
  std::string command_line_;
  RunOptions options_;
  std::shared_ptr<sim::RunCache> known_;
};

}  // namespace warpfold::cli
