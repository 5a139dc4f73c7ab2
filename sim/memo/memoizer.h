#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/memo/fold.h"
#include "sim/memo/periods.h"
#include "sim/memo/skip_check.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// All exact acceleration rests on one principle (docs/folding_proof.md):
//
//   Equal state and equal answers to the program's questions have an equal future.
//
// The *state* of an SM is its key (Snapshot). The program asks three *questions*: has this loop another trip, has this launch a CTA
// left and of which class, is a launch released. The principle is applied where an equal state is met:
//
//   recurrence   of an SM: the period between the two is multiplied           sim/memo/recurrence.h
//   run cache    of the whole GPU, as new: launches run as they did before    sim/plan/run_cache.h

// Watches one SM for states that it has been in.
//
// A loop end (or the end of a CTA without loops) is looked at where its fingerprint passes a filter. The fingerprint is made of the
// state alone, so that of a recurring state the same loop ends are looked at in every period. The filter admits as many as keep
// keys at a few percent of the replay; the credit for keys is counted in instructions.
class Memoizer {
 public:
  // `check`: of the skips of the run, which outlives the Memoizer; none: they are not checked.
  Memoizer(const FoldOptions& options, Sm& sm, SkipCheck* check = nullptr);
  // For an SM that has passed the same states as `other`'s.
  Memoizer(const Memoizer& other, Sm& sm);
  // For an SM that has skipped what `other`'s has, though it has passed other states.
  Memoizer(const FoldOptions& options, Sm& sm, const Memoizer& other);

  struct FastForwarded {
    FastForward by;
    uint64_t instructions = 0;
  };
  // A loop body has ended in the cycle before `now`. The SM is fast-forwarded by whole periods, to `limit` at most.
  std::optional<FastForwarded> loop_ended(Cycle now, Cycle limit);

  // Work has been taken away from the SM.
  void state_replaced();
  // The SM has been influenced from outside: no state before recurs behind.
  void disturbed();

  const Periods& periods() const { return periods_; }
  uint64_t skipped_instructions() const { return skipped_; }

 private:
  Memoizer(const Memoizer&) = default;  // still the other's

  static constexpr size_t kStates = 256;          // kept whole, in each ring
  static constexpr size_t kMostHashes = 1 << 20;  // then all are forgotten
  // A word of a key costs about as much as 1/6 of an instruction: but for the first ones, keys stay near 6 % of the replay.
  static constexpr uint64_t kInstructionsPerWord = 3;
  static constexpr uint64_t kFirstKeys = 256;  // at the start and after every skip: what recurs soon is found soon

  bool passes(uint64_t print, uint64_t instructions);
  void forget(size_t state);
  void take_snapshot(Cycle now, Snapshot& into);
  size_t keep_snapshot(uint64_t hash);
  std::optional<FastForwarded> fast_forward(const Snapshot& before, const Snapshot& after, Cycle limit);

  FoldOptions options_;
  Sm* sm_;
  std::vector<Snapshot> states_;
  size_t last_taken_ = 0;                              // states_
  std::vector<uint64_t> hashes_;                       // of states_' keys
  std::unordered_multimap<uint64_t, size_t> by_hash_;  // states_
  struct Ring {
    size_t first = 0;
    size_t at = 0;
    size_t next();
  };
  Ring recent_{0};
  Ring recurring_{kStates};            // whose hash had been seen before
  std::unordered_set<uint64_t> seen_;  // hashes of all keys so far
  Snapshot scratch_;
  uint64_t filter_ = 0;  // fingerprints with any of these bits set are passed over
  uint64_t credit_ = 0;  // instructions
  uint64_t key_cost_ = 1000;
  uint64_t last_instructions_ = 0;
  uint64_t burst_ = kFirstKeys;
  SkipCheck* check_;
  Periods periods_;
  uint64_t skipped_ = 0;
};

}  // namespace warpfold::sim
