#include "sim/gpu/member.h"

#include <algorithm>
#include <numeric>

namespace warpfold::sim {
namespace {

// Who has less to do than another in everything comes before it.
uint64_t weight(const std::vector<CtaList>& ctas, const std::vector<KernelImage>& images) {
  uint64_t sum = 0;
  for (size_t l = 0; l < ctas.size(); ++l) {
    for (const traces::CtaRun& run : ctas[l]) {
      const std::vector<uint64_t>& values = images[l].kernel->cta_classes[run.cta_class].values;
      sum += run.count * std::accumulate(values.begin(), values.end(), uint64_t{1});
    }
  }
  return sum;
}

void fork(Member& member, const Member& leader, const Likeness& likeness, const FoldOptions& fold) {
  std::vector<ClassMap> class_of;
  for (const Likeness::OfLaunch& launch : likeness.launches) class_of.push_back(launch.class_of);
  member.sm = std::make_unique<Sm>(*leader.sm, member.ctas, class_of);
  member.next = leader.next;
  member.replayed_by_leader = leader.replayed();
  if (likeness.same_classes) {
    member.folder = std::make_unique<Folder>(*leader.folder, *member.sm);
  } else {
    member.folder = std::make_unique<Folder>(fold, *member.sm);
    member.folder->carry_over(*leader.folder);
  }
  member.sm->watch_with(*member.folder);
}

}  // namespace

uint64_t Member::replayed() const {
  const uint64_t skipped = folder ? folder->skipped_instructions() : 0;
  return sm->instructions() - skipped - replayed_by_leader;
}

std::vector<bool> find_followers(std::vector<Member>& members, const std::vector<KernelImage>& images, bool one_at_a_time) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t m) { return weight(members[m].ctas, images); });
  std::vector<bool> follows(members.size(), false);
  std::vector<size_t> leaders;
  for (const size_t m : order) {
    for (const size_t leader : leaders) {
      auto like = likeness(members[leader].ctas, members[m].ctas, images, one_at_a_time);
      if (!like) continue;
      members[leader].followers.push_back({m, std::move(*like)});
      follows[m] = true;
      break;
    }
    if (!follows[m]) leaders.push_back(m);
  }
  return follows;
}

void share_sm(Member& leader) {
  std::vector<const Likeness*> likenesses;
  for (const Member::Follower& follower : leader.followers) likenesses.push_back(&follower.likeness);
  leader.sm->receive(in_common(leader.ctas, likenesses));
  leader.sm->share(!leader.followers.empty());
}

void part(std::vector<Member>& members, Member& leader, bool all, const FoldOptions& fold) {
  const size_t left = std::erase_if(leader.followers, [&](const Member::Follower& follower) {
    if (!all && !part_ways(follower.likeness, *leader.sm)) return false;
    fork(members[follower.member], leader, follower.likeness, fold);
    return true;
  });
  if (left > 0) share_sm(leader);
}

}  // namespace warpfold::sim
