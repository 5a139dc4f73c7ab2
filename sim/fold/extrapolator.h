#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/fold/batch_means.h"
#include "sim/fold/work.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// Skips ahead where no state recurs (docs/folding.md, "Bounded"). It measures how fast each launch gets on, over batches of cycles;
// once the batches agree, it takes as much work from what every launch has left as it would have done in the cycles skipped.
//
// The machine itself stays in the state that it is in. What may be taken from a launch is
//   tied warps (barriers, mbarriers, wgmma): whole rounds between two instants in which all of them stood at the same places, so
//     that they stay in step;
//   free warps: CTAs that have not been placed, and whole trips of loops.
class Extrapolator {
 public:
  // `error`: relative, of a launch's cycles.
  Extrapolator(Sm& sm, double error);
  // A copy is the first SM's until it is told that it is another's.
  void belong_to(Sm& sm) { sm_ = &sm; }

  // `sm` has completed the cycle before `now`, in which a warp came to the end of a loop body.
  // Returns whether there is more to plan with than before.
  bool watch(Cycle now);
  uint64_t all_work();  // instructions of all launches on this SM
  // What was measured no longer holds.
  void restart();

  struct Jump {
    Skip skip;
    std::vector<Correction> corrections;  // per launch
    Cycle period = 0;                     // what was measured and stands for the cycles skipped
    uint64_t instructions = 0;            // taken from all launches
    size_t first = 0;                     // the sample at which the window begins
    std::vector<Cycle> coarsest;          // per launch: the longest trip of those that may be taken
  };
  // The jump that the batches allow; none where they do not agree (skip.periods is 0). No jump reaches `limit`.
  Jump plan(Cycle limit);
  void make(const Jump& jump);

 private:
  struct WarpSample {
    uint64_t serial = 0;
    Work left;
  };
  struct Sample {
    SavedState state;
    std::vector<WarpSample> warps;  // of free launches, in order of their serials
    std::vector<LaunchAccount> launches;
    std::vector<uint64_t> states;                    // per launch: warp-cycles, all states
    std::vector<std::map<Place, uint64_t>> waiting;  // per launch: waits that go on, not charged yet
    std::vector<uint64_t> ctas_done;                 // per launch
    std::vector<std::vector<uint64_t>> issued;       // [launch][sub-core]
  };

  std::vector<uint64_t> phase();
  bool at_anchor(Cycle now);
  void add_sample(Cycle now);
  std::vector<Batch> batches(size_t first, int launch) const;
  bool occupancy_settled(size_t first, int launch, double share) const;
  bool agree(size_t first, const Jump& jump) const;
  Jump plan_from(const Sample& from, Cycle limit);
  uint64_t bound_by_ties(const Sample& from, Skip& skip) const;
  uint64_t bound_by_free_launch(const Sample& from, int launch);
  Work take_from_free_launch(const Sample& from, int launch, Jump& jump);
  Work take_ctas(int launch, uint64_t instructions, Jump& jump);
  template <typename Visit>
  void for_each_warp(Visit visit);

  Sm* sm_;
  double error_;
  std::vector<WorkTable> work_;  // per launch
  std::vector<bool> tied_;       // per launch
  std::vector<double> spent_;    // per launch: cycles that its jumps have left open
  std::vector<uint64_t> phase_;
  std::vector<uint64_t> anchor_;  // where all tied warps stood when the first sample was taken
  Cycle batch_ = 0;               // cycles from one sample to the next, at least
  uint64_t missed_ = 0;           // loop ends since then without meeting it again
  std::vector<Sample> samples_;
};

}  // namespace warpfold::sim
