#pragma once

#include <string>
#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// One run among several: what tables call it, where its fields stand in the report, its figures.
struct Contestant {
  std::string label;
  std::string path;
  const configs::Result* result;
};

// What to do, by how much it pays over the first run, what limits it and what it costs:
// "Hide the random numbers under the GEMM (CONCURRENT): 3.38 ms, 1.364 times as fast as SEQUENTIAL; limited by ...; stores 537 MB."
// Runs that folding's estimates cannot tell from the fastest one are tied with it, by how much and from which difference on they
// would be told apart: "CONCURRENT: 3.38 ms, tied with FUSED (1.96 % slower, told apart from 4.00 %)".
// Runs of different scenarios or GPUs have no advice in common and are called by their labels. At least one run.
configs::Statement verdict(const std::vector<Contestant>& runs);
std::string verdict_text(const configs::Comparison& comparison);

}  // namespace warpfold::report
