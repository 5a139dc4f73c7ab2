#pragma once

#include <optional>
#include <set>
#include <vector>

#include "sim/gpu/chip_sharing.h"
#include "sim/gpu/class_run.h"
#include "sim/gpu/distribution.h"
#include "sim/gpu/work_distributor.h"
#include "sim/memo/skip_check.h"
#include "sim/memo/trajectory_cache.h"
#include "sim/plan/options.h"
#include "sim/plan/outcome.h"
#include "sim/sm/sm.h"
#include "traces/launch.h"

namespace warpfold::sim {

using traces::Launch;

// The chip: one SM per class, or for several as long as they do the same; launches released as their dependences end on every
// class. SMs influence each other only through launch ends, which take `kernel_launch` cycles to act: no SM runs further ahead of
// another than that.
//
// L2 and DRAM they share (ChipSharing). With Options::all_sms every SM that receives a CTA is simulated, and all meet each other
// there from the start to the end.
class GpuRun {
 public:
  // `may_leave_out` allows a sample of the SM classes (stratify).
  GpuRun(const Spec& spec, const std::vector<KernelImage>& images, const std::vector<Launch>& launches, const Options& options,
         bool may_leave_out = true);

  // Resources have yet to be set against the whole time (settle_resources).
  Outcome run();
  // The same, but no further than to where all that has been released has ended and every SM is pristine, while others have yet to
  // be released: what they do is a run of its own.
  Outcome until_idle();

 private:
  void start(ClassRun& class_run, const std::vector<Launch>& launches, const std::vector<int>& epoch_of,
             std::vector<IssueRecord>* issue_log);
  void run_classes();
  void advance(size_t m, Cycle until);
  Cycle next_reconvergence() const;
  Cycle most_ahead() const;
  void release_ready();
  bool may_share_from(Cycle at) const;
  bool may_leave_idle() const;
  bool may_stop() const;
  Cycle idle_from(const std::vector<Cycle>& next) const;
  bool idle_at(Cycle at);
  void reconverge_classes();
  bool ended(int launch) const;
  Cycle end_of(int launch) const;
  Cycle horizon(const ClassRun& class_run) const;
  FoldReport fold_report() const;
  double strata_uncertainty() const;
  SkipCheck* skip_check() { return skip_check_ ? &*skip_check_ : nullptr; }
  void check_conservation(const Outcome& outcome) const;
  bool deadlocked() const;
  Outcome collect() const;
  size_t sm_classes() const;
  void collect_kernel(int launch, KernelCounters& counters) const;
  void collect_segments(int launch, KernelCounters& counters) const;
  template <typename Lost>
  std::vector<Losses> collect_absences(Lost lost) const;
  void collect_company(int launch, KernelCounters& counters) const;
  void collect_ledger(Outcome& outcome) const;
  void collect_resources(Outcome& outcome) const;
  Timeline collect_timeline() const;
  AlternativeBounds collect_alternative_bounds(size_t which) const;
  std::string waiting_classes() const;
  std::string waiting_sms() const;
  std::string deadlock_report() const;

  const Spec& spec_;
  const std::vector<KernelImage>& images_;
  const std::vector<Launch>& launches_;
  FoldOptions fold_;
  bool timeline_;
  const std::vector<std::vector<PlacementBounds>>& alternative_bounds_;
  std::vector<std::vector<int>> depends_on_;  // per launch
  bool places_one_at_a_time_;                 // no two CTAs begin on an SM in one cycle
  WorkDistributor distributor_;
  std::vector<bool> released_;
  std::vector<Cycle> released_at_;  // per launch, where released
  bool stops_when_idle_ = false;
  bool stopped_ = false;
  Cycle idle_from_ = kNever;              // all launches have ended, what is under way is run to its end or to here
  std::set<Cycle> reconvergence_points_;  // before each of these cycles all stop, and equal states are looked for
  bool all_sms_;
  bool shares_sms_;  // classes in equal states are replayed on one SM; also without folding, so that the same SMs meet in memory
  TrajectoryCache trajectories_;
  std::optional<SkipCheck> skip_check_;  // FoldOptions::check_skips
  std::vector<ClassRun> class_runs_;     // one SM of each stratum, or each SM
  std::optional<ChipSharing> sharing_;
};

// What resources could have done in the time that all has taken.
void settle_resources(const Spec& spec, Outcome& outcome);

}  // namespace warpfold::sim
