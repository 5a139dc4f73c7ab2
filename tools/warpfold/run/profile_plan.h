#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/profile.pb.h"
#include "tools/profile/independence.h"
#include "tools/validation/comparison.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/run_options.h"
#include "tools/warpfold/run/stand_ins.h"

namespace warpfold::cli {

// A kernel of the profile that may run beside others.
struct PlanCandidate {
  std::string name;
  std::string short_name;
  std::string family;   // empty: unknown
  uint32_t row = 0;     // of the report's kernels, from 1 on
  validation::Run run;  // alone, of a kernel that is not opaque
  std::optional<OpaqueLaunch> opaque{};
  uint64_t launches = 0;         // that overlap no other kernel
  std::vector<size_t> together;  // candidates with which launches of it overlap in the trace
};

// Tries each pair of candidates: the limiter model's bound of both, and where it leaves something to gain, simulations of both on
// two streams, of which either has priority, against one after the other. Then chooses the pairs, each kernel in one at most, with
// the largest gain in all, and writes them as a scenario. Opaque launches are stand-ins with the demand that is assumed of them;
// pairs with such a launch are simulated with each other demand too, and the gain's range is kept.
struct PlanRequest {
  const configs::Gpu& gpu;
  std::string gpu_file;  // as the scenario names it
  configs::OpaqueDemand assumed = configs::DRAM;
  const profile::Independence& independence;
  std::string command_line;
  const RunOptions& how;
};
Outcome<void> plan_pairs(const std::vector<PlanCandidate>& candidates, const PlanRequest& request, configs::ProfileReport& report);

// Which of `gains` (of pairs of `kernels` things) to take so that no thing is in two and the sum is largest: exact, by all subsets.
struct Gain {
  size_t one;
  size_t other;
  double gain;
};
std::vector<size_t> best_matching(size_t kernels, const std::vector<Gain>& gains);

}  // namespace warpfold::cli
