#include "tools/profile/independence.h"

#include <re2/re2.h>

#include <algorithm>

#include "configs/escape/quoted.h"

namespace warpfold::profile {

Independence::Independence() = default;
Independence::Independence(Independence&&) noexcept = default;
Independence& Independence::operator=(Independence&&) noexcept = default;
Independence::~Independence() = default;

Expected<void> Independence::add(const std::string& pair) {
  const size_t comma = pair.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == pair.size() || pair.find(',', comma + 1) != std::string::npos)
    return fail("--independent " + escape::unquoted(pair) + ": expected two names with a comma between them, such as gemm,softmax");
  RE2::Options options;
  options.set_log_errors(false);
  auto one = std::make_unique<RE2>(pair.substr(0, comma), options);
  auto other = std::make_unique<RE2>(pair.substr(comma + 1), options);
  for (const RE2* each : {one.get(), other.get()}) {
    if (!each->ok()) return fail("--independent " + escape::unquoted(pair) + ": " + escape::remark(each->error()));
  }
  pairs_.emplace_back(std::move(one), std::move(other));
  return {};
}

bool Independence::names(const std::string& range) const {
  return std::ranges::any_of(
      pairs_, [&](const auto& pair) { return RE2::PartialMatch(range, *pair.first) || RE2::PartialMatch(range, *pair.second); });
}

bool Independence::states(std::span<const std::string> one, std::span<const std::string> other) const {
  return std::ranges::any_of(pairs_, [&](const auto& pair) {
    const auto has = [](std::span<const std::string> names, const RE2& pattern) {
      return std::ranges::any_of(names, [&](const std::string& name) { return RE2::PartialMatch(name, pattern); });
    };
    const auto fit = [&](std::span<const std::string> first, std::span<const std::string> second) {
      return has(first, *pair.first) && has(second, *pair.second);
    };
    return fit(one, other) || fit(other, one);
  });
}

}  // namespace warpfold::profile
