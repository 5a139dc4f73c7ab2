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

// Simulates the chip: one SM for each SM class, or for a class and its twins. A launch is released when its dependences
// have ended on every class.
//
// SMs influence each other through launch ends, through the queues of CTAs (WorkDistributor), and through L2 and DRAM
// (ChipSharing). A launch end takes `kernel_launch` cycles to act, so an SM may run that far ahead of another.
//
// With Options::all_sms every SM that receives a CTA is simulated, and all of them share L2 and DRAM throughout.
class GpuRun {
 public:
  GpuRun(const Spec& spec, const std::vector<KernelImage>& images, const std::vector<Launch>& launches, const Options& options);

  // Runs all launches. The capacities of resources are set later, from the total time (settle_resources).
  Outcome run();
  // Runs until the GPU is idle or all launches have ended. The GPU is idle if all released launches have ended and
  // every SM is pristine. Launches that have not been released by then are a run of their own; Outcome::ran lists the
  // launches of this run.
  Outcome until_idle();

 private:
  void start(ClassRun& class_run, const std::vector<Launch>& launches, const std::vector<int>& epoch_of, const Options& options);
  void run_classes();
  void advance(size_t m, Cycle until);
  Cycle lookahead() const;
  void release_ready();
  void tell_ends();
  bool may_leave_idle() const;
  bool may_stop() const;
  Cycle idle_release_cycle(const std::vector<Cycle>& next) const;
  bool all_pristine_at(Cycle at);
  bool ended(int launch) const;
  Cycle end_of(int launch) const;
  Cycle horizon(const ClassRun& class_run) const;
  FoldReport fold_report() const;
  bool sampled() const;
  // Scales the counts of a sample of SMs to the launch's work.
  struct Scale {
    uint64_t held = 0;     // work that the launch's programs hold; 0: counts stay as they are
    uint64_t counted = 0;  // work that the sample has counted
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
  void collect_co_residency(int launch, KernelCounters& counters) const;
  void collect_ledger(Outcome& outcome) const;
  void collect_resources(Outcome& outcome) const;
  Timeline collect_timeline() const;
  AlternativeBounds collect_alternative_bounds(size_t which) const;
  std::string waiting_classes() const;
  std::string waiting_sms() const;
  std::string grid_report(size_t launch) const;
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
  std::vector<Cycle> released_at_;  // per launch: cycle of its release, once released
  // Launches whose end the SMs have yet to learn: all of them if a launch's hits depend on the launches beside it
  // (traces::LaunchPlan::beside), else none.
  std::vector<int> ends_to_tell_;
  bool stops_when_idle_ = false;
  bool stopped_ = false;
  Cycle idle_release_ = kNever;  // if the GPU is idle: cycle of the next release; activity under way runs up to it
  bool all_sms_;
  bool folds_;                           // each SM has a SmFolding
  std::optional<SkipCheck> skip_check_;  // FoldOptions::check_skips
  std::vector<ClassRun> class_runs_;     // one SM of each class, or each SM
  std::optional<ChipSharing> sharing_;
};

// Sets the capacity of each resource: its largest use possible in the outcome's total time.
void settle_resources(const Spec& spec, Outcome& outcome);

}  // namespace warpfold::sim
