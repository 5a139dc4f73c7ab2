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

// What of a simulation is held against a row.
enum class Quantity {
  kTime,       // microseconds
  kSlowdown,   // time beside others over time alone
  kTimeRatio,  // time of the first run over that of the second
  kWatts,      // mean power of the board at the clock that it leaves
  kClock,      // that clock, in MHz
};

// Facts of run_facts() that a simulation follows, by their names.
using FollowedFacts = std::set<std::string, std::less<>>;

struct Run {
  configs::Scenario scenario;  // resolved, GPU and all
  std::string file;            // that traces are relative to
};

// A row as something that can be simulated.
struct Comparison {
  std::string family;  // gemm, attention forward, ...
  std::string kernel;  // within it; rows of one kernel and GPU are a group
  std::string shape;   // for people
  Quantity quantity = Quantity::kTime;
  double measured = 0;     // microseconds, a ratio, watts or MHz
  std::vector<Run> runs;   // kTime: one after the other, their times add up
  double launches_us = 0;  // kTime: of launches that the measured time holds
  std::string of;          // the kernel whose time counts; empty: the whole run
  std::string beside;      // kSlowdown: only while this kernel runs; empty: to the end
  double work = 0;         // FLOP or bytes; 0: not known
  std::string rate_unit;   // of work over time: TFLOPS, GB/s
  FollowedFacts follows;
  std::vector<std::string> unfollowed;  // phrases that state a fact about the run which this comparison does not follow
};

// Why a row cannot be simulated: there is nothing to simulate for it, or the user made a mistake in it, which ends the command.
struct NotMapped {
  std::string reason;
  std::optional<Diagnostic> mistake{};
};

template <typename T>
using Mapped = std::expected<T, NotMapped>;

inline std::unexpected<NotMapped> not_mapped(std::string reason) { return std::unexpected(NotMapped{std::move(reason)}); }
inline std::unexpected<NotMapped> mistaken(Diagnostic mistake) { return std::unexpected(NotMapped{{}, std::move(mistake)}); }

// Work over microseconds in TFLOPS or GB/s.
double rate_of(double work, const std::string& unit, double us);

}  // namespace warpfold::validation
