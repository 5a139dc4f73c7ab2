#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "sim/gpu/member.h"

namespace warpfold::sim {
namespace {

// What the leader has placed, then what the member has not.
std::vector<CtaList> continued(const Member& leader, const Member& member) {
  std::vector<CtaList> ctas;
  for (size_t l = 0; l < member.ctas.size(); ++l) {
    const auto launch = static_cast<int>(l);
    CtaList list = part_of(leader.ctas[l], 0, leader.sm->ctas_placed(launch));
    std::ranges::copy(part_of(member.ctas[l], member.sm->ctas_placed(launch)), std::back_inserter(list));
    ctas.push_back(part_of(list, 0));
  }
  return ctas;
}

// Who has less to do than another in everything comes before it.
uint64_t weight(const Member& member, const std::vector<KernelImage>& images) {
  uint64_t sum = 0;
  for (size_t l = 0; l < member.ctas.size(); ++l) {
    for (const traces::CtaRun& run : part_of(member.ctas[l], member.sm->ctas_placed(static_cast<int>(l)))) {
      const std::vector<uint64_t>& values = images[l].kernel->cta_classes[run.cta_class].values;
      sum += run.count * std::accumulate(values.begin(), values.end(), uint64_t{1});
    }
  }
  return sum;
}

// Warps that stand in the same state with the same trips left. Their serial numbers are only names.
bool same_trips(const std::vector<uint64_t>& one, const std::vector<uint64_t>& other) {
  if (one.size() != other.size()) return false;
  for (size_t i = 0; i < one.size(); i += 3 + one[i + 2]) {
    const auto begin = one.begin() + static_cast<ptrdiff_t>(i);
    if (!std::equal(begin + 1, begin + 3 + static_cast<ptrdiff_t>(one[i + 2]), other.begin() + static_cast<ptrdiff_t>(i) + 1))
      return false;
  }
  return true;
}

// The same from here on, as long as nothing asks what is left. A wait that goes on began at the same time.
bool same_state(const Snapshot& one, const Snapshot& other) {
  return one.key == other.key && one.classes == other.classes && one.moments == other.moments &&
         one.counts.size() == other.counts.size() && same_trips(one.trips, other.trips);
}

void add_difference(std::map<Cycle, Folder::Period>& to, const std::map<Cycle, Folder::Period>& own,
                    const std::map<Cycle, Folder::Period>& leaders) {
  for (const auto& [cycles, period] : own) {
    to[cycles].instructions = period.instructions;
    to[cycles].repeats += period.repeats;
  }
  for (const auto& [cycles, period] : leaders) to[cycles].repeats -= period.repeats;
}

// The member gives up its Sm for the leader's. What it has counted otherwise is kept.
void follow(Member& member, const Member& leader, const Snapshot& own, const Snapshot& leaders) {
  OtherPast& past = member.past;
  past.counts.resize(own.counts.size());
  for (size_t i = 0; i < own.counts.size(); ++i) past.counts[i] += own.counts[i] - leaders.counts[i];
  if (past.account) {
    past.account->add_rows(member.sm->account());
  } else {
    past.account = member.sm->account();
  }
  past.account->subtract_rows(leader.sm->account());
  past.launches.resize(member.ctas.size());
  for (size_t l = 0; l < member.ctas.size(); ++l) {
    const auto launch = static_cast<int>(l);
    OtherPast::Times& times = past.launches[l];
    if (member.sm->launch_start(launch) == kNever) continue;
    if (times.start == kNever) times.start = member.sm->launch_start(launch);
    if (times.end == kNever && member.sm->launch_done(launch)) times.end = member.sm->launch_end(launch);
  }
  add_difference(past.periods, member.folder->periods(), leader.folder->periods());
  add_difference(past.bounded_periods, member.folder->bounded_periods(), leader.folder->bounded_periods());
  past.skipped += member.folder->skipped_instructions() - leader.folder->skipped_instructions();
  member.replayed_before = member.replayed();
  member.folder.reset();
  member.sm.reset();
  member.next = kNever;
}

}  // namespace

void join_alike(std::vector<Member>& members, Cycle at, const std::vector<KernelImage>& images, bool one_at_a_time,
                const FoldOptions& fold) {
  for (Member& member : members) {
    if (member.sm != nullptr) part(members, member, Parting::kAll, fold);
  }
  for (Member& member : members) member.keep_timeline(at);
  std::vector<Snapshot> states(members.size());
  for (size_t m = 0; m < members.size(); ++m) {
    StateVisitor visitor(states[m], at);
    members[m].sm->visit(visitor);
  }
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t m) { return weight(members[m], images); });
  std::vector<size_t> leaders;
  const auto join = [&](size_t m, size_t l) {
    Member& leader = members[l];
    if (!same_state(states[m], states[l])) return false;
    std::vector<CtaList> ctas = continued(leader, members[m]);
    auto like = likeness(leader.ctas, ctas, images, one_at_a_time);
    if (!like || part_ways(*like, *leader.sm)) return false;
    members[m].ctas = std::move(ctas);
    follow(members[m], leader, states[m], states[l]);
    leader.followers.push_back({m, std::move(*like)});
    return true;
  };
  for (const size_t m : order) {
    if (std::ranges::none_of(leaders, [&](size_t leader) { return join(m, leader); })) leaders.push_back(m);
  }
  for (const size_t leader : leaders) share_sm(members[leader]);
}

}  // namespace warpfold::sim
