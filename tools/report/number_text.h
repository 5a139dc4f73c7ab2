#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warpfold::report {

// "12345678.9" -> "12,345,678.9"
std::string with_thousands(const std::string& digits);
std::string fixed(double number, int decimals);

// A number for a sentence: three digits that matter, or all that stand before the point: 0.0123, 1.23, 12.3, 4,713.
std::string rounded(double number);
// A share of a whole in percent: "6.3 %".
std::string percent_text(double share);

// What sizes that stand together are said in: MB, or kB where one of them is under 0.1 MB, which would read as 0.0 MB.
struct ByteUnit {
  std::string_view name;
  double bytes;
};
ByteUnit byte_unit(std::span<const uint64_t> sizes);

}  // namespace warpfold::report
