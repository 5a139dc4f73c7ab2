#pragma once

#include <optional>
#include <set>
#include <vector>

#include "sim/fold/paths.h"
#include "sim/gpu/member.h"
#include "sim/gpu/merge.h"
#include "sim/gpu/simulate.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// The chip: one SM per class, or for several as long as they do the same; launches released as their dependences end on every
// class. SMs influence each other only through launch ends, which take `kernel_launch` cycles to act: no SM runs further ahead of
// another than that.
//
// With Options::all_sms every SM that receives a CTA, against L2 and DRAM that they share: what they ask of them comes in order of
// (time, SM index).
class GpuRun {
 public:
  // `merges`: SM classes may stand for others where the options allow it (merge_alike).
  GpuRun(const Spec& spec, const std::vector<KernelImage>& images, const std::vector<Launch>& launches, const Options& options,
         bool merges = true);

  // Resources have yet to be set against the whole time (settle_resources).
  Outcome run();
  // The same, but no further than to where all that has been released has ended and every SM is like new, while others have yet to
  // be released: what they do is a run of its own.
  Outcome until_idle();
  // Whether a launch may have begun earlier, by more than the error, on an SM that others stood for: on all that were simulated it
  // waited for room beside one that keeps it for as long as it has CTAs: one that is placed before it, or with room reserved.
  bool may_begin_earlier(const Outcome& outcome) const;

 private:
  void start(Member& member, const std::vector<Launch>& launches, const std::vector<int>& epoch_of,
             std::vector<IssueRecord>* issue_log);
  void advance(Member& member);
  void run_together();
  void release_ready();
  bool may_leave_idle() const;
  bool may_stop() const;
  bool idle_until(const std::vector<Cycle>& next);
  void meet();
  double mergeable() const;
  bool ended(int launch) const;
  Cycle end_of(int launch) const;
  Cycle horizon(const Member& member) const;
  FoldReport fold_report() const;
  void check_conservation(const Outcome& outcome) const;
  bool deadlocked() const;
  Outcome collect() const;
  void collect_kernel(int launch, KernelCounters& counters) const;
  void collect_segments(int launch, KernelCounters& counters) const;
  template <typename Lost>
  std::vector<Losses> collect_absences(Lost lost) const;
  void collect_ledger(Outcome& outcome) const;
  void collect_resources(Outcome& outcome) const;
  Timeline collect_timeline() const;
  OtherBounds collect_other_bounds(size_t which) const;
  std::string waiting_classes() const;
  std::string waiting_sms() const;
  std::string deadlock_report() const;

  const Spec& spec_;
  const std::vector<KernelImage>& images_;
  FoldOptions fold_;
  bool timeline_;
  const std::vector<std::vector<PlacementBounds>>& other_bounds_;
  std::vector<std::vector<int>> depends_on_;  // per launch
  std::vector<bool> released_;
  std::vector<Cycle> released_at_;  // per launch, where released
  bool stops_when_idle_ = false;
  bool stopped_ = false;
  std::set<Cycle> meetings_;        // before each of these cycles all stop and see who is in the same state
  std::optional<ChipMemory> chip_;  // none: every SM has its share for itself
  size_t sm_classes_ = 0;
  Paths paths_;
  std::vector<Member> members_;  // one SM of each class, or each SM
};

}  // namespace warpfold::sim
