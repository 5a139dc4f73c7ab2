#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

// Of repeated measurements. Host code, without CUDA.
namespace silicon {

// What several runs of the same thing took.
struct Spread {
  double median = 0;
  double least = 0;
  double p90 = 0;  // nearest rank
};

// Throws where there is nothing.
//
//   4 1 3 2:  median 2.5, least 1, p90 4
inline Spread spread_of(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("a spread of no measurements");
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const std::size_t rank = (9 * count + 9) / 10;
  return {(values[(count - 1) / 2] + values[count / 2]) / 2, values.front(), values[rank - 1]};
}

}  // namespace silicon
