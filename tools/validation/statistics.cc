#include "tools/validation/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpfold::validation {

Errors errors_of(const std::vector<double>& signed_errors) {
  if (signed_errors.empty()) return {};
  std::vector<double> sizes;
  for (const double error : signed_errors) sizes.push_back(std::abs(error));
  std::ranges::sort(sizes);
  const size_t count = sizes.size();
  const auto mean = [count](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count);
  };
  const size_t rank = (9 * count + 9) / 10;  // ceil(0.9 count)
  return {.count = count,
          .mean = mean(sizes),
          .median = (sizes[(count - 1) / 2] + sizes[count / 2]) / 2,
          .p90 = sizes[rank - 1],
          .largest = sizes.back(),
          .bias = mean(signed_errors)};
}

}  // namespace warpfold::validation
