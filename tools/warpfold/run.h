#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "sim/plan/run_cache.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/folding.h"
#include "tools/warpfold/planned.h"
#include "workloads/policies/policy.h"
#include "workloads/workloads.h"

namespace warpfold::cli {

// How simulations are run.
struct RunOptions {
  Folding folding;
  bool all_sms = false;
  sim::AccountGranularity account = sim::AccountGranularity::kByPhase;
  bool timeline = false;  // of the policies, not of what kernels do alone
  bool alone = true;      // what each kernel does alone too; without it a result has no slowdowns, no `alone` and no reason
  unsigned jobs = 1;      // simulations at a time; no result depends on it
};

void add_run_options(Options& options, const std::string& fold_error = "0.002");
Outcome<RunOptions> run_options(const Options& options);

// Runs one scenario under as many policies as wanted.
class Runner {
 public:
  // `kernels` are made for the scenario's file, `command_line` goes into results. `known`: runs that others have made or may use;
  // none: its own.
  Runner(workloads::KernelMaker& kernels, std::string command_line, const RunOptions& options,
         std::shared_ptr<sim::RunCache> known = std::make_shared<sim::RunCache>())
      : kernels_(kernels), command_line_(std::move(command_line)), options_(options), known_(std::move(known)) {}

  // One result for each of `planned`, which differ in their policies alone. What a kernel does alone is simulated once, whichever
  // plans it is part of; so are the scenario's kernels as they are written. A deadlock is a failure with its report.
  Outcome<std::vector<configs::Result>> run(const std::vector<Planned>& planned) const;

 private:
  struct Simulation {
    configs::Gpu gpu;
    std::vector<sim::Launch> launches;
    bool serialise;
    bool timeline;
    std::string what;  // for progress
  };
  class Kernels;

  Outcome<sim::Outcome> simulate(const Simulation& simulation, const std::vector<const Simulation*>& others,
                                 const sim::FoldOptions& fold) const;
  static bool may_be_one(const Simulation& one, const Simulation& other);
  Outcome<std::vector<sim::Outcome>> simulate_all(const std::vector<Simulation>& simulations, const sim::FoldOptions& fold) const;
  Outcome<std::vector<configs::Result>> run_folded(const std::vector<Planned>& planned, const policies::Plan& written,
                                                   const sim::FoldOptions& fold) const;
  configs::Result result_of(const Planned& planned, const policies::Plan& written, const Kernels& kernels,
                            const sim::Outcome& together, const std::vector<sim::Outcome>& outcomes) const;
  static void hold_against_alone(const Planned& planned, const policies::Plan& written, const Kernels& kernels,
                                 const sim::Outcome& together, const std::vector<sim::Outcome>& outcomes, configs::Result& result);

  workloads::KernelMaker& kernels_;
  std::string command_line_;
  RunOptions options_;
  std::shared_ptr<sim::RunCache> known_;
};

}  // namespace warpfold::cli
