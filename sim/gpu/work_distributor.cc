#include "sim/gpu/work_distributor.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace warpfold::sim {
namespace {

CtaList grid_of(const traces::Kernel& kernel) { return part_of(kernel.grid, 0); }

uint32_t resident_warps(const SmState& state) {
  return std::accumulate(state.held.begin(), state.held.end(), 0U,
                         [](uint32_t sum, const HeldResources& held) { return sum + held.warps; });
}

// The leader and its followers.
std::vector<size_t> group_of(const std::vector<ClassRun>& class_runs, size_t leader) {
  std::vector<size_t> group = {leader};
  for (const ClassRun::Follower& follower : class_runs[leader].followers) group.push_back(follower.class_run);
  return group;
}

}  // namespace

WorkDistributor::WorkDistributor(const std::vector<Launch>& launches, const std::vector<KernelImage>& images, uint32_t sm_count,
                                 bool one_at_a_time, const FoldOptions& fold)
    : images_(images), sm_count_(sm_count), one_at_a_time_(one_at_a_time), fold_(fold) {
  for (size_t l = 0; l < launches.size(); ++l) {
    const traces::Kernel& kernel = *launches[l].kernel;
    Queue& queue = queues_.emplace_back(Queue{.range = launches[l].sms.count > 0 ? launches[l].sms : SmRange{0, sm_count}});
    if (launches[l].alone && !equally_long(kernel)) {
      queue.dealt = deal({launches[l]}, sm_count).front();
      queue.ended = true;
    } else {
      queue.left = grid_of(kernel);
      if (loan(queue) > 0) queue.lent = queue.left.front().cta_class;
    }
  }
}

bool WorkDistributor::deals_all() const {
  return std::ranges::all_of(queues_, [](const Queue& queue) { return !queue.dealt.empty(); });
}

std::vector<SmClass> WorkDistributor::lend_first(bool each) {
  std::vector<uint64_t> loans;
  for (const Queue& queue : queues_) loans.push_back(queue.dealt.empty() ? loan(queue) : 0);
  std::vector<SmClass> classes;
  std::vector<std::vector<bool>> reached;  // [class][launch]: it may get CTAs of it
  for (uint32_t sm = 0; sm < sm_count_; ++sm) {
    SmClass own{.sms = 1, .ctas = {}, .indices = {sm}};
    std::vector<bool> reaches;
    for (size_t l = 0; l < queues_.size(); ++l) {
      const Queue& queue = queues_[l];
      CtaList list = queue.dealt.empty() ? CtaList{} : queue.dealt[sm];
      if (queue.dealt.empty() && has(queue, sm)) append(list, queue.left.front().cta_class, loans[l]);
      reaches.push_back(queue.dealt.empty() ? has(queue, sm) : !list.empty());
      own.ctas.push_back(std::move(list));
    }
    if (std::ranges::find(reaches, true) == reaches.end()) continue;
    size_t c = 0;
    while (c < classes.size() && (each || classes[c].ctas != own.ctas || reached[c] != reaches)) ++c;
    if (c == classes.size()) {
      classes.push_back(std::move(own));
      reached.push_back(std::move(reaches));
    } else {
      ++classes[c].sms;
      classes[c].indices.push_back(sm);
    }
  }
  for (size_t l = 0; l < queues_.size(); ++l) {
    if (loans[l] > 0) queues_[l].left = part_of(queues_[l].left, loans[l] * queues_[l].range.count);
  }
  return classes;
}

CtaSource WorkDistributor::source(size_t launch, uint32_t sm) const {
  const Queue& queue = queues_[launch];
  if (queue.ended || !has(queue, sm)) return CtaSource::kList;
  return queue.lent ? CtaSource::kLoan : CtaSource::kQueue;
}

bool WorkDistributor::has(const Queue& queue, uint32_t sm) {
  return sm >= queue.range.first && sm < queue.range.first + queue.range.count;
}

bool WorkDistributor::open(const Queue& queue, const ClassRun& class_run) {
  return !queue.ended && has(queue, class_run.indices.front());
}

bool WorkDistributor::contended(const std::vector<ClassRun>& class_runs) const {
  for (size_t l = 0; l < queues_.size(); ++l) {
    const auto wants = [&](const ClassRun& each) {
      return each.sm != nullptr && open(queues_[l], each) && each.sm->state().progress[l].ready != kNever;
    };
    if (!queues_[l].ended && std::ranges::count_if(class_runs, wants) > 1) return true;
  }
  return false;
}

Cycle WorkDistributor::next_ask(const std::vector<ClassRun>& class_runs) const {
  if (!contended(class_runs)) return kNever;
  Cycle next = kNever;
  for (const ClassRun& each : class_runs) {
    if (each.sm != nullptr) next = std::min(next, each.sm->next_placement());
  }
  return next == kNever ? kNever : next + 1;
}

bool WorkDistributor::asked(const std::vector<ClassRun>& class_runs) {
  return std::ranges::any_of(class_runs, [](const ClassRun& each) { return asks(each); });
}

// CTAs on loan for each SM: an even part of the CTAs alike at the front of the queue, where there are two for each.
uint64_t WorkDistributor::loan(const Queue& queue) {
  if (queue.left.empty()) return 0;
  const uint64_t each = queue.left.front().count / queue.range.count;
  return each >= 2 ? each : 0;
}

void WorkDistributor::recall(size_t launch, std::vector<ClassRun>& class_runs) {
  Queue& queue = queues_[launch];
  uint64_t returned = 0;
  for (size_t m = 0; m < class_runs.size(); ++m) {
    if (class_runs[m].sm == nullptr || !open(queue, class_runs[m])) continue;
    const uint64_t placed = class_runs[m].sm->state().progress[launch].placed;
    for (const size_t c : group_of(class_runs, m)) {
      CtaList& list = class_runs[c].ctas[launch];
      returned += class_runs[c].sms * (count_of(list) - placed);
      list = part_of(list, 0, placed);
    }
  }
  CtaList left;
  append(left, *std::exchange(queue.lent, std::nullopt), returned);
  for (const traces::CtaRun& run : queue.left) append(left, run.cta_class, run.count);
  queue.left = std::move(left);
}

// Each SM of those that ask gets the next CTA, as long as there are any.
WorkDistributor::Gifts WorkDistributor::next_for(size_t launch, const std::vector<ClassRun>& class_runs,
                                                 const std::vector<size_t>& leaders) {
  std::vector<std::pair<uint32_t, uint32_t>> order;  // warps, index
  for (const size_t leader : leaders) {
    const uint32_t warps = resident_warps(class_runs[leader].sm->state());
    for (const size_t c : group_of(class_runs, leader)) {
      for (const uint32_t sm : class_runs[c].indices) order.emplace_back(warps, sm);
    }
  }
  std::ranges::sort(order);
  CtaList& left = queues_[launch].left;
  Gifts gifts;
  size_t next = 0;
  for (const traces::CtaRun& run : left) {
    for (uint64_t i = 0; i < run.count && next < order.size(); ++i) gifts[order[next++].second] = run.cta_class;
  }
  left = part_of(left, next);
  return gifts;
}

void WorkDistributor::give(size_t leader, size_t launch, const Gifts& gifts, std::vector<ClassRun>& class_runs, Answer& answer) {
  const auto gift = [&](uint32_t sm) {
    const auto found = gifts.find(sm);
    return found == gifts.end() ? std::optional<uint32_t>{} : std::optional(found->second);
  };
  const std::vector<size_t> group = group_of(class_runs, leader);
  const std::optional<uint32_t> first = gift(class_runs[leader].indices.front());
  const bool alike = std::ranges::all_of(
      group, [&](size_t c) { return std::ranges::all_of(class_runs[c].indices, [&](uint32_t sm) { return gift(sm) == first; }); });
  if (alike) {
    for (const size_t c : group) {
      if (first) append(class_runs[c].ctas[launch], *first, 1);
    }
    return;
  }
  split(class_runs, class_runs[leader], Divergence::kAll, fold_);
  for (const size_t c : group) {
    if (c != leader) answer.parted.push_back({leader, c});
    std::map<std::optional<uint32_t>, std::vector<uint32_t>> parts;
    for (const uint32_t sm : class_runs[c].indices) parts[gift(sm)].push_back(sm);
    const auto kept = parts.begin();
    for (auto part = std::next(kept); part != parts.end(); ++part) {
      const size_t parted = part_class(class_runs, c, part->second, fold_);
      answer.parted.push_back({c, parted});
      append(class_runs[parted].ctas[launch], *part->first, 1);
    }
    if (kept->first) append(class_runs[c].ctas[launch], *kept->first, 1);
  }
}

WorkDistributor::Answer WorkDistributor::answer(std::vector<ClassRun>& class_runs) {
  const auto when = [](const ClassRun& each) {
    const SmState& state = each.sm->state();
    return std::pair(state.now, state.launches[static_cast<size_t>(state.asks)].order);
  };
  std::vector<size_t> leaders;  // who asked first, for the launch that comes first
  for (size_t m = 0; m < class_runs.size(); ++m) {
    if (!asks(class_runs[m])) continue;
    if (!leaders.empty() && when(class_runs[m]) < when(class_runs[leaders.front()])) leaders.clear();
    if (leaders.empty() || when(class_runs[m]) == when(class_runs[leaders.front()])) leaders.push_back(m);
  }
  const Cycle at = class_runs[leaders.front()].sm->state().now;
  const auto launch = static_cast<size_t>(class_runs[leaders.front()].sm->state().asks);
  Queue& queue = queues_[launch];
  Answer answer;
  if (queue.lent) {
    recall(launch, class_runs);
  } else {
    const Gifts gifts = next_for(launch, class_runs, leaders);
    for (const size_t leader : leaders) give(leader, launch, gifts, class_runs, answer);
  }
  if (const uint64_t each = loan(queue); each > 0) {
    queue.lent = queue.left.front().cta_class;
    queue.left = part_of(queue.left, each * queue.range.count);
    for (ClassRun& class_run : class_runs) {
      if (open(queue, class_run)) append(class_run.ctas[launch], *queue.lent, each);
    }
  }
  queue.ended = queue.left.empty() && !queue.lent;
  answer.ended = queue.ended;
  for (size_t m = 0; m < class_runs.size(); ++m) {
    ClassRun& class_run = class_runs[m];
    if (class_run.sm == nullptr || !has(queue, class_run.indices.front())) continue;
    for (const size_t follower : take_lists(class_runs, class_run, images_, one_at_a_time_, fold_))
      answer.parted.push_back({m, follower});
  }
  for (ClassRun& class_run : class_runs) {
    if (class_run.sm == nullptr || !has(queue, class_run.indices.front())) continue;
    SmState& state = class_run.sm->state();
    const CtaSource before = state.launches[launch].source;
    const CtaSource now = source(launch, class_run.indices.front());
    // Who asked later asks again where CTAs come from elsewhere now.
    const bool asked = state.asks == static_cast<int>(launch) && (state.now == at || now != before);
    if (asked) state.asks = kNoLaunch;
    class_run.sm->take_from(static_cast<int>(launch), now, at + 1);
    if (class_run.folding && (asked || now != before)) class_run.folding->disturbed();
    class_run.next = class_run.sm->next_time();
  }
  return answer;
}

}  // namespace warpfold::sim
