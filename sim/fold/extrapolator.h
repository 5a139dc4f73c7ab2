#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/fold/batch_means.h"
#include "sim/fold/work.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// Skips ahead where no state recurs (docs/folding.md, "Bounded"). It measures how fast each launch gets on, over batches of cycles;
// once the batches agree, it takes as much work from what every launch has left as it would have done in the cycles skipped.
//
// The machine itself stays in the state that it is in. What may be taken from a launch is
//   coupled warps (barriers, mbarriers, wgmma): whole rounds, of all of them as many, so that they stay in step. Rounds are counted
//   by
//     one of them, the pacer, where a single launch is coupled and has no CTA left to place; else they lie between two instants in
//     which all coupled warps stood at the same places;
//   free warps: CTAs that have not been placed, and whole trips of loops.
class Extrapolator {
 public:
  // `error`: relative, of a launch's cycles.
  Extrapolator(Sm& sm, double error);
  // A copy is the first SM's until it is told that it is another's.
  void belong_to(Sm& sm) { sm_ = &sm; }

  // `sm` has completed the cycle before `now`, in which a warp came to the end of a loop body, or a CTA without loops to its end.
  // Returns whether there is more to plan with than before.
  bool watch(Cycle now);
  uint64_t all_work();  // instructions of all launches on this SM
  // What was measured no longer holds.
  void restart();
  // The SM has been moved on to a state that it would have come to: what was measured holds, unless CTAs of a coupled launch were
  // placed on the way or it took longer than a batch.
  void moved_on(const FastForward& skip);
  // Instructions over which rates have been measured so far.
  uint64_t measured() const { return samples_.empty() ? 0 : sm_->instructions() - samples_.front().state.instructions; }
  // A loop end goes by that is not watched.
  void look_away();

  struct Jump {
    FastForward skip;
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
    Snapshot state;
    uint64_t rounds_left = 0;            // of the pacer
    double dirty_share = 0;              // of L2's room for what waits to be written back
    std::vector<const LoopSpan*> loops;  // with a pacer: the outermost loop that each coupled warp is in; none: it has exited
    std::vector<WarpSample> warps;       // of free launches, in order of their serials
    std::vector<LaunchAccount> launches;
    std::vector<uint64_t> states;                          // per launch: warp-cycles, all states
    std::vector<std::map<AccountCell, uint64_t>> waiting;  // per launch: waits that go on, not charged yet
    std::vector<uint64_t> ctas_done;                       // per launch
    std::vector<std::vector<uint64_t>> issued;             // [launch][sub-core]
  };

  bool another_phase(Cycle now);
  void find_pacer();
  uint64_t rounds_left() const;
  bool at_anchor(Cycle now);
  bool round_ended();
  bool in_step();
  bool all_places_met(Cycle now);
  void add_sample(Cycle now);
  std::vector<Batch> batches(size_t first, int launch) const;
  bool occupancy_settled(size_t first, int launch, double share) const;
  bool gets_on(size_t first, size_t launch) const;
  double cycles_after(Cycle skipped, size_t launch) const;
  double budget(Cycle skipped, size_t launch) const;
  bool rates_agree(size_t first, Cycle skipped) const;
  bool agree(size_t first, const Jump& jump) const;
  bool steady(size_t first) const;
  bool writes_have_room(size_t first, Cycle skipped) const;
  double left_open(size_t first, int launch, const Jump& jump) const;
  Jump plan_from(size_t first, Cycle limit);
  uint64_t bound_by_ties(const Sample& from, FastForward& skip) const;
  uint64_t bound_by_rounds(const Sample& from, FastForward& skip) const;
  Work work_of_round(int launch);
  uint64_t bound_by_free_launch(const Sample& from, int launch);
  Work take_from_free_launch(const Sample& from, int launch, Jump& jump);
  Work take_ctas(int launch, uint64_t instructions, Jump& jump);
  // In the order in which a skip meets their trips.
  template <typename Visit>
  void for_each_warp(Visit visit) {
    for (int c = 0; c < sm_->sub_cores(); ++c) {
      for (int slot = 0; slot < sm_->sub_core(c).slots(); ++slot) {
        Warp& warp = sm_->sub_core(c).warp(slot);
        if (warp.resident) visit(warp);
      }
    }
  }

  Sm* sm_;
  double error_;
  std::vector<WorkTable> work_;  // per launch
  std::vector<bool> coupled_;    // per launch
  std::vector<double> spent_;    // per launch: cycles that its jumps have left open
  Cycle skipped_ = 0;            // by all jumps
  std::vector<uint64_t> phase_;
  std::vector<uint64_t> phase_before_;  // the last one looked at
  struct Pacer {                        // a coupled warp; all others of its launch are to go round as often
    int launch = 0;
    int sub_core = 0;
    int slot = 0;
    uint64_t rounds_left = 0;  // when it was last looked at; 0: not known
  };
  std::optional<Pacer> pacer_;    // in this phase
  bool wayward_ = false;          // in this phase some do not go round with it
  std::vector<uint64_t> anchor_;  // without one: where all coupled warps stood when the first sample was taken
  uint64_t missed_ = 0;           // loop ends at which a sample was due since then, without meeting it again
  Cycle batch_ = 0;               // cycles from one sample to the next, at least
  std::vector<Sample> samples_;
};

inline uint64_t sum_of(const std::map<AccountCell, uint64_t>& waits) {
  uint64_t sum = 0;
  for (const auto& [place, cycles] : waits) sum += cycles;
  return sum;
}

}  // namespace warpfold::sim
