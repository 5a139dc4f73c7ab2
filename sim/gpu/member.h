#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/account/timeline_recorder.h"
#include "sim/fold/folder.h"
#include "sim/gpu/likeness.h"
#include "sim/gpu/merge.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// How the past of a class differs from its Sm's: it has joined a leader in another past's same state, and its Sm is a copy of the
// leader's since. To be added, modulo 2^64, when the run has ended.
struct OtherPast {
  std::vector<uint64_t> counts;    // in the order of Snapshot::counts; empty: its Sm's past is its own
  std::optional<Account> account;  // its rows; there with counts
  struct Times {
    Cycle start = kNever;  // of a launch, where it had started
    Cycle end = kNever;    // where it had ended
  };
  std::vector<Times> launches;
  std::map<Cycle, Folder::Period> periods;
  std::map<Cycle, Folder::Period> bounded_periods;
  uint64_t skipped = 0;  // instructions
};

// An SM that stands for those of its class. As long as it does what another member does, its leader, it has no Sm of its own.
struct Member {
  uint64_t sms = 0;
  std::vector<CtaList> ctas;  // per launch
  std::unique_ptr<Sm> sm = nullptr;
  std::unique_ptr<Folder> folder = nullptr;  // none: every instruction is replayed
  Cycle next = kNever;
  bool merged = false;  // it stands for SMs of other classes too, and this is what those do less
  std::vector<MergedClass::Less> less{};

  struct Follower {
    size_t member;
    Likeness likeness;
  };
  std::vector<Follower> followers{};
  OtherPast past{};
  std::optional<TimelineRecorder> timeline{};  // of its own past, up to what its Sm records
  uint64_t replayed_before = 0;                // instructions, on Sms of its own that it has given up
  uint64_t not_replayed = 0;  // of the instructions that its Sm has issued and not skipped: those another class's Sm replayed

  uint64_t shortcuts = 0;  // that its Sms have taken

  uint64_t replayed() const;  // instructions, on its own Sm
  uint64_t shared() const;    // replayed on another class's. Of a member that has settled, as what follows:
  std::map<Cycle, Folder::Period> periods() const;
  std::map<Cycle, Folder::Period> bounded_periods() const;
  void settle();                 // its Sm gets the class's own past
  void keep_timeline(Cycle at);  // what its Sm has recorded until then, where it records
  void end_timeline();           // the same at the end; before it settles
};

// `leader`, which has an Sm, goes on with what it has in common with its followers.
void share_sm(Member& leader);

// Which followers get an Sm of their own, a copy: all, those that are about to do something else than `leader`, or those that would
// not have the same work taken away by a jump.
enum class Parting { kAll, kDifferent, kBeforeJump };
void part(std::vector<Member>& members, Member& leader, Parting which, const FoldOptions& fold);

// The member's Sm has paused where it may take a shortcut. Followers that would do the same on the way take it as well, others get
// an Sm of their own before.
void take_shortcut(std::vector<Member>& members, Member& member, const FoldOptions& fold);

// All Sms have done what comes before cycle `at`. Members in the same state from which they have the same to do for a while get one
// leader: those that get none come first in the order of what their CTAs hold.
void join_alike(std::vector<Member>& members, Cycle at, const std::vector<KernelImage>& images, bool one_at_a_time,
                const FoldOptions& fold);

}  // namespace warpfold::sim
