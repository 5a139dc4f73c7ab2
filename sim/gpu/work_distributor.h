#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/engine/time.h"
#include "sim/gpu/class_run.h"
#include "sim/memo/fold.h"
#include "sim/sampling/sm_sample.h"
#include "traces/launch.h"

namespace warpfold::sim {

using traces::Launch;
using traces::SmRange;

// The chip's work distributor, with a queue of CTAs for each launch: an SM with room gets the next CTA of the grid. SMs
// that have room in the same cycle are served in order of their resident warps, fewest first, then of their index
// (Gilman et al., "Demystifying the Placement Policies of the NVIDIA GPU Thread Block Scheduler for Concurrent
// Kernels", 2020).
//
// An SM that had to ask for each CTA could not be folded. If the next two CTAs of every SM are equal, the order in
// which SMs get them makes no difference, so the distributor lends the same number of CTAs to every SM beforehand. As
// soon as one SM has placed its last loan, all other SMs return theirs to the queue. The distributor lends the CTAs
// again, or, if fewer than two are left for each SM, hands them out one by one. The result is the same as without
// loans:
//
//   4 SMs, 11 equal CTAs   lent 2 each, queue 3    SM 0 has placed 2, SMs 1 to 3 one each: queue 3 + 3, no loans;
//                                                  from here on, each CTA goes to the SM that has room first
class WorkDistributor {
 public:
  // `shares`: SMs become twins and share one Sm (ClassRun::Twin) if their CTAs do the same until a last trip
  // (begins_alike).
  WorkDistributor(const std::vector<Launch>& launches, uint32_t sm_count, const FoldOptions& fold, bool shares);

  // Lends CTAs for the first time. Returns the SM classes: SMs with equal loans that may get CTAs of the same launches.
  // SMs that no launch may use are left out. `each`: every SM is a class of its own.
  std::vector<SmClass> lend_first(bool each);
  // Returns the source of the launch's next CTA on an SM.
  CtaSource source(size_t launch, uint32_t sm) const;

  // True if several SMs under simulation may get CTAs of one launch: all of them decide which one gets the next CTA.
  bool contended(const std::vector<ClassRun>& class_runs) const;
  // Returns the cycle after the next event that may place a CTA on any SM. Up to then no SM can influence which CTAs
  // another one gets. kNever: no two SMs want CTAs of one launch, or no such event is known.
  Cycle next_ask(const std::vector<ClassRun>& class_runs) const;

  static bool is_asking(const ClassRun& class_run) { return class_run.sm->state().asking_launch != kNoLaunch; }
  static bool any_asking(const std::vector<ClassRun>& class_runs);
  struct Answer {
    // Class `to` has been split off class `from`.
    struct Split {
      size_t from;
      size_t to;
    };
    std::vector<Split> splits{};  // in the order of the splits
    bool ended = false;           // the launch has no CTA left, in its queue or on loan
  };
  // Answers the SMs that asked in the earliest cycle, for the first launch in placement order that they asked for.
  // Splits classes whose SMs get different CTAs. Requires that `class_runs` has capacity for a class for each SM.
  Answer answer(std::vector<ClassRun>& class_runs);

 private:
  struct Queue {
    SmRange range{};
    CtaList left{};                  // CTAs that are neither placed nor lent, in grid order
    std::optional<uint32_t> lent{};  // class of the CTAs on loan; none: no CTA is on loan
    bool ended = false;              // no CTA is left, in the queue or on loan
    SampledQueue sampled{};          // picks the CTAs that are simulated if the SMs are a sample
  };
  using Assignments = std::map<uint32_t, uint32_t>;  // SM to CTA class

  static bool reaches(const Queue& queue, uint32_t sm);
  static bool may_serve(const Queue& queue, const ClassRun& class_run);
  static uint64_t loan(const Queue& queue);
  void recall(size_t launch, std::vector<ClassRun>& class_runs);
  Assignments next_for(size_t launch, const std::vector<ClassRun>& class_runs, const std::vector<size_t>& asking);
  static std::optional<uint32_t> assigned_to(const Assignments& assignments, uint32_t sm);
  static bool fit(const ClassRun& class_run, size_t launch, const Assignments& assignments);
  static void add_to_all(ClassRun& class_run, size_t launch, const Assignments& assignments);
  void give(size_t to, size_t launch, const Assignments& assignments, std::vector<ClassRun>& class_runs, Answer& answer) const;
  void give_apart(size_t to, size_t launch, const Assignments& assignments, std::vector<ClassRun>& class_runs,
                  Answer& answer) const;

  std::vector<Queue> queues_;  // per launch
  uint32_t sm_count_;
  FoldOptions fold_;
  bool shares_;
};

}  // namespace warpfold::sim
