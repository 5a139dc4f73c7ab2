#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

// Statistics of repeated measurements. Host code, without CUDA.
namespace silicon {

// The spread of repeated measurements of one quantity.
struct Spread {
  double median = 0;
  double least = 0;
  double p90 = 0;  // nearest rank
};

// Throws if `values` is empty.
//
//   4 1 3 2:  median 2.5, least 1, p90 4
inline Spread spread_of(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("a spread of no measurements");
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const std::size_t rank = (9 * count + 9) / 10;
  return {(values[(count - 1) / 2] + values[count / 2]) / 2, values.front(), values[rank - 1]};
}

// Percentile by nearest rank; throws if `values` is empty.
//
//   25 % of 40 10 30 20: 10
inline double percentile_of(std::vector<double> values, double percent) {
  if (values.empty()) throw std::invalid_argument("a percentile of no measurements");
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

// Number of changes between two sources in the merged order of their events. The times of each source ascend.
//
//   1 2 3 and 4 5 6: 1     1 3 5 and 2 4 6: 5
inline int changes_between(const std::vector<long long>& first, const std::vector<long long>& second) {
  std::vector<std::pair<long long, int>> events;
  for (const long long time : first) events.emplace_back(time, 0);
  for (const long long time : second) events.emplace_back(time, 1);
  std::stable_sort(events.begin(), events.end());
  int changes = 0;
  for (std::size_t i = 1; i < events.size(); ++i) changes += events[i].second != events[i - 1].second;
  return changes;
}

// Distance of two events that recur with `period`, one `offset` behind the other, as a share of the period: at most a half.
inline double phase_of(double offset, double period) {
  const double behind = std::fmod(std::abs(offset), period) / period;
  return std::min(behind, 1 - behind);
}

}  // namespace silicon
