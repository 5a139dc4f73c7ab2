#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/profile.pb.h"
#include "tools/profile/dependences.h"
#include "tools/profile/independence.h"
#include "tools/validation/comparison.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/run_options.h"
#include "tools/warpfold/run/stand_ins.h"

namespace warpfold::cli {

// A kernel of the profile that may run beside others.
struct PlanCandidate {
  std::vector<std::string> names;  // of the kernel, and of the ranges by which its launches were told apart
  std::string short_name;
  std::string family;   // empty: unknown
  uint32_t row = 0;     // of the report's kernels, from 1 on
  validation::Run run;  // alone, if the kernel is not opaque
  std::optional<OpaqueLaunch> opaque{};
  double measured_us = 0;        // one launch alone, less its start and end; 0: not measured on the simulated GPU
  uint64_t launches = 0;         // number of launches that overlap no other kernel
  std::vector<size_t> together;  // candidates that overlap this kernel in the trace
};

// Plans which kernels run side by side. For each pair of candidates, the limiter model gives a bound. If the bound leaves room for
// a gain, the pair is simulated on two streams, once with priority for each kernel, and compared with the two kernels in sequence.
// The plan consists of the pairs with the largest total gain, with each kernel in at most one pair, and is written as a scenario.
//
// A stand-in with the launch's assumed demand replaces an opaque launch. Pairs with a stand-in are also simulated with each demand
// for all stand-ins, which gives the gain's range.
struct PlanRequest {
  const configs::Gpu& gpu;
  std::string gpu_file;  // as the scenario names it
  const profile::Independence& independence;
  const profile::IndependentPairs* dependences;  // groups are candidates; null: no execution trace was given
  std::string command_line;
  const RunOptions& how;
};
Outcome<void> plan_pairs(const std::vector<PlanCandidate>& candidates, const PlanRequest& request, configs::ProfileReport& report);

// Selects from `gains`, of pairs of `kernels` items, so that no item is in two pairs and the sum is largest. Exact: examines all
// subsets.
struct Gain {
  size_t one;
  size_t other;
  double gain;
};
std::vector<size_t> best_matching(size_t kernels, const std::vector<Gain>& gains);

}  // namespace warpfold::cli
