#include "tools/profile/extents.h"

#include <algorithm>
#include <charconv>

namespace warpfold::profile {

std::optional<std::vector<int64_t>> numbers_of(std::string_view value) {
  if (value.starts_with('[') && value.ends_with(']')) value = value.substr(1, value.size() - 2);
  std::vector<int64_t> numbers;
  while (!value.empty()) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc()) return std::nullopt;
    numbers.push_back(number);
    value.remove_prefix(static_cast<size_t>(end - value.data()));
    if (!value.empty() && value.front() != ',') return std::nullopt;
    value = value.substr(std::min(value.find_first_not_of(", "), value.size()));
  }
  return numbers;
}

}  // namespace warpfold::profile
