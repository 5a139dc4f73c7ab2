#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warpfold::report {

// "12345678.9" -> "12,345,678.9"
std::string with_thousands(const std::string& digits);
std::string fixed(double number, int decimals);

// Returns a count with its noun: "1 row", "2 rows".
std::string counted(uint64_t count, std::string_view noun, std::string_view plural = "s");

// Returns a number for a sentence: three significant digits, or all digits before the point: 0.0123, 1.23, 12.3, 4,713.
std::string rounded(double number);
// Returns a share of a whole in percent: "6.3 %".
std::string percent_text(double share);

// Returns a time in the unit that people would use: "17.8 us", "4.61 ms", "43.5 s".
std::string time_text(double us);
// Returns a size in the same way, in powers of 1,000: "4.1 kB", "537 MB", "1.07 GB".
std::string bytes_text(double bytes);

// The common unit of times in one table, by the longest: us, ms from 10,000 us on, s from 10 s on.
struct TimeUnit {
  std::string_view name;
  double us;
};
TimeUnit time_unit(double longest_us);

// The common unit of sizes in one table: MB, or kB if one of them is under 0.1 MB, which would read as 0.0 MB.
struct ByteUnit {
  std::string_view name;
  double bytes;
};
ByteUnit byte_unit(std::span<const uint64_t> sizes);

}  // namespace warpfold::report
