#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/profile.pb.h"
#include "tools/profile/independence.h"
#include "tools/validation/comparison.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/run_options.h"

namespace warpfold::cli {

// A kernel of the profile that may run beside others.
struct PlanCandidate {
  std::string name;
  std::string short_name;
  uint32_t row = 0;     // of the report's kernels, from 1 on
  validation::Run run;  // alone
  uint64_t launches = 0;
  std::vector<size_t> together;  // candidates with which launches of it overlap in the trace
};

// Tries each pair of candidates: the limiter model's bound of both, and where it leaves something to gain, simulations of both on
// two streams, of which either has priority, against one after the other. Then chooses the pairs, each kernel in one at most, with
// the largest gain in all, and writes them as a scenario. `gpu_file`: what the scenario names.
Outcome<void> plan_pairs(const std::vector<PlanCandidate>& candidates, const profile::Independence& independence,
                         const configs::Gpu& gpu, const std::string& gpu_file, const std::string& command_line,
                         const RunOptions& how, configs::ProfileReport& report);

// Which of `gains` (of pairs of `kernels` things) to take so that no thing is in two and the sum is largest: exact, by all subsets.
struct Gain {
  size_t one;
  size_t other;
  double gain;
};
std::vector<size_t> best_matching(size_t kernels, const std::vector<Gain>& gains);

}  // namespace warpfold::cli
