#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/report.pb.h"
#include "configs/result.pb.h"

namespace warpfold::report {

// The victim's resident warp-cycles that a share of what `culprit` took is of: those beside the culprit on an SM. All of them where
// the culprit is the victim itself, or the two never met on an SM.
uint64_t warp_cycles_with(const configs::KernelResult& victim, const std::string& culprit);
bool met_on_an_sm(const configs::KernelResult& victim, const std::string& culprit);

// What one kernel took from another over all resources.
struct Theft {
  std::string victim;
  std::string culprit;
  uint64_t warp_cycles = 0;
  double share = 0;          // of warp_cycles_with
  std::string resource;      // where most of it was taken
  uint64_t on_resource = 0;  // warp-cycles there
  std::vector<std::string> fields;
};

// All pairs of two different kernels in the ledger, the largest share first.
std::vector<Theft> thefts(const configs::Result& result);

// What a reader should know first, in plain words, the most important on top: the total, warnings, what each kernel is bound by,
// the largest theft, what limits the run. At most `most` statements.
std::vector<configs::Statement> findings(const configs::Result& result, size_t most);

}  // namespace warpfold::report
