#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/account/timeline_recorder.h"
#include "sim/gpu/sm_folding.h"
#include "sim/memo/common_prefix.h"
#include "sim/memo/reconvergence.h"
#include "sim/sampling/strata.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// An SM class under simulation, with those of its stratum. While it shares its leader's Sm it has none of its own.
struct ClassRun {
  uint64_t sms = 0;
  std::vector<CtaList> ctas;  // per launch
  Stratum stratum;
  std::vector<uint32_t> indices{};  // of its SMs; none: all launches are dealt beforehand
  std::unique_ptr<Sm> sm = nullptr;
  std::unique_ptr<SmFolding> folding = nullptr;  // none: every instruction is replayed
  Cycle next = kNever;

  struct Follower {
    size_t class_run;
    CommonPrefix prefix;
  };
  std::vector<Follower> followers{};
  PastDifference past{};
  std::optional<TimelineRecorder> timeline{};  // of its own past, up to what its Sm records
  uint64_t replayed_before = 0;                // instructions, on Sms of its own that it has given up
  uint64_t not_replayed = 0;  // of the instructions that its Sm has issued and not skipped: those another class's Sm replayed
  uint64_t memo_hits = 0;     // that its Sms have followed

  uint64_t replayed() const;  // instructions, on its own Sm
  // Of a class that has settled:
  uint64_t shared() const;  // instructions replayed on another class's Sm
  Periods periods() const;
  Periods sampled_periods() const;

  void settle();                 // its Sm gets the class's own past
  void keep_timeline(Cycle at);  // what its Sm has recorded until then, where it records
  void end_timeline();           // the same at the end; before it settles
};

// `leader`, which has an Sm, goes on with what it has in common with its followers.
void share_sm(ClassRun& leader);

// The leader's Sm takes the lists of the group, which have changed. A follower whose list has too little in common with the
// leader's gets an Sm of its own; returns those.
std::vector<size_t> take_lists(std::vector<ClassRun>& class_runs, ClassRun& leader, const std::vector<KernelImage>& images,
                               bool one_at_a_time, const FoldOptions& fold);

// Some SMs of a class, by their indices, become a class of their own, with a copy of its Sm. `from` has an Sm and no followers.
// Returns the new class, the last one.
size_t part_class(std::vector<ClassRun>& class_runs, size_t from, std::vector<uint32_t> indices, const FoldOptions& fold);

// Which followers get an Sm of their own, a copy: all; those for which a question is about to have another answer than for
// `leader`; or those with other work left as well.
enum class Divergence { kAll, kAnswers, kWorkLeft };
void split(std::vector<ClassRun>& class_runs, ClassRun& leader, Divergence which, const FoldOptions& fold);

// The class's Sm, which it shares with no other, has paused at a memo hit and follows it. `check`: of the skips of the run; none:
// they are not checked.
void follow_memo_hit(ClassRun& class_run, SkipCheck* check);

// All Sms have done what comes before cycle `at`. Classes in equal states with a common prefix of what is left get one leader.
void reconverge(std::vector<ClassRun>& class_runs, Cycle at, const std::vector<KernelImage>& images, bool one_at_a_time,
                const FoldOptions& fold);

}  // namespace warpfold::sim
