#pragma once

#include <cstddef>
#include <vector>

namespace warpfold::validation {

// Statistics of relative errors: of their magnitudes, and their bias. All 0 for an empty list.
//
//   errors -0.10 +0.02 +0.03 +0.25:  mean 0.10, median 0.065, p90 0.25, largest 0.25, bias +0.05
struct Errors {
  size_t count = 0;
  double mean = 0;
  double median = 0;  // for an even count: the mean of the two middle magnitudes
  double p90 = 0;     // nearest rank: the smallest magnitude that at least 90 % of the magnitudes do not exceed
  double largest = 0;
  double bias = 0;  // mean of the signed errors
};

Errors errors_of(const std::vector<double>& signed_errors);

}  // namespace warpfold::validation
