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
  kNone,     // nothing recurred: a full replay, of several classes together as long as they did the same, or of one along another's
             // way
  kExact,    // the result is that of a full replay, bit for bit
  kBounded,  // cycles are within the stated bound of a full replay
};
std::string_view folded_name(Folded folded);  // "off", "none", "exact", "bounded"

// Relative errors from which bounded runs have less patience.
inline constexpr double kCoarseError = 0.005;

// A CTA keeps its place until the last of its warps has ended, and warps drift. After as many CTAs as fit have come and gone so
// often, that averages out. assumed: with 2, the random mixes of tests/fold keep to their bounds.
inline constexpr uint64_t kGenerations = 2;

struct FoldOptions {
  FoldMode mode = FoldMode::kAuto;
  double error = 0.002;         // relative error of a kernel's cycles that bounded runs may have
  uint64_t patience = 0;        // instructions without an exact recurrence before bounded folding; 0: 1/16 of what the SM runs
  uint64_t waypoints = 0;       // instructions between states that are kept (sim/fold/paths.h), at first; 0: the default
  std::string omitted_field{};  // left out of the state key: for tests of the key

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
  double error_bound = 0;              // relative, of a kernel's cycles; 0 unless bounded
  std::vector<FoldedPeriod> periods;   // by SM class and length
  uint64_t instructions_replayed = 0;  // simulated one by one, on the SMs that stand for their classes
  uint64_t instructions_shared = 0;    // replayed on another class's SM, or earlier on the same one, and not counted again
  uint64_t shortcuts = 0;  // times that an SM went on from where another one, or itself, had come to from the same state
  uint64_t instructions_of_classes = 0;  // issued by those SMs
};

}  // namespace warpfold::sim
