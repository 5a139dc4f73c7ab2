#pragma once

#include <string>
#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// One run among several: its name in tables, the path of its fields in the report, and its result.
struct Contestant {
  std::string label;
  std::string path;
  const configs::Result* result;
};

// Returns the recommended run: its gain over the first run, its limit and its cost: "Hide the random numbers under the GEMM
// (CONCURRENT): 3.38 ms, 1.364 times as fast as SEQUENTIAL; limited by ...; stores 537 MB."
//
// Runs whose difference from the fastest run is within folding's error are tied with it. The verdict states their difference and
// the smallest difference that would not be a tie: "CONCURRENT: 3.38 ms, tied with FUSED (1.96 % slower, told apart from 4.00 %)".
//
// Runs of different scenarios or GPUs get no advice and are named by their labels. `runs` must not be empty.
configs::Statement verdict(const std::vector<Contestant>& runs);
std::string verdict_text(const configs::Comparison& comparison);

}  // namespace warpfold::report
