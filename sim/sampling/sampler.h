#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/memo/fold.h"
#include "sim/sampling/batch_means.h"
#include "sim/sampling/work.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {

// Why no work is taken away: the condition of an extrapolation that does not hold, in the order in which they are asked.
enum class SamplingGate : uint8_t {
  kOpen,
  kFewBatches,            // too little has been measured
  kNothingLeftToTake,     // a loop, a launch or the limit of the run ends before one more window of work
  kCoupledLaunchStalled,  // coupled warps did nothing in the window
  kLaunchAboutToStart,    // at a known time, before which nothing may be skipped past it
  kLaunchWaitsForRoom,    // which uncoupled CTAs will leave, or more coupled ones than have come
  kWritesFillL2,          // bytes to be written back grow
  kRatesUncertain,        // the confidence interval of a launch's rate is wider than its budget
  kRatesDrift,            // the window's halves differ by more than the budget
  kOccupancyUnsettled,    // too few CTAs have come and gone, or the number of resident warps moves
  kTripsTooCoarse,        // a trip, the piece in which work is taken, is too long
  kPiecesExceedBudget,    // what whole rounds are off the measured rate is more than the budget
  kNotWorthwhile,         // neither negligible nor worth what it may do to the order of what is left
};
inline constexpr int kSamplingGates = 13;
std::string_view gate_name(SamplingGate gate);  // "launch_about_to_start"

// Takes work away where no state recurs (docs/sampling.md). It measures how fast each launch gets on, over batches of
// cycles. Once the batches agree, it takes as much work from what every launch has left as it would have done in the cycles
// skipped.
//
// The machine itself stays in the state that it is in. What may be taken from a launch is
//   coupled warps (barriers, mbarriers, wgmma): whole rounds, of all of them as many, so that they stay in step. Rounds are counted
//     by one of them, the pacer, where a single launch is coupled and has no CTA left to place; else they lie between two instants
//     in which all coupled warps stood at the same places;
//   uncoupled warps: CTAs that have not been placed, and whole trips of loops.
class Sampler {
 public:
  Sampler(const FoldOptions& options, Sm& sm);
  // For an SM that has passed the same states as `other`'s.
  Sampler(const Sampler& other, Sm& sm);

  struct Extrapolation {
    FastForward by;
    std::vector<Correction> corrections;  // per launch
    Cycle period = 0;                     // the measured cycles, which represent the cycles skipped
    uint64_t instructions = 0;            // taken from all launches
    size_t first = 0;                     // the sample at which the window begins
    std::vector<Cycle> coarsest;          // per launch: the longest trip of those that may be taken
  };
  // A loop body, or a CTA without loops, has ended in the cycle before `now`, and no state has recurred. Returns what has been
  // taken away, if anything; no further than to `limit`.
  std::optional<Extrapolation> loop_ended(Cycle now, Cycle limit);
  // The SM has been moved on by a recurrence: what was measured holds, unless CTAs of a coupled launch were placed on the way or it
  // took longer than a batch.
  void fast_forwarded(const FastForward& by, uint64_t instructions);
  // The SM is so many instructions further. What was measured no longer holds.
  void followed_memo_hit(uint64_t instructions);

  // The SM has been influenced from outside. What was measured no longer holds.
  void disturbed() { restart(); }

  // Instructions over which rates have been measured so far.
  uint64_t measured() const { return samples_.empty() ? 0 : sm_->instructions() - samples_.front().state.instructions; }
  // The gate that was closed when work was last asked for: of all windows the one that came furthest.
  SamplingGate blocking_gate() const { return blocking_gate_; }

 private:
  Sampler(const Sampler&) = default;  // still the other's

  struct WarpSample {
    uint64_t serial = 0;
    Work left;
  };
  struct Sample {
    Snapshot state;
    uint64_t rounds_left = 0;            // of the pacer
    double dirty_share = 0;              // of L2's room for what waits to be written back
    std::vector<const LoopSpan*> loops;  // with a pacer: the outermost loop that each coupled warp is in; none: it has exited
    std::vector<WarpSample> warps;       // of uncoupled launches, in order of their serials
    std::vector<LaunchAccount> launches;
    std::vector<uint64_t> states;                          // per launch: warp-cycles, all states
    std::vector<std::map<AccountCell, uint64_t>> waiting;  // per launch: waits that go on, not charged yet
    std::vector<uint64_t> ctas_done;                       // per launch
    std::vector<std::vector<uint64_t>> issued;             // [launch][sub-core]
  };

  uint64_t all_work();
  void restart();
  void move_measurement(const FastForward& by);
  bool observe(Cycle now);
  void skip_observation();
  bool another_phase(Cycle now);
  void find_pacer();
  uint64_t rounds_left() const;
  bool at_anchor(Cycle now);
  bool round_ended();
  bool in_step();
  bool all_places_met(Cycle now);
  void add_sample(Cycle now);
  void sample_warps(Cycle now, Sample& sample);
  std::vector<Batch> batches(size_t first, int launch) const;

  // sampler_gates.cc: `first` is the sample at which the window begins
  bool progresses(size_t first, size_t launch) const;
  bool coupled_launch_stalled(size_t first) const;
  bool launch_about_to_start() const;
  bool launch_waits_for_room(size_t first) const;
  bool writes_fill_l2(size_t first, Cycle skipped) const;
  bool rate_uncertain(const std::vector<Batch>& measured, size_t launch, Cycle skipped) const;
  bool rate_drifts(const std::vector<Batch>& measured, size_t launch, Cycle skipped) const;
  bool occupancy_unsettled(size_t first, size_t launch, Cycle skipped) const;
  bool trips_too_coarse(const Extrapolation& extrapolation, size_t launch) const;
  bool pieces_exceed_budget(size_t first, const Extrapolation& extrapolation, size_t launch) const;
  bool worthwhile(size_t first, Cycle skipped) const;
  SamplingGate gate_of_rates(size_t first, Cycle skipped) const;
  SamplingGate gate_of_work(size_t first, const Extrapolation& extrapolation) const;
  double cycles_after(Cycle skipped, size_t launch) const;
  double budget(Cycle skipped, size_t launch) const;
  double usable_budget(Cycle skipped, size_t launch) const;
  double left_open(size_t first, int launch, const Extrapolation& extrapolation) const;

  // sampler_take.cc
  Extrapolation plan(Cycle limit);
  SamplingGate plan_window(size_t first, Cycle limit, Extrapolation& extrapolation);
  uint64_t bound_by_launches(const Sample& from, FastForward& by);
  void take_from_launch(const Sample& from, int launch, Extrapolation& extrapolation);
  void apply(const Extrapolation& extrapolation);
  uint64_t bound_by_couplings(const Sample& from, FastForward& by) const;
  uint64_t bound_by_rounds(const Sample& from, FastForward& by) const;
  Work work_of_round(int launch);
  uint64_t bound_by_uncoupled_launch(const Sample& from, int launch);
  Work take_from_uncoupled_launch(const Sample& from, int launch, Extrapolation& extrapolation);
  Work take_ctas(int launch, uint64_t instructions, Extrapolation& extrapolation);
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
  uint64_t sampling_delay_ = 0;  // instructions without a recurrence before work is taken away
  uint64_t sampling_due_ = 0;    // when the SM has issued so many
  SamplingGate blocking_gate_ = SamplingGate::kFewBatches;
  std::vector<WorkTable> work_;  // per launch
  std::vector<bool> coupled_;    // per launch
  std::vector<double> spent_;    // per launch: cycles that its extrapolations have left open
  Cycle skipped_ = 0;            // by all extrapolations
  std::vector<uint64_t> phase_;
  std::vector<uint64_t> phase_before_;  // the last one looked at
  struct Pacer {                        // a coupled warp; all others of its launch are to go round as often
    int launch = 0;
    int sub_core = 0;
    int slot = 0;
    uint64_t rounds_left = 0;  // when it was last looked at; 0: not known
  };
  std::optional<Pacer> pacer_;    // in this phase
  bool pacer_diverged_ = false;   // in this phase some do not go round with it
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
