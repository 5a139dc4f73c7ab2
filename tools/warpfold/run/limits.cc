#include "tools/warpfold/run/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <optional>
#include <sstream>
#include <string_view>

#include "configs/escape/quoted.h"
#include "tools/warpfold/run/available_memory.h"
#include "tools/warpfold/run/interrupt.h"
#include "tools/warpfold/run/sanitized.h"
#include "tools/warpfold/run/take_option.h"

namespace warpfold::cli {

namespace {

constexpr std::string_view kTime = "--time-limit";
constexpr std::string_view kMemory = "--memory-limit";

// The two limits of this process in words: "10 s", "2.0 GiB". Empty: no limit.
struct InForce {
  std::string time{};
  std::string memory{};
};
InForce& in_force() {
  static InForce limits;
  return limits;
}

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array kSeconds{Unit{"", 1}, Unit{"s", 1}, Unit{"m", 60}, Unit{"h", 3600}};
constexpr double kKibi = 1024;
constexpr std::array kBytes{Unit{"", 1}, Unit{"k", kKibi}, Unit{"m", kKibi* kKibi}, Unit{"g", kKibi* kKibi* kKibi},
                            Unit{"t", kKibi* kKibi* kKibi* kKibi}};

// Reads a number above zero with its unit, in upper or lower case.
template <size_t N>
std::optional<double> quantity(const std::string& text, const std::array<Unit, N>& units) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number <= 0) return std::nullopt;
  std::string name(end, text.data() + text.size());
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  for (const Unit& unit : units) {
    if (unit.name == name) return number * unit.factor;
  }
  return std::nullopt;
}

std::string size_text(double bytes) {
  std::ostringstream text;
  text.setf(std::ios::fixed);
  text.precision(bytes < kKibi * kKibi * kKibi ? 0 : 1);
  if (bytes < kKibi * kKibi * kKibi) {
    text << bytes / (kKibi * kKibi) << " MiB";
  } else {
    text << bytes / (kKibi * kKibi * kKibi) << " GiB";
  }
  return text.str();
}

void limit_memory(double bytes) {
  struct rlimit limit{};
  if (kSanitized || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const double most = limit.rlim_max == RLIM_INFINITY ? bytes : std::min(bytes, static_cast<double>(limit.rlim_max));
  if (limit.rlim_cur != RLIM_INFINITY && static_cast<double>(limit.rlim_cur) <= most) return;
  limit.rlim_cur = static_cast<rlim_t>(most);
  if (setrlimit(RLIMIT_DATA, &limit) == 0) in_force().memory = size_text(most);
}

std::string time_is_up() { return "time limit of " + in_force().time + " reached (" + std::string(kTime) + ")"; }

}  // namespace

std::string limit_help() {
  return "Limits, of every command\n"
         "  --time-limit TIME     end after this time (90, 10m, 2h), with exit code 4\n"
         "  --memory-limit SIZE   end above this memory (500M, 2G), with exit code 4; default: the available memory\n";
}

Outcome<void> enforce_limits(std::vector<std::string>& words) {
  const auto time = take_option(words, kTime);
  if (!time) return std::unexpected(time.error());
  const auto memory = take_option(words, kMemory);
  if (!memory) return std::unexpected(memory.error());
  if (*memory) {
    const auto bytes = quantity(**memory, kBytes);
    constexpr double kLargest = kKibi * kKibi * kKibi * kKibi * kKibi * kKibi;  // 2^60: a limit fits 64 bits
    if (!bytes || *bytes > kLargest)
      return user_error(std::string(kMemory) + " takes a size such as 500M or 2G, not " + escape::quoted(**memory));
    limit_memory(*bytes);
  } else if (const auto available = available_memory()) {
    limit_memory(static_cast<double>(*available));
  }
  if (*time) {
    const auto seconds = quantity(**time, kSeconds);
    constexpr double kLongest = 1e9;
    if (!seconds || *seconds > kLongest)
      return user_error(std::string(kTime) + " takes a time such as 90, 10m or 2h, not " + escape::quoted(**time));
    std::ostringstream text;
    text << *seconds << " s";
    in_force().time = text.str();
    stop_after(*seconds, time_is_up() + ": no result is kept of unfinished work", kLimit);
  }
  return {};
}

Failure interrupted(const std::string& kept) {
  if (received_signal() == SIGALRM) return {kLimit, time_is_up() + ": " + kept};
  return {kInterrupted, "interrupted: " + kept};
}

Failure out_of_memory(const std::string& kept) {
  const std::string& limit = in_force().memory;
  return {kLimit, limit.empty() ? "out of memory: " + kept
                                : "memory limit of " + limit + " reached (" + std::string(kMemory) + "): " + kept};
}

}  // namespace warpfold::cli
