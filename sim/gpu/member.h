#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/fold/folder.h"
#include "sim/gpu/likeness.h"
#include "sim/gpu/merge.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

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
  uint64_t replayed_by_leader = 0;  // instructions

  uint64_t replayed() const;  // instructions, on its own SM
};

// Finds leaders for as many as possible: those that get none come first in the order of what their CTAs hold.
// Returns for each member whether it follows another.
std::vector<bool> find_followers(std::vector<Member>& members, const std::vector<KernelImage>& images, bool one_at_a_time);

// `leader`, which has an Sm, goes on with what it has in common with its followers.
void share_sm(Member& leader);

// Followers that are about to do something else than `leader`, or all, get an Sm of their own: a copy.
void part(std::vector<Member>& members, Member& leader, bool all, const FoldOptions& fold);

}  // namespace warpfold::sim
