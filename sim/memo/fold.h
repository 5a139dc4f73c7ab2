#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::sim {

enum class FoldMode : uint8_t {
  kAuto,   // skips recurring periods exactly; estimates stretches in which no state recurs
  kExact,  // skips recurring periods only
  kOff,    // every instruction is replayed
};

// Kind of a result, by how its run was shortened.
enum class Folded : uint8_t {
  kOff,      // folding was off
  kNone,     // no period was skipped: a full replay
  kExact,    // the result is that of a full replay, bit for bit
  kBounded,  // cycles are within the stated bound of a full replay
};
inline constexpr int kFoldedKinds = 4;
std::string_view folded_name(Folded folded);  // "off", "none", "exact", "bounded"

// Exact mechanisms of folding (see Memoizer). Switching one off changes the time that an exact run takes, and nothing
// else; tests/bench/mechanisms measures the gain of each in this way.
enum class Mechanism : uint8_t {
  kRecurrence,  // skips whole periods of an SM whose state recurs
  kRunCache,    // simulates an epoch once and looks it up when it comes again
};
inline constexpr int kMechanisms = 2;
std::string_view mechanism_name(Mechanism mechanism);

struct FoldOptions {
  FoldMode mode = FoldMode::kAuto;
  double error = 0.002;  // relative error of a kernel's cycles that bounded runs may have
  // Instructions of an SM without an exact recurrence before sampling begins; 0: by the SM's work (sm_folding.cc).
  uint64_t sampling_delay = 0;
  std::string omitted_field{};  // field left out of the state key, for tests of the key
  uint32_t disabled = 0;        // bit 1 << Mechanism: that mechanism is off
  bool check_skips = false;     // replays a sample of the exact skips as well (sim/memo/skip_check.h)

  bool enables(Mechanism mechanism) const { return (disabled >> static_cast<int>(mechanism) & 1) == 0; }
  bool operator==(const FoldOptions&) const = default;
};

// Periods of one length that one SM class skipped.
struct FoldedPeriod {
  uint32_t sm_class = 0;  // number of the SM class in its epoch
  uint64_t cycles = 0;
  uint64_t instructions = 0;  // issued by one SM in one period
  uint64_t repeats = 0;       // periods skipped
  bool exact = true;          // the state recurred; false: the work of the period was estimated from measured rates
};

struct FoldReport {
  Folded mode = Folded::kOff;
  double error_bound = 0;                // relative error of a kernel's cycles; 0 unless bounded
  std::vector<FoldedPeriod> periods;     // by SM class and length
  uint64_t instructions_replayed = 0;    // simulated one by one, on the SMs that represent their classes
  uint64_t instructions_of_classes = 0;  // issued by the same SMs, skipped or not
  uint64_t skips = 0;                    // exact skips, counted with FoldOptions::check_skips
  uint64_t skips_checked = 0;            // exact skips that were replayed as well
};

}  // namespace warpfold::sim
