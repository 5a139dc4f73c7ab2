#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::sim {

enum class FoldMode : uint8_t {
  kAuto,   // exact where the state recurs, else bounded
  kExact,  // only exact
  kOff,    // every instruction is replayed
};

// How a run was shortened, as results say it.
enum class Folded : uint8_t {
  kOff,
  kNone,     // no state recurred: a full replay
  kExact,    // the result is that of a full replay, bit for bit
  kBounded,  // cycles are within the stated bound of a full replay
};
inline constexpr int kFoldedKinds = 4;
std::string_view folded_name(Folded folded);  // "off", "none", "exact", "bounded"

// The applications of the principle in sim/memo/memoizer.h. Each can be switched off, which changes the time that a run takes and,
// of exact runs, nothing else: tests/bench/mechanisms measures by it what each of them is worth.
enum class Mechanism : uint8_t {
  kRecurrence,  // of an SM's state: whole periods are skipped
  kRunCache,    // launches that leave an idle GPU are a run that is simulated once
};
inline constexpr int kMechanisms = 2;
std::string_view mechanism_name(Mechanism mechanism);

struct FoldOptions {
  FoldMode mode = FoldMode::kAuto;
  double error = 0.002;         // relative error of a kernel's cycles that bounded runs may have
  uint64_t sampling_delay = 0;  // instructions without an exact recurrence before sampling; 0: 1/16 of what the SM runs
  std::string omitted_field{};  // left out of the state key: for tests of the key
  uint32_t disabled = 0;        // bit 1 << Mechanism: that mechanism is off
  bool check_skips = false;     // a sample of the exact skips is replayed as well (sim/memo/skip_check.h)

  bool enables(Mechanism mechanism) const { return (disabled >> static_cast<int>(mechanism) & 1) == 0; }
  bool operator==(const FoldOptions&) const = default;
};

// Periods of one length that one SM class skipped.
struct FoldedPeriod {
  uint32_t sm_class = 0;  // of its epoch
  uint64_t cycles = 0;
  uint64_t instructions = 0;  // of one SM in one period
  uint64_t repeats = 0;       // periods skipped
  bool exact = true;          // the state came back bit for bit; else the mean of several batches stands for what follows
};

struct FoldReport {
  Folded mode = Folded::kOff;
  double error_bound = 0;                // relative, of a kernel's cycles; 0 unless bounded
  std::vector<FoldedPeriod> periods;     // by SM class and length
  uint64_t instructions_replayed = 0;    // simulated one by one, on the SMs that represent their classes
  uint64_t instructions_of_classes = 0;  // issued by those SMs
  uint64_t skips = 0;                    // exact ones, counted with FoldOptions::check_skips
  uint64_t skips_checked = 0;            // of them, replayed as well
};

}  // namespace warpfold::sim
