#pragma once

#include <optional>
#include <string>

#include "sim/plan/outcome.h"

namespace warpfold::sim {

// A figure that two outcomes of the same launches do not have in common.
struct Difference {
  std::optional<size_t> kernel;  // of Outcome::kernels; none: of the run
  std::string figure;            // "end_cycle", "role 0 main 2 wait", "ledger of 0 against 1, alu"
  uint64_t one = 0;
  uint64_t other = 0;
};

// The first one. None: they are the same in every field but those that say how the outcomes came about (`fold`, `folds`, `made`,
// `timeline`).
std::optional<Difference> first_difference(const Outcome& one, const Outcome& other);

}  // namespace warpfold::sim
