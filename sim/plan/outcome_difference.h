#pragma once

#include <optional>
#include <string>

#include "sim/plan/outcome.h"

namespace warpfold::sim {

// A figure in which two outcomes of the same launches differ.
struct Difference {
  std::optional<size_t> kernel;  // index in Outcome::kernels; none: a figure of the whole run
  std::string figure;            // "end_cycle", "role 0 main 2 wait", "ledger of 0 against 1, alu"
  uint64_t one = 0;
  uint64_t other = 0;
};

// Returns the first difference; none if the outcomes are the same. Fields that record how the outcomes were simulated
// (`fold`, `folds`, `made`, `timeline`) are not compared.
std::optional<Difference> first_difference(const Outcome& one, const Outcome& other);

}  // namespace warpfold::sim
