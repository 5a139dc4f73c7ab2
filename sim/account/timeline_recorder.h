#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/account/ends.h"
#include "sim/account/timeline.h"

namespace warpfold::sim {

// Records the timeline of one SM while it runs: CTAs as they are placed and end, skipped time, and use by windows. It
// only observes: nothing recorded reaches the machine or the state key. A copy continues with the same history.
class TimelineRecorder {
 public:
  using Use = std::vector<uint64_t>;  // totals so far, in the order of the timeline's lanes

  TimelineRecorder(const TimelineLimits& limits, size_t launches, size_t cta_slots, size_t lanes);

  void launch_released(int launch, Cycle at) { released_[launch] = at; }
  void cta_placed(size_t slot, int launch, uint32_t cta_class, Cycle now);
  void cta_ended(size_t slot, Cycle now);
  // A warp of a CTA starts in a phase, enters another phase, and ends.
  void warp_started(size_t slot, size_t warp, int launch, uint32_t role, Phase phase, Cycle now);
  void warp_moved(size_t slot, size_t warp, uint32_t role, Phase phase, Cycle now);
  void warp_ended(size_t slot, uint32_t role, Cycle now);
  // `periods` periods of `period` cycles are skipped from `start`. `placed`: CTAs of each launch placed in them.
  struct Skipped {
    Cycle start = 0;
    Cycle period = 0;
    uint64_t periods = 0;
    bool exact = true;
    std::vector<uint64_t> placed;
  };
  void skipped(const Skipped& skip, const Use& before, const Use& after);

  // Cycle from which sample() is due, before any other action of that cycle.
  Cycle next_sample() const { return window_start_ + width_; }
  void sample(Cycle now, const Use& use);

  // Translates the CTA classes of a history that was copied from another SM: `class_of`[launch] maps its classes to
  // this SM's classes.
  void exchange_classes(const std::vector<std::map<uint32_t, uint32_t>>& class_of);

  // Closes the last window at `end`, the end of the run.
  void end(Cycle end, const Use& use) { close_window(end, 0, use); }
  // Returns the timeline. `launches`: the fields of each launch that the SM knows; the recorder fills in the others.
  SmTimeline timeline(std::vector<LaunchSpan> launches) const;

 private:
  static constexpr Cycle kFirstWindow = 256;

  // Running warps of one role of the CTA in a slot.
  struct OpenRole {
    PhaseSlice slice;
    uint32_t running = 0;  // warps
    uint64_t moves = 0;    // phase changes of the warp with the most
  };
  struct OpenPhases {
    std::vector<OpenRole> roles;
    std::vector<uint64_t> moves;  // phase changes of each warp of the CTA
  };

  // CTAs of a launch that are neither among the first nor among the last slices.
  struct Middle {
    std::vector<CtaSlice> longest;
    uint64_t left_out = 0;
    Cycle from = 0;  // first start and last end of the CTAs left out
    Cycle to = 0;
  };

  void add_slice(const CtaSlice& slice);
  void add_to_middle(const CtaSlice& slice);
  static void leave_out(Middle& middle, uint64_t ctas, Cycle from, Cycle to);
  void add_phase(PhaseSlice slice, Cycle end);
  void cut_phases(const Skipped& skip);
  void add_fold(const FoldedSpan& span);
  void add_window(UseWindow window);
  void close_window(Cycle end, Cycle folded, const Use& use);
  void widen();

  TimelineLimits limits_;
  std::vector<std::optional<CtaSlice>> open_;  // per CTA slot
  std::vector<OpenPhases> open_phases_;        // per CTA slot
  Ends<CtaSlice> ctas_;
  Ends<PhaseSlice> phases_;
  uint64_t phases_left_out_ = 0;
  std::vector<Cycle> released_;        // per launch
  std::vector<Middle> middle_;         // per launch
  std::vector<uint64_t> ctas_folded_;  // per launch
  Ends<FoldedSpan> folds_;
  uint64_t folds_left_out_ = 0;
  uint64_t cycles_left_out_ = 0;
  std::vector<UseWindow> windows_;
  Cycle width_ = kFirstWindow;
  Cycle window_start_ = 0;
  Use window_use_;  // totals at window_start_
};

}  // namespace warpfold::sim
