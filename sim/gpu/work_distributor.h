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

// The chip's queue of CTAs, one a launch: an SM with room gets the next CTA of the grid. SMs that have room in the same cycle get
// theirs in order of the warps that they hold, the fewest first, then of their index (Gilman et al., "Demystifying the Placement
// Policies of the NVIDIA GPU Thread Block Scheduler for Concurrent Kernels", 2020).
//
// An SM that had to ask for each CTA could not be folded. Where the next two CTAs of every SM are alike, it makes no difference
// which SM gets which: all SMs get as many of them beforehand, on loan. As soon as one SM has placed its last, the others give
// theirs back to the queue. The distributor lends these again; where they are fewer than two for each SM, it hands them out one by
// one. The result is that of the queue:
//
//   4 SMs, 11 CTAs alike   lent 2 each, queue 3    SM 0 has placed 2, SMs 1 to 3 one each: queue 3 + 3, no loans
//                                                  from here on each goes to the SM that has room first
class WorkDistributor {
 public:
  // `shares`: SMs that get CTAs which begin alike share one Sm (ClassRun::Twin).
  WorkDistributor(const std::vector<Launch>& launches, uint32_t sm_count, const FoldOptions& fold, bool shares);

  // Lends CTAs for the first time. Returns the SMs with their lists: SMs with equal lists in one class, or each in one of its own
  // (`each`).
  std::vector<SmClass> lend_first(bool each);
  CtaSource source(size_t launch, uint32_t sm) const;

  // Several SMs under simulation may get CTAs of one launch: which one gets the next hangs on what all do.
  bool contended(const std::vector<ClassRun>& class_runs) const;
  // The cycle behind the next event that may place a CTA anywhere, where several SMs may get it: before it no SM does anything that
  // another one's CTAs hang on. kNever: no two SMs want CTAs of one launch.
  Cycle next_ask(const std::vector<ClassRun>& class_runs) const;

  static bool asks(const ClassRun& class_run) { return class_run.sm->state().asks != kNoLaunch; }
  static bool asked(const std::vector<ClassRun>& class_runs);
  struct Answer {
    // A class of its own since, and the one that it was a part of.
    struct Parted {
      size_t from;
      size_t to;
    };
    std::vector<Parted> parted{};  // in this order
    bool ended = false;            // the last CTA of the launch is gone
  };
  // Answers those that asked first, for the launch of theirs whose CTAs are placed first. `class_runs` has room for a class for
  // each SM.
  Answer answer(std::vector<ClassRun>& class_runs);

 private:
  struct Queue {
    SmRange range{};
    CtaList left{};                  // neither placed nor lent, in order
    std::optional<uint32_t> lent{};  // the class of the CTAs that are on loan
    bool ended = false;              // none is left, and none on loan
    SampledQueue sampled{};          // which of those that have left are run, where SMs are a sample
  };
  using Gifts = std::map<uint32_t, uint32_t>;  // SM to CTA class

  static bool has(const Queue& queue, uint32_t sm);
  static bool open(const Queue& queue, const ClassRun& class_run);
  static uint64_t loan(const Queue& queue);
  void recall(size_t launch, std::vector<ClassRun>& class_runs);
  Gifts next_for(size_t launch, const std::vector<ClassRun>& class_runs, const std::vector<size_t>& asking);
  static std::optional<uint32_t> gift_of(const Gifts& gifts, uint32_t sm);
  static bool fit(const ClassRun& class_run, size_t launch, const Gifts& gifts);
  static void add_to_all(ClassRun& class_run, size_t launch, const Gifts& gifts);
  void give(size_t to, size_t launch, const Gifts& gifts, std::vector<ClassRun>& class_runs, Answer& answer) const;
  void give_apart(size_t to, size_t launch, const Gifts& gifts, std::vector<ClassRun>& class_runs, Answer& answer) const;

  std::vector<Queue> queues_;  // per launch
  uint32_t sm_count_;
  FoldOptions fold_;
  bool shares_;
};

}  // namespace warpfold::sim
