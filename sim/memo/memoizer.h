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
#include "sim/memo/trajectory_cache.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// All exact acceleration rests on one principle (docs/folding_proof.md):
//
//   Equal state and equal answers to the program's questions have an equal future.
//
// The *state* of an SM is its key (Snapshot). The program asks three *questions*: has this loop another trip, has this launch a CTA
// left and of which class, is a launch released. A *trajectory* is the sequence of states that an SM passes. The principle is
// applied where an equal state is met:
//
//   recurrence       on the SM's own trajectory: the period between the two is multiplied    sim/memo/recurrence.h
//   memo hit         on any trajectory of the run: the SM continues from a later state       sim/memo/trajectory_cache.h
//   common prefix    at the start: classes share an SM until an answer may differ            sim/memo/common_prefix.h
//   reconvergence    at a launch: classes share an SM from there on                          sim/memo/reconvergence.h
//   run cache        of the whole GPU, as new: launches run as they did before               sim/plan/run_cache.h

// Watches one SM for states that it, or another SM, has been in.
//
// A loop end (or the end of a CTA without loops) is looked at where its fingerprint passes a filter. The fingerprint is made of the
// state alone, so that of a recurring state the same loop ends are looked at in every period. The filter admits as many as keep
// keys at a few percent of the replay; the credit for keys is counted in instructions.
class Memoizer {
 public:
  // `trajectories`: those of all SMs of the run, which outlive the Memoizer; none: no memo hits. `check`: of the skips of the run,
  // which outlives it as well; none: they are not checked.
  Memoizer(const FoldOptions& options, Sm& sm, TrajectoryCache* trajectories = nullptr, SkipCheck* check = nullptr);
  // For an SM that has passed the same states as `other`'s.
  Memoizer(const Memoizer& other, Sm& sm);
  // For an SM that has skipped what `other`'s has, though it has passed other states.
  Memoizer(const FoldOptions& options, Sm& sm, const Memoizer& other);

  struct FastForwarded {
    FastForward by;
    uint64_t instructions = 0;
  };
  // A loop body has ended in the cycle before `now`. The SM is fast-forwarded by whole periods, to `limit` at most, or paused at a
  // memo hit. `measured`: instructions of measurement that a memo hit would discard.
  std::optional<FastForwarded> loop_ended(Cycle now, Cycle limit, uint64_t measured);

  bool paused() const { return pause_.has_value(); }
  // The memo hit that the SM has paused at; none after all where the SM's CTA lists have changed since.
  std::optional<MemoHit> memo_hit();
  // The SM is in the state that the memo hit leads to.
  void followed_memo_hit();
  // Work has been taken away from the SM: no trajectory leads to its state.
  void state_replaced();

  // The SM has been influenced from outside: no state before recurs behind, and no trajectory leads there.
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

  // Limits memo hits until the next launch is released, so that an SM whose state recurs is detected as recurring instead of
  // following another SM's trajectory forever.
  static constexpr int kMostMemoHits = 16;
  static constexpr uint64_t kWorthMeasuring = 8;  // a memo hit that saves this part of what has been measured is worth more
  static constexpr uint64_t kCheckpoints = 0xf;   // bits of a fingerprint that are zero where trajectories are looked up and kept

  bool passes(uint64_t print, uint64_t instructions);
  void forget(size_t state);
  void take_snapshot(Cycle now, Snapshot& into);
  size_t keep_snapshot(uint64_t hash);
  std::optional<FastForwarded> look(Cycle now, Cycle limit, bool checkpoint, uint64_t measured);
  void look_up_trajectories(const Snapshot& state, uint64_t hash, Cycle limit, uint64_t measured);
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
  TrajectoryCache* trajectories_;
  size_t trajectory_ = 0;
  SkipCheck* check_;
  int memo_hits_left_ = kMostMemoHits;
  uint64_t trajectories_cleared_ = 0;  // when memo_hits_left_ was last reset
  struct Pause {
    Cycle now;
    Cycle limit;
  };
  std::optional<Pause> pause_;
  Periods periods_;
  uint64_t skipped_ = 0;
};

}  // namespace warpfold::sim
