#include "tools/report/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace warpfold::report {

std::string fixed(double number, int decimals) {
  if (!std::isfinite(number)) return "-";  // 0 / 0: a share of an empty whole
  const int size = std::snprintf(nullptr, 0, "%.*f", decimals, number);
  std::string digits(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(digits.data(), digits.size(), "%.*f", decimals, number);
  digits.pop_back();
  return digits;
}

std::string with_thousands(const std::string& digits) {
  const size_t point = std::min(digits.find('.'), digits.size());
  const size_t sign = digits.starts_with('-') ? 1 : 0;
  std::string text = digits.substr(0, point);
  for (size_t at = point; at > sign + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text.append(digits.substr(point));
}

std::string counted(uint64_t count, std::string_view noun, std::string_view plural) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : plural);
}

std::string rounded(double number) {
  constexpr int kDigits = 3;
  constexpr int kMostDecimals = 6;
  if (number == 0 || !std::isfinite(number)) return fixed(number, 0);
  const int before = static_cast<int>(std::floor(std::log10(std::abs(number)))) + 1;
  return with_thousands(fixed(number, std::clamp(kDigits - before, 0, kMostDecimals)));
}

std::string percent_text(double share) {
  constexpr double kPercent = 100;
  return fixed(kPercent * share, 1) + " %";
}

std::string time_text(double us) {
  constexpr double kMs = 1e3;
  constexpr double kSecond = 1e6;
  if (us >= kSecond) return rounded(us / kSecond) + " s";
  return us >= kMs ? rounded(us / kMs) + " ms" : rounded(us) + " us";
}

std::string bytes_text(double bytes) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB"};
  constexpr double kStep = 1000;
  size_t unit = 0;
  while (bytes >= kStep && unit + 1 < kUnits.size()) {
    bytes /= kStep;
    ++unit;
  }
  return rounded(bytes) + " " + kUnits[unit];
}

TimeUnit time_unit(double longest_us) {
  constexpr double kMs = 1e3;
  constexpr double kSecond = 1e6;
  constexpr double kMost = 10;  // thousands of the smaller unit
  if (longest_us >= kMost * kSecond) return {"s", kSecond};
  return longest_us >= kMost * kMs ? TimeUnit{"ms", kMs} : TimeUnit{"us", 1};
}

ByteUnit byte_unit(std::span<const uint64_t> sizes) {
  constexpr uint64_t kLeast = 100'000;
  const bool small = std::ranges::any_of(sizes, [](uint64_t size) { return size > 0 && size < kLeast; });
  return small ? ByteUnit{"kB", 1e3} : ByteUnit{"MB", 1e6};
}

}  // namespace warpfold::report
