#pragma once

#include <cstddef>
#include <vector>

namespace warpfold::validation {

// Of relative errors: means of their sizes, and how they lean. All 0 where there are none.
//
//   errors -0.10 +0.02 +0.03 +0.25:  mean 0.10, median 0.065, p90 0.25, largest 0.25, bias +0.05
struct Errors {
  size_t count = 0;
  double mean = 0;
  double median = 0;  // of an even number: the mean of the two in the middle
  double p90 = 0;     // nearest rank: the smallest size that at least 90 % of the sizes do not exceed
  double largest = 0;
  double bias = 0;  // mean of the signed errors
};

Errors errors_of(const std::vector<double>& signed_errors);

}  // namespace warpfold::validation
