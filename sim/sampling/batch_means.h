#pragma once

#include <cstddef>
#include <vector>

namespace warpfold::sim {

// One batch: what was done, and in how many cycles.
struct Batch {
  double done = 0;
  double cycles = 0;
};

// Student's t allows for few batches; those that depend on each other show when they are joined.
inline constexpr size_t kLeastBatches = 8;

// Relative half width of the 99 % confidence interval of done per cycle over all batches (ratio estimator), the largest that
// batches of this size, of two and of four together give: batches that depend on each other show when they are joined. 0 where
// nothing was done at all. At least kLeastBatches of them.
double relative_uncertainty(const std::vector<Batch>& batches);

// How far the rates of the two halves are apart, relative to the whole: a drift that a confidence interval does not see.
double relative_drift(const std::vector<Batch>& batches);

}  // namespace warpfold::sim
