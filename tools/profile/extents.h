#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

namespace warpfold::profile {

using Extents = std::vector<uint64_t>;

constexpr uint64_t kLargestSize = uint64_t{1} << 40;  // upper limit of a size; products of hostile extents saturate here

inline uint64_t size_product(uint64_t one, uint64_t other) {
  return other == 0 || one <= kLargestSize / other ? one * other : kLargestSize;
}
inline uint64_t elements_of(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), uint64_t{1}, size_product);
}
inline uint64_t rounded_up(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// Strides of a dense tensor, in elements: [8, 4] has [4, 1].
inline Extents dense_strides(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;) strides[i - 1] = size_product(strides[i], extents[i]);
  return strides;
}

// Returns the whole numbers of "-1" or "[0, -1]"; none of other text.
std::optional<std::vector<int64_t>> numbers_of(std::string_view value);

}  // namespace warpfold::profile
