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

bool holds(const CtaList& list, uint32_t cta_class) {
  return std::ranges::find(list, cta_class, &traces::CtaRun::cta_class) != list.end();
}

}  // namespace

WorkDistributor::WorkDistributor(const std::vector<Launch>& launches, uint32_t sm_count, const FoldOptions& fold, bool shares)
    : sm_count_(sm_count), fold_(fold), shares_(shares) {
  for (size_t l = 0; l < launches.size(); ++l) {
    Queue& queue = queues_.emplace_back(Queue{.range = launches[l].sms.count > 0 ? launches[l].sms : SmRange{0, sm_count}});
    queue.left = grid_of(*launches[l].kernel);
    if (loan(queue) > 0) queue.lent = queue.left.front().cta_class;
  }
}

std::vector<SmClass> WorkDistributor::lend_first(bool each) {
  std::vector<uint64_t> loans;
  for (const Queue& queue : queues_) loans.push_back(loan(queue));
  std::vector<SmClass> classes;
  std::vector<std::vector<bool>> reached;  // [class][launch]: the class may get CTAs of the launch
  for (uint32_t sm = 0; sm < sm_count_; ++sm) {
    SmClass own{.sms = 1, .ctas = {}, .indices = {sm}};
    std::vector<bool> own_reach;
    for (size_t l = 0; l < queues_.size(); ++l) {
      const Queue& queue = queues_[l];
      CtaList list;
      if (reaches(queue, sm)) append(list, queue.left.front().cta_class, loans[l]);
      own_reach.push_back(reaches(queue, sm));
      own.ctas.push_back(std::move(list));
    }
    if (std::ranges::find(own_reach, true) == own_reach.end()) continue;
    size_t c = 0;
    while (c < classes.size() && (each || classes[c].ctas != own.ctas || reached[c] != own_reach)) ++c;
    if (c == classes.size()) {
      classes.push_back(std::move(own));
      reached.push_back(std::move(own_reach));
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
  if (queue.ended || !reaches(queue, sm)) return CtaSource::kList;
  return queue.lent ? CtaSource::kLoan : CtaSource::kQueue;
}

bool WorkDistributor::reaches(const Queue& queue, uint32_t sm) {
  return sm >= queue.range.first && sm < queue.range.first + queue.range.count;
}

bool WorkDistributor::may_serve(const Queue& queue, const ClassRun& class_run) {
  return !queue.ended && reaches(queue, class_run.indices.front());
}

bool WorkDistributor::contended(const std::vector<ClassRun>& class_runs) const {
  for (size_t l = 0; l < queues_.size(); ++l) {
    const auto wants = [&](const ClassRun& each) {
      return may_serve(queues_[l], each) && each.sm->state().progress[l].ready != kNever;
    };
    if (!queues_[l].ended && std::ranges::count_if(class_runs, wants) > 1) return true;
  }
  return false;
}

Cycle WorkDistributor::next_ask(const std::vector<ClassRun>& class_runs) const {
  if (!contended(class_runs)) return kNever;
  Cycle next = kNever;
  for (const ClassRun& each : class_runs) {
    next = std::min(next, each.sm->next_placement());
  }
  return next == kNever ? kNever : next + 1;
}

bool WorkDistributor::any_asking(const std::vector<ClassRun>& class_runs) {
  return std::ranges::any_of(class_runs, [](const ClassRun& each) { return is_asking(each); });
}

// Returns the number of CTAs to lend to each SM: an equal part of the run of equal CTAs at the front of the queue; 0 if
// there are fewer than two for each SM. The launch's last CTA stays in the queue, so that an SM with a loan has CTAs
// left as long as the launch has.
uint64_t WorkDistributor::loan(const Queue& queue) {
  if (queue.left.empty()) return 0;
  const uint64_t each = (queue.left.front().count - (queue.left.size() == 1 ? 1 : 0)) / queue.range.count;
  return each >= 2 ? each : 0;
}

void WorkDistributor::recall(size_t launch, std::vector<ClassRun>& class_runs) {
  Queue& queue = queues_[launch];
  uint64_t returned = 0;
  for (ClassRun& each : class_runs) {
    if (!may_serve(queue, each)) continue;
    const uint64_t placed = each.sm->state().progress[launch].placed;
    returned += each.sms * (count_of(each.ctas[launch]) - placed);
    each.ctas[launch] = part_of(each.ctas[launch], 0, placed);
    for (ClassRun::Twin& twin : each.twins) twin.ctas[launch] = part_of(twin.ctas[launch], 0, placed);
  }
  CtaList left;
  append(left, *std::exchange(queue.lent, std::nullopt), returned);
  for (const traces::CtaRun& run : queue.left) append(left, run.cta_class, run.count);
  queue.left = std::move(left);
}

// Hands the next CTAs to the SMs that ask, as long as there are any. An SM of a sample asks for all the SMs that it
// represents, in the place of the first of them.
WorkDistributor::Assignments WorkDistributor::next_for(size_t launch, const std::vector<ClassRun>& class_runs,
                                                       const std::vector<size_t>& asking) {
  struct Asking {
    uint32_t warps;
    uint32_t sm;
    const ClassRun* sample;  // class of a sample, for all of whose SMs this one asks; none: the SM asks for itself
  };
  std::vector<Asking> order;
  for (const size_t c : asking) {
    const ClassRun& own = class_runs[c];
    const uint32_t warps = resident_warps(own.sm->state());
    if (own.sampled) order.push_back({warps, own.indices.front(), &own});
    for (size_t i = 0; !own.sampled && i < own.indices.size(); ++i) order.push_back({warps, own.indices[i], nullptr});
    for (const ClassRun::Twin& twin : own.twins) {
      for (const uint32_t sm : twin.indices) order.push_back({warps, sm, nullptr});
    }
  }
  std::ranges::sort(order, {}, [](const Asking& each) { return std::pair(each.warps, each.sm); });
  Queue& queue = queues_[launch];
  Assignments assignments;
  for (const Asking& each : order) {
    const CtaList next = part_of(queue.left, 0, each.sample != nullptr ? each.sample->sms : 1);
    if (next.empty()) break;
    queue.left = part_of(queue.left, count_of(next));
    if (each.sample == nullptr) {
      assignments[each.sm] = next.front().cta_class;
      continue;
    }
    const uint32_t picked = queue.sampled.pick(next, each.sample->sms);
    for (const uint32_t sm : each.sample->indices) assignments[sm] = picked;
  }
  return assignments;
}

std::optional<uint32_t> WorkDistributor::assigned_to(const Assignments& assignments, uint32_t sm) {
  const auto found = assignments.find(sm);
  return found == assignments.end() ? std::optional<uint32_t>{} : std::optional(found->second);
}

// True if the class and its twins can still share one Sm. All SMs of the class, and all SMs of each twin, must get
// equal CTAs, and the CTAs of a twin must fit the CTAs of the class (ClassRun::Twin::fits).
bool WorkDistributor::fit(const ClassRun& class_run, size_t launch, const Assignments& assignments) {
  const std::optional<uint32_t> first = assigned_to(assignments, class_run.indices.front());
  const auto get = [&](const std::vector<uint32_t>& sms, std::optional<uint32_t> gift) {
    return std::ranges::all_of(sms, [&](uint32_t sm) { return assigned_to(assignments, sm) == gift; });
  };
  return get(class_run.indices, first) && std::ranges::all_of(class_run.twins, [&](const ClassRun::Twin& twin) {
           const std::optional<uint32_t> own = assigned_to(assignments, twin.indices.front());
           return get(twin.indices, own) && own.has_value() == first.has_value() && (!own || twin.fits(launch, *first, *own));
         });
}

void WorkDistributor::give(size_t to, size_t launch, const Assignments& assignments, std::vector<ClassRun>& class_runs,
                           Answer& answer) const {
  if (fit(class_runs[to], launch, assignments)) return add_to_all(class_runs[to], launch, assignments);
  std::vector<size_t> apart = split_twins(class_runs, to, true, fold_);
  for (const size_t twin : apart) answer.splits.push_back({to, twin});
  apart.push_back(to);
  for (const size_t each : apart) give_apart(each, launch, assignments, class_runs, answer);
}

void WorkDistributor::add_to_all(ClassRun& class_run, size_t launch, const Assignments& assignments) {
  const std::optional<uint32_t> gift = assigned_to(assignments, class_run.indices.front());
  if (!gift) return;
  append(class_run.ctas[launch], *gift, 1);
  for (ClassRun::Twin& twin : class_run.twins) twin.add(launch, *gift, *assigned_to(assignments, twin.indices.front()), 1);
}

// Splits a class without twins into SMs that get equal CTAs. The SMs that get no CTA, or the shortest one, keep the Sm.
void WorkDistributor::give_apart(size_t to, size_t launch, const Assignments& assignments, std::vector<ClassRun>& class_runs,
                                 Answer& answer) const {
  const traces::Kernel& kernel = *class_runs[to].sm->state().launches[launch].image->kernel;
  const auto length = [&](std::optional<uint32_t> gift) {
    if (!gift) return uint64_t{0};
    const std::vector<uint64_t>& values = kernel.cta_classes[*gift].values;
    return std::accumulate(values.begin(), values.end(), uint64_t{1});
  };
  std::map<std::pair<uint64_t, std::optional<uint32_t>>, std::vector<uint32_t>> parts;  // by length and class
  for (const uint32_t sm : class_runs[to].indices) {
    const std::optional<uint32_t> gift = assigned_to(assignments, sm);
    parts[{length(gift), gift}].push_back(sm);
  }
  const std::optional<uint32_t> kept = parts.begin()->first.second;
  for (auto part = std::next(parts.begin()); part != parts.end(); ++part) {
    const uint32_t gift = *part->first.second;
    if (shares_ && kept && begins_alike(kernel, *kept, gift) && !holds(class_runs[to].ctas[launch], *kept)) {
      become_twin(class_runs[to], part->second).add(launch, *kept, gift, 1);
    } else {
      const size_t split = split_class(class_runs, to, part->second, fold_);
      answer.splits.push_back({to, split});
      append(class_runs[split].ctas[launch], gift, 1);
    }
  }
  if (kept) append(class_runs[to].ctas[launch], *kept, 1);
}

WorkDistributor::Answer WorkDistributor::answer(std::vector<ClassRun>& class_runs) {
  const auto when = [](const ClassRun& each) {
    const SmState& state = each.sm->state();
    return std::pair(state.now, state.launches[static_cast<size_t>(state.asking_launch)].order);
  };
  std::vector<size_t> asking;  // classes that asked in the earliest cycle, for the first launch in placement order
  for (size_t m = 0; m < class_runs.size(); ++m) {
    if (!is_asking(class_runs[m])) continue;
    if (!asking.empty() && when(class_runs[m]) < when(class_runs[asking.front()])) asking.clear();
    if (asking.empty() || when(class_runs[m]) == when(class_runs[asking.front()])) asking.push_back(m);
  }
  const Cycle at = class_runs[asking.front()].sm->state().now;
  const auto launch = static_cast<size_t>(class_runs[asking.front()].sm->state().asking_launch);
  Queue& queue = queues_[launch];
  Answer answer;
  if (queue.lent) {
    recall(launch, class_runs);
  } else {
    const Assignments assignments = next_for(launch, class_runs, asking);
    for (const size_t each : asking) give(each, launch, assignments, class_runs, answer);
  }
  if (const uint64_t each = loan(queue); each > 0) {
    queue.lent = queue.left.front().cta_class;
    queue.left = part_of(queue.left, each * queue.range.count);
    for (size_t m = 0; m < class_runs.size(); ++m) {
      if (!may_serve(queue, class_runs[m])) continue;
      const auto fits = [&](const ClassRun::Twin& twin) { return twin.fits(launch, *queue.lent, *queue.lent); };
      if (!std::ranges::all_of(class_runs[m].twins, fits)) {
        for (const size_t twin : split_twins(class_runs, m, true, fold_)) answer.splits.push_back({m, twin});
      }
      append(class_runs[m].ctas[launch], *queue.lent, each);
      for (ClassRun::Twin& twin : class_runs[m].twins) twin.add(launch, *queue.lent, *queue.lent, each);
    }
  }
  queue.ended = queue.left.empty() && !queue.lent;
  answer.ended = queue.ended;
  for (ClassRun& class_run : class_runs) {
    if (!reaches(queue, class_run.indices.front())) continue;
    class_run.sm->receive(class_run.ctas);
    SmState& state = class_run.sm->state();
    const CtaSource before = state.launches[launch].source;
    const CtaSource now = source(launch, class_run.indices.front());
    // An SM that asked in a later cycle asks again if the source of its CTAs has changed.
    const bool asked = state.asking_launch == static_cast<int>(launch) && (state.now == at || now != before);
    if (asked) state.asking_launch = kNoLaunch;
    class_run.sm->take_from(static_cast<int>(launch), now, at + 1);
    if (class_run.folding && (asked || now != before)) class_run.folding->disturbed();
    class_run.next = class_run.sm->next_time();
  }
  return answer;
}

}  // namespace warpfold::sim
