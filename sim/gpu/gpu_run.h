#pragma once

#include <optional>
#include <vector>

#include "sim/gpu/chip_sharing.h"
#include "sim/gpu/class_run.h"
#include "sim/gpu/work_distributor.h"
#include "sim/memo/skip_check.h"
#include "sim/plan/options.h"
#include "sim/plan/outcome.h"
#include "sim/sampling/work.h"
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
  GpuRun(const Spec& spec, const std::vector<KernelImage>& images, const std::vector<Launch>& launches, const Options& options);

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
  Cycle most_ahead() const;
  void release_ready();
  bool may_leave_idle() const;
  bool may_stop() const;
  Cycle idle_from(const std::vector<Cycle>& next) const;
  bool idle_at(Cycle at);
  bool ended(int launch) const;
  Cycle end_of(int launch) const;
  Cycle horizon(const ClassRun& class_run) const;
  FoldReport fold_report() const;
  bool sampled() const;
  // From what the simulated SMs have counted to what all SMs have.
  struct Scale {
    uint64_t held = 0;  // 0: they are the same
    uint64_t counted = 0;
    uint64_t operator()(uint64_t count) const {
      __extension__ using Wide = unsigned __int128;
      return held == 0 || counted == 0 ? count : static_cast<uint64_t>(Wide{count} * held / counted);
    }
  };
  Scale scale(uint64_t Work::*of) const;
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
  WorkDistributor distributor_;
  std::vector<bool> released_;
  std::vector<Cycle> released_at_;  // per launch, where released
  bool stops_when_idle_ = false;
  bool stopped_ = false;
  Cycle idle_from_ = kNever;  // all launches have ended, what is under way is run to its end or to here
  bool all_sms_;
  bool folds_;                           // SMs have a SmFolding
  std::optional<SkipCheck> skip_check_;  // FoldOptions::check_skips
  std::vector<ClassRun> class_runs_;     // one SM of each class, or each SM
  std::optional<ChipSharing> sharing_;
};

// What resources could have done in the time that all has taken.
void settle_resources(const Spec& spec, Outcome& outcome);

}  // namespace warpfold::sim
