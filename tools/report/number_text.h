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

// A time in the unit that people would say it in: "17.8 us", "4.61 ms", "43.5 s".
std::string time_text(double us);
// A size the same way, in powers of 1,000: "4.1 kB", "537 MB", "1.07 GB".
std::string bytes_text(double bytes);

// What times that stand together are said in: us, ms from 10,000 us on, s from 10 s on, by the longest.
struct TimeUnit {
  std::string_view name;
  double us;
};
TimeUnit time_unit(double longest_us);

// What sizes that stand together are said in: MB, or kB where one of them is under 0.1 MB, which would read as 0.0 MB.
struct ByteUnit {
  std::string_view name;
  double bytes;
};
ByteUnit byte_unit(std::span<const uint64_t> sizes);

}  // namespace warpfold::report
