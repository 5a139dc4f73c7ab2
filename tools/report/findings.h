#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/report.pb.h"
#include "configs/result.pb.h"

namespace warpfold::report {

// Returns the base for the share that `culprit` took from the victim: the victim's resident warp-cycles beside the culprit on an
// SM. If the culprit is the victim itself, or the two never met on an SM, the base is all of the victim's resident warp-cycles.
uint64_t warp_cycles_with(const configs::KernelResult& victim, const std::string& culprit);
bool met_on_an_sm(const configs::KernelResult& victim, const std::string& culprit);

// The warp-cycles that one kernel took from another, over all resources.
struct ContentionShare {
  std::string victim;
  std::string culprit;
  uint64_t warp_cycles = 0;
  double share = 0;          // of warp_cycles_with
  std::string resource;      // the resource with the largest part
  uint64_t on_resource = 0;  // warp-cycles of that resource
  std::vector<std::string> fields;
};

// Returns all pairs of two different kernels in the ledger, the largest share first.
std::vector<ContentionShare> contention_shares(const configs::Result& result);

// Returns at most `most` statements about a result in plain words, the most important first. The order is: the total, warnings, the
// bound of each kernel, the largest contention share, the limit of the run.
std::vector<configs::Statement> findings(const configs::Result& result, size_t most);

}  // namespace warpfold::report
