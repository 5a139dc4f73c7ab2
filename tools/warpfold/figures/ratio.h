#pragma once

namespace warpfold::cli {

// Returns part / whole; 0 if `whole` is 0.
inline double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Returns the percentage that `part` is of `whole`; 0 if `whole` is 0.
template <typename Number>
double percent(Number part, Number whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace warpfold::cli
