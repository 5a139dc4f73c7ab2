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
// The *state* of an SM is its key (Snapshot). The program asks three *questions*: has this loop another trip, has this
// launch a CTA left and of which class, is a launch released. Two mechanisms apply the principle:
//
//   recurrence   an SM is in an earlier state again: the period between the two is multiplied   sim/memo/recurrence.h
//   run cache    the whole GPU is in its initial state: the launches run as they did before     sim/plan/run_cache.h

// Finds recurrences of one SM's state and skips periods.
//
// At a loop end, or at the end of a CTA without loops, the Memoizer takes a snapshot if the SM's fingerprint passes a
// filter. The fingerprint depends on the state alone, so in a recurring run the same loop ends pass in every period.
// The filter is adjusted so that keys cost a few percent of the replay. The credit for keys is counted in instructions.
class Memoizer {
 public:
  // `check`: replays a sample of the run's skips and outlives the Memoizer; none: they are not checked.
  Memoizer(const FoldOptions& options, Sm& sm, SkipCheck* check = nullptr);
  // For an SM that has passed the same states as `other`'s SM.
  Memoizer(const Memoizer& other, Sm& sm);
  // For the SM of a twin of `other`'s SM: it has skipped the same periods but passed other states. It starts with the
  // record of skips and without snapshots.
  Memoizer(const FoldOptions& options, Sm& sm, const Memoizer& other);

  struct FastForwarded {
    FastForward by;
    uint64_t instructions = 0;
  };
  // Handles the end of a loop body in the cycle before `now`. Fast-forwards the SM by whole periods, to `limit` at
  // most, if its state recurs. Returns none if nothing was skipped.
  std::optional<FastForwarded> loop_ended(Cycle now, Cycle limit);

  // Tells the Memoizer that sampling has taken work from the SM.
  void work_taken();
  // Forgets all snapshots: something outside the SM has influenced it, so no earlier state may recur.
  void forget_states();

  const Periods& periods() const { return periods_; }
  uint64_t skipped_instructions() const { return skipped_; }

 private:
  Memoizer(const Memoizer&) = default;  // the copy still points to the other's SM

  static constexpr size_t kStates = 256;          // snapshots kept in each ring
  static constexpr size_t kMostHashes = 1 << 20;  // number of known hashes at which all are forgotten
  // Credit that a word of a key costs, in instructions. Recording a word takes about as long as 1/6 of an instruction,
  // so keys cost about 6 % of the replay, the first kFirstKeys not counted.
  static constexpr uint64_t kInstructionsPerWord = 3;
  static constexpr uint64_t kFirstKeys = 256;  // keys without a filter, at the start and after every skip

  bool passes(uint64_t print, uint64_t instructions);
  void forget(size_t state);
  void take_snapshot(Cycle now, Snapshot& into);
  size_t keep_snapshot(uint64_t hash);
  std::optional<FastForwarded> fast_forward(const Snapshot& before, const Snapshot& after, Cycle limit);

  FoldOptions options_;
  Sm* sm_;
  std::vector<Snapshot> states_;
  size_t last_taken_ = 0;                              // index of the latest snapshot in states_
  std::vector<uint64_t> hashes_;                       // hashes of the keys of states_
  std::unordered_multimap<uint64_t, size_t> by_hash_;  // hash of a key to indices in states_
  struct Ring {
    size_t first = 0;
    size_t at = 0;
    size_t next();
  };
  Ring recent_{0};
  Ring recurring_{kStates};            // snapshots whose hash was known when they were taken
  std::unordered_set<uint64_t> seen_;  // hashes of earlier keys
  Snapshot scratch_;
  uint64_t filter_ = 0;  // a fingerprint with any of these bits set does not pass
  uint64_t credit_ = 0;  // instructions
  uint64_t key_cost_ = 1000;
  uint64_t last_instructions_ = 0;
  uint64_t burst_ = kFirstKeys;
  SkipCheck* check_;
  Periods periods_;
  uint64_t skipped_ = 0;
};

}  // namespace warpfold::sim
