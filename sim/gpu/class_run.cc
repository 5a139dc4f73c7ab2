#include "sim/gpu/class_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/memo/checkpoint.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {
namespace {

void get_own_sm(ClassRun& follower, const ClassRun& leader, const CommonPrefix& prefix, const FoldOptions& fold) {
  std::vector<ClassMap> class_of;
  for (const CommonPrefix::OfLaunch& launch : prefix.launches) class_of.push_back(launch.class_of);
  const uint64_t replayed = follower.replayed();
  follower.sm = diverged_copy(*leader.sm, follower.ctas, class_of);
  follower.next = leader.next;
  // A state with the leader's class in it is no state that a follower of another class has passed.
  follower.folding = prefix.same_classes ? std::make_unique<SmFolding>(*leader.folding, *follower.sm)
                                         : std::make_unique<SmFolding>(fold, *follower.sm, *leader.folding);
  if (fold.mode != FoldMode::kOff) follower.sm->observe_with(*follower.folding);
  follower.not_replayed = follower.sm->instructions() - follower.folding->skipped_instructions() - replayed;
}

bool leaves(const CommonPrefix& prefix, const Sm& leader, Divergence which) {
  switch (which) {
    case Divergence::kAll:
      return true;
    case Divergence::kWorkLeft:
      return !equal_work_left(prefix, leader) || diverges(prefix, leader);
    case Divergence::kAnswers:
      return diverges(prefix, leader);
  }
  return true;
}

// The class gives up its Sm for the leader's. What it has counted otherwise is kept.
void follow(ClassRun& class_run, ClassRun& leader, const Snapshot& own, const Snapshot& leaders) {
  PastDifference& past = class_run.past;
  past.add_counts(*class_run.sm, own, *leader.sm, leaders);
  add_difference(past.periods, class_run.folding->periods(), leader.folding->periods());
  add_difference(past.sampled_periods, class_run.folding->sampled_periods(), leader.folding->sampled_periods());
  past.skipped += class_run.folding->skipped_instructions() - leader.folding->skipped_instructions();
  class_run.replayed_before = class_run.replayed();
  class_run.folding.reset();
  class_run.sm.reset();
  class_run.next = kNever;
}

}  // namespace

uint64_t ClassRun::replayed() const {
  if (sm == nullptr) return replayed_before;
  return sm->instructions() - (folding ? folding->skipped_instructions() : 0) - not_replayed;
}

void ClassRun::settle() {
  if (past.counts.empty()) return;
  replayed_before = replayed();
  add_counts(*sm, past.counts, *past.account);
  not_replayed = sm->instructions() - folding->skipped_instructions() - replayed_before;
  for (size_t l = 0; l < past.launches.size(); ++l)
    had_launch(*sm, static_cast<int>(l), past.launches[l].start, past.launches[l].end);
}

void ClassRun::keep_timeline(Cycle at) {
  if (!sm->observation().timeline) return;
  TimelineRecorder until = hand_over_timeline(*sm, at);
  if (timeline) {
    timeline->continue_with(until);
  } else {
    timeline = std::move(until);
  }
}

void ClassRun::end_timeline() {
  if (!sm->observation().timeline) return;
  if (timeline) {
    timeline->continue_with(sim::end_timeline(*sm));
  } else {
    timeline = sim::end_timeline(*sm);
  }
}

uint64_t ClassRun::shared() const { return sm->instructions() - folding->skipped_instructions() - past.skipped - replayed(); }

Periods ClassRun::periods() const { return sum(folding->periods(), past.periods); }
Periods ClassRun::sampled_periods() const { return sum(folding->sampled_periods(), past.sampled_periods); }

void share_sm(ClassRun& leader) {
  std::vector<const CommonPrefix*> prefixes;
  for (const ClassRun::Follower& follower : leader.followers) prefixes.push_back(&follower.prefix);
  leader.sm->receive(common_ctas(leader.ctas, prefixes));
  leader.sm->control().share(!leader.followers.empty());
}

std::vector<size_t> take_lists(std::vector<ClassRun>& class_runs, ClassRun& leader, const std::vector<KernelImage>& images,
                               bool one_at_a_time, const FoldOptions& fold) {
  std::vector<size_t> parted;
  std::erase_if(leader.followers, [&](ClassRun::Follower& follower) {
    ClassRun& class_run = class_runs[follower.class_run];
    auto prefix = common_prefix(leader.ctas, class_run.ctas, images, one_at_a_time);
    if (prefix && !diverges(*prefix, *leader.sm)) {
      follower.prefix = std::move(*prefix);
      return false;
    }
    get_own_sm(class_run, leader, follower.prefix, fold);
    parted.push_back(follower.class_run);
    return true;
  });
  share_sm(leader);
  return parted;
}

size_t part_class(std::vector<ClassRun>& class_runs, size_t from, std::vector<uint32_t> indices, const FoldOptions& fold) {
  ClassRun& own = class_runs[from];
  ClassRun parted{.sms = indices.size(), .ctas = own.ctas, .stratum = own.stratum, .indices = std::move(indices)};
  own.sms -= parted.sms;
  std::erase_if(own.indices, [&](uint32_t sm) { return std::ranges::find(parted.indices, sm) != parted.indices.end(); });
  parted.sm = std::make_unique<Sm>(*own.sm);
  parted.sm->observation().issue_log = own.sm->observation().issue_log;
  parted.sm->observation().sm_class = static_cast<uint32_t>(class_runs.size());
  parted.next = own.next;
  parted.past = own.past;
  parted.timeline = own.timeline;
  if (own.folding) {
    parted.folding = std::make_unique<SmFolding>(*own.folding, *parted.sm);
    if (fold.mode != FoldMode::kOff) parted.sm->observe_with(*parted.folding);
  }
  parted.not_replayed = parted.replayed();
  class_runs.push_back(std::move(parted));
  return class_runs.size() - 1;
}

void split(std::vector<ClassRun>& class_runs, ClassRun& leader, Divergence which, const FoldOptions& fold) {
  const size_t left = std::erase_if(leader.followers, [&](const ClassRun::Follower& follower) {
    if (!leaves(follower.prefix, *leader.sm, which)) return false;
    get_own_sm(class_runs[follower.class_run], leader, follower.prefix, fold);
    return true;
  });
  if (left > 0) share_sm(leader);
  if (which == Divergence::kWorkLeft) leader.sm->control().may_jump = true;
}

void follow_memo_hit(ClassRun& class_run, SkipCheck* check) {
  if (const std::optional<MemoHit> hit = class_run.folding->memo_hit()) {
    if (check != nullptr) check->memo_hit(*class_run.sm, *hit);
    follow(*class_run.sm, *hit);
    class_run.folding->followed_memo_hit(hit->instructions);
    class_run.not_replayed += hit->instructions;
    ++class_run.memo_hits;
    class_run.next = class_run.sm->next_time();
  }
}

void reconverge(std::vector<ClassRun>& class_runs, Cycle at, const std::vector<KernelImage>& images, bool one_at_a_time,
                const FoldOptions& fold) {
  for (ClassRun& class_run : class_runs) {
    if (class_run.sm != nullptr) split(class_runs, class_run, Divergence::kAll, fold);
  }
  for (ClassRun& class_run : class_runs) class_run.keep_timeline(at);
  std::vector<Snapshot> states(class_runs.size());
  for (size_t m = 0; m < class_runs.size(); ++m) {
    StateVisitor visitor(states[m], at);
    class_runs[m].sm->visit(visitor);
  }
  std::vector<size_t> order(class_runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](size_t m) { return weight_of_what_is_left(class_runs[m].ctas, *class_runs[m].sm, images); });
  std::vector<size_t> leaders;
  const auto join = [&](size_t m, size_t l) {
    ClassRun& class_run = class_runs[m];
    ClassRun& leader = class_runs[l];
    if (!reconverge(states[m], states[l])) return false;
    std::vector<CtaList> ctas = continued(leader.ctas, *leader.sm, class_run.ctas, *class_run.sm);
    auto prefix = common_prefix(leader.ctas, ctas, images, one_at_a_time);
    if (!prefix || diverges(*prefix, *leader.sm)) return false;
    class_run.ctas = std::move(ctas);
    follow(class_run, leader, states[m], states[l]);
    leader.followers.push_back({m, std::move(*prefix)});
    return true;
  };
  for (const size_t m : order) {
    if (std::ranges::none_of(leaders, [&](size_t leader) { return join(m, leader); })) leaders.push_back(m);
  }
  for (const size_t leader : leaders) share_sm(class_runs[leader]);
}

}  // namespace warpfold::sim
