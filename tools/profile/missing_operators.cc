#include "tools/profile/missing_operators.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace warpfold::profile {
namespace {

// Numbers the windows of 2 x `length` launches that start at each launch, by the numbers of their halves. Past the ends are windows
// of no launch.
std::vector<uint32_t> doubled(const std::vector<uint32_t>& halves, size_t length) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;
  std::vector<uint32_t> windows(halves.size());
  for (size_t i = 0; i < halves.size(); ++i) {
    const uint32_t second = i + length < halves.size() ? halves[i + length] : UINT32_MAX;
    windows[i] = numbers.try_emplace({halves[i], second}, static_cast<uint32_t>(numbers.size())).first->second;
  }
  return windows;
}

}  // namespace

size_t find_missing_operators(std::span<const uint32_t> configurations, uint32_t none, std::vector<uint32_t>& operators) {
  if (std::ranges::find(operators, none) == operators.end()) return 0;
  constexpr size_t kWidths = 5;  // windows of 1, 2, 4, 8 and 16 launches
  std::array<std::vector<uint32_t>, kWidths> windows;
  windows[0].assign(configurations.begin(), configurations.end());
  for (size_t w = 1; w < kWidths; ++w) windows[w] = doubled(windows[w - 1], size_t{1} << (w - 1));

  const std::vector<uint32_t> recorded = operators;
  std::vector<bool> decided(recorded.size());
  size_t found = 0;
  for (size_t w = kWidths; w-- > 0;) {
    // The window that ends at a launch and the one that starts at it.
    const size_t length = size_t{1} << w;
    const auto around = [&](size_t i) {
      return std::pair(i + 1 >= length ? windows[w][i + 1 - length] : UINT32_MAX, windows[w][i]);
    };
    constexpr uint32_t kSeveral = UINT32_MAX;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> known;
    for (size_t i = 0; i < recorded.size(); ++i) {
      if (recorded[i] == none) continue;
      const auto [at, added] = known.try_emplace(around(i), recorded[i]);
      if (!added && at->second != recorded[i]) at->second = kSeveral;
    }
    for (size_t i = 0; i < recorded.size(); ++i) {
      if (recorded[i] != none || decided[i]) continue;
      const auto at = known.find(around(i));
      if (at == known.end()) continue;
      decided[i] = true;
      if (at->second == kSeveral) continue;
      operators[i] = at->second;
      ++found;
    }
  }
  return found;
}

}  // namespace warpfold::profile
