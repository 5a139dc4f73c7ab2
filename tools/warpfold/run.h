#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "sim/gpu/simulate.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/folding.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// How simulations are run.
struct RunOptions {
  Folding folding;
  bool all_sms = false;
  unsigned jobs = 1;  // simulations at a time; no result depends on it
};

void add_run_options(Options& options);
Outcome<RunOptions> run_options(const Options& options);

// Runs the kernels of one scenario, under as many policies as wanted.
class Runner {
 public:
  // Generates or reads the kernels of a resolved scenario. `file` is the scenario's, `command_line` goes into results.
  static Outcome<Runner> prepare(const configs::Scenario& scenario, std::string file, std::string command_line,
                                 const RunOptions& options);

  // One result for each of `scenarios`: the prepared one, with other policies. What each kernel does alone is simulated once,
  // on the first one's GPU. A deadlock is a failure with its report.
  Outcome<std::vector<configs::Result>> run(const std::vector<configs::Scenario>& scenarios) const;

 private:
  struct Simulation {
    const configs::Scenario* scenario;
    std::vector<sim::Launch> launches;
    bool serialise;
    std::string what;  // for progress
  };

  Runner() = default;
  Outcome<sim::Outcome> simulate(const Simulation& simulation, const sim::FoldOptions& fold) const;
  Outcome<std::vector<sim::Outcome>> simulate_all(const std::vector<Simulation>& simulations, const sim::FoldOptions& fold) const;
  Outcome<std::vector<configs::Result>> run_folded(const std::vector<configs::Scenario>& scenarios,
                                                   const sim::FoldOptions& fold) const;
  configs::Result result_of(const configs::Scenario& scenario, const sim::Outcome& together,
                            const std::vector<sim::Outcome>& alone) const;

  std::string file_;
  std::string command_line_;
  RunOptions options_;
  std::vector<traces::Kernel> kernels_;
  std::vector<std::string> hashes_;
};

}  // namespace warpfold::cli
