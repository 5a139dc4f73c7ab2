#include "sim/gpu/member.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

void fork(Member& member, const Member& leader, const Likeness& likeness, const FoldOptions& fold) {
  std::vector<ClassMap> class_of;
  for (const Likeness::OfLaunch& launch : likeness.launches) class_of.push_back(launch.class_of);
  const uint64_t replayed = member.replayed();
  member.sm = std::make_unique<Sm>(*leader.sm);
  member.sm->exchange_classes(member.ctas, class_of);
  member.next = leader.next;
  if (likeness.same_classes) {
    member.folder = std::make_unique<Folder>(*leader.folder, *member.sm);
  } else {
    member.folder = std::make_unique<Folder>(fold, *member.sm);
    member.folder->carry_over(*leader.folder);
  }
  member.sm->observe_with(*member.folder);
  member.not_replayed = member.sm->instructions() - member.folder->skipped_instructions() - replayed;
}

std::map<Cycle, Folder::Period> sum(std::map<Cycle, Folder::Period> periods, const std::map<Cycle, Folder::Period>& more) {
  for (const auto& [cycles, period] : more) {
    periods[cycles].repeats += period.repeats;
    periods[cycles].instructions = std::max(periods[cycles].instructions, period.instructions);
  }
  std::erase_if(periods, [](const auto& entry) { return entry.second.repeats == 0; });
  return periods;
}

bool leaves(const Likeness& likeness, const Sm& leader, Parting which) {
  switch (which) {
    case Parting::kAll:
      return true;
    case Parting::kBeforeJump:
      if (!jump_together(likeness, leader)) return true;
      [[fallthrough]];
    case Parting::kDifferent:
      return part_ways(likeness, leader);
  }
  return true;
}

// What the follower has left and the leader has not is no matter on the way.
bool goes_along(const Likeness& likeness, const Sm& leader, const Shortcut& shortcut) {
  for (size_t l = 0; l < likeness.launches.size(); ++l) {
    const auto launch = static_cast<int>(l);
    const Likeness::OfLaunch& of_launch = likeness.launches[l];
    if (out_of_common(of_launch, leader.ctas_placed(launch) + shortcut.placed[l])) return false;
    if (!stays_in_loops(shortcut, launch, of_launch.differs)) return false;
  }
  return true;
}

}  // namespace

uint64_t Member::replayed() const {
  if (sm == nullptr) return replayed_before;
  return sm->instructions() - (folder ? folder->skipped_instructions() : 0) - not_replayed;
}

void Member::settle() {
  if (past.counts.empty()) return;
  replayed_before = replayed();
  sm->add_counts(past.counts, *past.account);
  not_replayed = sm->instructions() - folder->skipped_instructions() - replayed_before;
  for (size_t l = 0; l < past.launches.size(); ++l)
    sm->had_launch(static_cast<int>(l), past.launches[l].start, past.launches[l].end);
}

void Member::keep_timeline(Cycle at) {
  if (!sm->records_timeline()) return;
  TimelineRecorder until = sm->hand_over_timeline(at);
  if (timeline) {
    timeline->continue_with(until);
  } else {
    timeline = std::move(until);
  }
}

void Member::end_timeline() {
  if (!sm->records_timeline()) return;
  if (timeline) {
    timeline->continue_with(sm->end_timeline());
  } else {
    timeline = sm->end_timeline();
  }
}

uint64_t Member::shared() const { return sm->instructions() - folder->skipped_instructions() - past.skipped - replayed(); }

std::map<Cycle, Folder::Period> Member::periods() const { return sum(folder->periods(), past.periods); }
std::map<Cycle, Folder::Period> Member::bounded_periods() const { return sum(folder->bounded_periods(), past.bounded_periods); }

void share_sm(Member& leader) {
  std::vector<const Likeness*> likenesses;
  for (const Member::Follower& follower : leader.followers) likenesses.push_back(&follower.likeness);
  leader.sm->receive(in_common(leader.ctas, likenesses));
  leader.sm->share(!leader.followers.empty());
}

void part(std::vector<Member>& members, Member& leader, Parting which, const FoldOptions& fold) {
  const size_t left = std::erase_if(leader.followers, [&](const Member::Follower& follower) {
    if (!leaves(follower.likeness, *leader.sm, which)) return false;
    fork(members[follower.member], leader, follower.likeness, fold);
    return true;
  });
  if (left > 0) share_sm(leader);
  if (which == Parting::kBeforeJump) leader.sm->let_jump();
}

void take_shortcut(std::vector<Member>& members, Member& member, const FoldOptions& fold) {
  member.sm->receive(member.ctas);  // followers may have fewer
  if (const std::optional<Shortcut> shortcut = member.folder->shortcut()) {
    std::erase_if(member.followers, [&](const Member::Follower& follower) {
      if (goes_along(follower.likeness, *member.sm, *shortcut)) return false;
      fork(members[follower.member], member, follower.likeness, fold);
      return true;
    });
    member.sm->follow(*shortcut);
    member.folder->went_along(*member.sm, shortcut->instructions);
    member.not_replayed += shortcut->instructions;
    ++member.shortcuts;
    member.next = member.sm->next_time();
  }
  share_sm(member);
}

}  // namespace warpfold::sim
