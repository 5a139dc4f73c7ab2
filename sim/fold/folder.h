#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/fold/extrapolator.h"
#include "sim/fold/fold.h"
#include "sim/fold/paths.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// Looks for recurring states of one SM and skips whole periods (docs/folding.md).
//
// A loop end (or the end of a CTA without loops, which stands for one in all that follows) is worth a look where its fingerprint
// passes the filter: the fingerprint is made of the state alone, so that of a recurring state the same loop ends are looked at in
// every period. The filter lets so many pass that keys cost a few percent of the replay; the credit for them is counted in
// instructions.
class Folder : public SmObserver {
 public:
  // `paths`: those of all SMs of the run, which outlive it; none: each goes by itself.
  Folder(const FoldOptions& options, Sm& sm, Paths* paths = nullptr);
  // For an SM that has been through the same states as `other`'s.
  Folder(const Folder& other, Sm& sm);
  // What `other` has skipped, this one's SM has, though it has been through other states.
  void carry_over(const Folder& other);

  void loop_ended(Sm& sm, Cycle now, Cycle limit) override;

  bool paused() const { return pause_.has_value(); }
  // The SM has paused where it may go on as another one did: how, or as itself earlier. None after all where it has shared what it
  // did.
  std::optional<Shortcut> shortcut();
  // It has taken the shortcut, and is another one since.
  void went_along(Sm& sm, uint64_t instructions);

  struct Period {
    uint64_t instructions = 0;
    uint64_t repeats = 0;
  };
  // By length, apart for exact and for bounded ones.
  const std::map<Cycle, Period>& periods() const { return periods_; }
  const std::map<Cycle, Period>& bounded_periods() const { return bounded_periods_; }
  uint64_t skipped_instructions() const { return skipped_; }

 private:
  Folder(const Folder&) = default;  // still the other's

  static constexpr size_t kStates = 256;          // kept whole, in each ring
  static constexpr size_t kMostHashes = 1 << 20;  // then all are forgotten
  // A word of a key costs about as much as 1/6 of an instruction: but for the first ones, keys stay near 6 % of the replay.
  static constexpr uint64_t kInstructionsPerWord = 3;
  static constexpr uint64_t kFirstKeys = 256;  // at the start and after every skip: what recurs soon is found soon

  // Shortcuts until the next launch is released: who goes round in circles on another's way shall find out by itself.
  static constexpr int kMostShortcuts = 16;
  static constexpr uint64_t kWorthMeasuring = 8;  // a shortcut that saves this part of what has been measured is worth more
  static constexpr uint64_t kWaypoints = 0xf;     // bits of a fingerprint that are zero where states are kept for others

  void go_along(Sm& sm, const Snapshot& state, uint64_t hash, Cycle limit);
  bool passes(uint64_t print, uint64_t instructions);
  void forget(size_t state);
  void take(Sm& sm, Cycle now, Snapshot& into);
  bool fold_exactly(Sm& sm, Cycle now, Cycle limit, bool waypoint);
  void extrapolate(Cycle now, Cycle limit);
  Cycle skip(Sm& sm, const Snapshot& before, const Snapshot& after, Cycle limit);

  FoldOptions options_;
  Sm* sm_;
  std::optional<Extrapolator> extrapolator_;  // none: exact only
  uint64_t patience_ = 0;                     // instructions
  uint64_t impatient_at_ = 0;                 // instructions issued
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
  Paths* paths_;
  size_t path_ = 0;
  int shortcuts_left_ = kMostShortcuts;
  uint64_t paths_cleared_ = 0;  // when they were last counted anew
  struct Pause {
    Cycle now;
    Cycle limit;
  };
  std::optional<Pause> pause_;
  std::map<Cycle, Period> periods_;
  std::map<Cycle, Period> bounded_periods_;
  uint64_t skipped_ = 0;
};

}  // namespace warpfold::sim
