#pragma once

#include <cstddef>
#include <vector>

namespace warpfold::sim {

// A batch: the work done between two samples, and its cycles.
struct Batch {
  double done = 0;
  double cycles = 0;
};

// Least number of batches for an estimate: Student's t allows for so few.
inline constexpr size_t kLeastBatches = 8;

// Returns the relative half width of the 99 % confidence interval of work per cycle over all batches (ratio estimator).
// It is the largest of three: for single batches, and for batches joined in twos and in fours, since joining shows
// whether batches depend on each other. 0 if no work was done. Requires at least kLeastBatches batches.
double relative_uncertainty(const std::vector<Batch>& batches);

// Returns the difference between the rates of the first and the second half, relative to the rate of the whole: a
// drift, which a confidence interval does not show.
double relative_drift(const std::vector<Batch>& batches);

}  // namespace warpfold::sim
