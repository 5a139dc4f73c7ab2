#pragma once

#include <map>
#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "sim/gpu/simulate.h"
#include "tools/warpfold/failure.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// Runs the kernels of one scenario, under as many policies as wanted. What each kernel does alone is simulated once.
class Runner {
 public:
  // Generates or reads the kernels of a resolved scenario. `file` is the scenario's, `command_line` goes into results.
  static Outcome<Runner> prepare(const configs::Scenario& scenario, std::string file, std::string command_line);

  // `scenario` is the prepared one, perhaps with another policy. A deadlock is a failure with its report.
  Outcome<configs::Result> run(const configs::Scenario& scenario);

 private:
  struct Alone {
    uint64_t cycles = 0;
    std::string bound_by;
  };

  Runner() = default;
  Outcome<sim::Outcome> simulate(const configs::Scenario& scenario, const std::vector<sim::Launch>& launches, bool serialise) const;
  Outcome<Alone> run_alone(const configs::Scenario& scenario, size_t kernel);

  std::string file_;
  std::string command_line_;
  std::vector<traces::Kernel> kernels_;
  std::vector<std::string> hashes_;
  std::map<size_t, Alone> alone_;  // by kernel
};

}  // namespace warpfold::cli
