#pragma once

#include <expected>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"
#include "tools/validation/measured_row.h"

namespace warpfold::validation {

// The quantity of a simulation that is compared with a row.
enum class Quantity {
  kTime,       // microseconds
  kSlowdown,   // time beside other kernels / time alone
  kTimeRatio,  // time of the first run / time of the second
  kWatts,      // mean power of the board at its sustained clock
  kClock,      // the sustained clock in MHz
};

// Names of the facts in run_facts() that a simulation follows.
using FollowedFacts = std::set<std::string, std::less<>>;

struct Run {
  configs::Scenario scenario;  // resolved, including its GPU
  std::string file;            // the file to which paths of traces are relative
};

// A row in a form that can be simulated.
struct Comparison {
  std::string family;  // such as gemm, attention forward
  std::string kernel;  // kernel within the family; rows of one kernel and GPU form a group
  std::string shape;   // text for display
  Quantity quantity = Quantity::kTime;
  double measured = 0;     // microseconds, a ratio, watts or MHz
  std::vector<Run> runs;   // kTime: run one after the other, with times added up
  double launches_us = 0;  // kTime: launches, or starts and ends of kernels, that the measured time includes
  std::string of;          // the kernel whose time is compared; empty: the whole run
  std::string beside;      // kSlowdown: measure only while this kernel runs; empty: to the end
  double work = 0;         // FLOP or bytes; 0: unknown
  std::string rate_unit;   // unit of work / time: TFLOPS, GB/s
  std::string relative{};  // how the simulated kernel differs from the measured one; empty: its own library's generator ran
  FollowedFacts follows;
  std::vector<std::string> unfollowed;  // phrases that state a fact about the run that this comparison does not follow
};

// The reason why a row cannot be simulated: no kernel exists for it, or the user made a mistake in it, which ends the command.
struct NotMapped {
  std::string reason;
  std::optional<Diagnostic> mistake{};
};

template <typename T>
using Mapped = std::expected<T, NotMapped>;

inline std::unexpected<NotMapped> not_mapped(std::string reason) { return std::unexpected(NotMapped{std::move(reason)}); }
inline std::unexpected<NotMapped> mistaken(Diagnostic mistake) { return std::unexpected(NotMapped{{}, std::move(mistake)}); }

// Returns work / time in TFLOPS or GB/s; `us` in microseconds.
double rate_of(double work, const std::string& unit, double us);

}  // namespace warpfold::validation
