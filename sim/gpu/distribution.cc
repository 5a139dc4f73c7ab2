#include "sim/gpu/distribution.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "sim/engine/interrupt.h"
#include "sim/plan/epochs.h"

namespace warpfold::sim {
namespace {

void append(CtaList& list, uint32_t cta_class, uint64_t count) {
  if (count == 0) return;
  if (!list.empty() && list.back().cta_class == cta_class) {
    list.back().count += count;
  } else {
    list.push_back({cta_class, count});
  }
}

// What the SM receives that is `sm` behind the first one when CTAs are dealt round robin; closed form per run, so that grids of any
// size cost the same.
CtaList round_robin(const traces::Kernel& kernel, uint32_t sm, uint32_t sm_count) {
  CtaList list;
  uint64_t first = 0;  // launch index of the run's first CTA
  for (const traces::CtaRun& run : kernel.grid) {
    const auto dealt_before = [&](uint64_t index) { return index > sm ? (index - sm - 1) / sm_count + 1 : 0; };
    append(list, run.cta_class, dealt_before(first + run.count) - dealt_before(first));
    first += run.count;
  }
  return list;
}

// Instructions of a CTA's longest warp, by class, at least 1: in whose proportion CTAs of one kernel take time.
std::vector<uint64_t> lengths_of(const traces::Kernel& kernel) {
  std::vector<uint64_t> lengths;
  for (const traces::CtaClass& cta_class : kernel.cta_classes) {
    uint64_t length = 1;
    for (const traces::Role& role : kernel.roles) length = std::max(length, traces::issued_instructions(kernel, role, cta_class));
    lengths.push_back(length);
  }
  return lengths;
}

bool equally_long(const traces::Kernel& kernel, const std::vector<uint64_t>& lengths) {
  const auto length = [&](const traces::CtaRun& run) { return lengths[run.cta_class]; };
  return std::ranges::adjacent_find(lengths, std::ranges::not_equal_to{}) == lengths.end() ||
         std::ranges::adjacent_find(kernel.grid, std::ranges::not_equal_to{}, length) == kernel.grid.end();
}

// One CTA after the other goes to the SM that is taken the least far by it, all of a run at once.
class Levels {
 public:
  explicit Levels(std::vector<uint64_t> taken) : taken_(std::move(taken)), lists_(taken_.size()) {}

  // `length`: how far a CTA of the run takes each SM, at least 1.
  void deal(const traces::CtaRun& run, const std::vector<uint64_t>& length) {
    stop_if_wanted();
    uint64_t level = 0;  // the most that no SM has to pass
    const uint64_t most = std::ranges::max(taken_) + (run.count / taken_.size() + 1) * std::ranges::max(length);
    for (uint64_t step = std::bit_floor(most); step > 0; step /= 2) {
      if (within(level + step, run.count, length)) level += step;
    }
    uint64_t left = run.count;
    std::vector<uint64_t> counts;
    for (size_t sm = 0; sm < taken_.size(); ++sm) left -= counts.emplace_back(before(taken_[sm], level, length[sm]));
    for (size_t sm = 0; sm < taken_.size(); ++sm) {
      const bool next = left > 0 && taken_[sm] + counts[sm] * length[sm] == level;
      left -= next ? 1 : 0;
      const uint64_t own = counts[sm] + (next ? 1 : 0);
      taken_[sm] += own * length[sm];
      append(lists_[sm], run.cta_class, own);
    }
  }

  const std::vector<CtaList>& lists() const { return lists_; }

 private:
  // CTAs that an SM is given before it has been taken as far as `most`.
  static uint64_t before(uint64_t taken, uint64_t most, uint64_t length) {
    return most > taken ? (most - taken - 1) / length + 1 : 0;
  }
  // Whether all SMs are given no more than `count` before each has been taken as far as `most`.
  bool within(uint64_t most, uint64_t count, const std::vector<uint64_t>& length) const {
    for (size_t sm = 0; sm < taken_.size(); ++sm) {
      const uint64_t own = before(taken_[sm], most, length[sm]);
      if (own > count) return false;
      count -= own;
    }
    return true;
  }

  std::vector<uint64_t> taken_;  // [SM]
  std::vector<CtaList> lists_;   // [SM]
};

// Of the SMs of `range` to all SMs.
std::vector<CtaList> placed(const std::vector<CtaList>& lists, const SmRange& range, uint32_t sm_count) {
  std::vector<CtaList> all(sm_count);
  std::ranges::copy(lists, all.begin() + range.first);
  return all;
}

std::vector<CtaList> deal(const traces::Kernel& kernel, const SmRange& range, uint32_t first, uint32_t sm_count) {
  const std::vector<uint64_t> lengths = lengths_of(kernel);
  if (equally_long(kernel, lengths)) {
    std::vector<CtaList> lists;
    for (uint32_t sm = 0; sm < range.count; ++sm)
      lists.push_back(round_robin(kernel, (sm + range.count - first) % range.count, range.count));
    return placed(lists, range, sm_count);
  }
  Levels levels(std::vector<uint64_t>(range.count));
  for (const traces::CtaRun& run : kernel.grid) levels.deal(run, std::vector<uint64_t>(range.count, lengths[run.cta_class]));
  return placed(levels.lists(), range, sm_count);
}

bool idle(const std::vector<CtaList>& lists) { return std::ranges::all_of(lists, &CtaList::empty); }

// Instructions, in turn, of the longest warp of each CTA of the list.
uint64_t work_of(const CtaList& list, const std::vector<uint64_t>& lengths) {
  uint64_t work = 0;
  for (const traces::CtaRun& run : list) work += run.count * lengths[run.cta_class];
  return work;
}

// Cycles that CTAs of `length` take one after the other at the pace of the SM.
uint64_t cycles_of(const SmPace& pace, uint64_t work, uint64_t length) {
  __extension__ using Wide = unsigned __int128;
  return std::max<uint64_t>(static_cast<uint64_t>(Wide{pace.end - pace.start} * length / std::max<uint64_t>(work, 1)), 1);
}

// When the last CTA of the list began, if `resident` of them share the SM at a time.
Cycle last_began(const SmPace& pace, const CtaList& list, const std::vector<uint64_t>& lengths, uint64_t resident) {
  const uint64_t together = std::min(resident, count_of(list)) * lengths[list.back().cta_class];
  const Cycle lived = cycles_of(pace, work_of(list, lengths), together);
  return pace.end - std::min(lived, pace.end - pace.start);
}

// Which of its SMs a launch begins with.
class FirstSms {
 public:
  FirstSms(const std::vector<Launch>& launches, bool serialise, uint32_t sm_count)
      : launches_(launches), waits_(closure(dependences(launches, serialise))), sm_count_(sm_count) {}

  SmRange range(size_t l) const { return launches_[l].sms.count > 0 ? launches_[l].sms : SmRange{0, sm_count_}; }
  // As if those that have `ended` had never been.
  uint32_t first(size_t l, const std::vector<bool>& ended) const {
    uint64_t ctas = 0;
    for (size_t other = 0; other < launches_.size(); ++other) {
      const bool together =
          other != l && !ended[other] && !waits_[l].test(other) && !waits_[other].test(l) && range(l) == range(other);
      if (together && placed_before(other, l)) ctas += launches_[other].kernel->ctas();
    }
    return ctas < range(l).count ? static_cast<uint32_t>(ctas) : 0;
  }

 private:
  bool placed_before(size_t one, size_t other) const {
    const Launch& a = launches_[one];
    const Launch& b = launches_[other];
    return std::tuple(-a.priority, a.stream, one) < std::tuple(-b.priority, b.stream, other);
  }

  const std::vector<Launch>& launches_;
  std::vector<boost::dynamic_bitset<>> waits_;
  uint32_t sm_count_;
};

}  // namespace

Dealing deal(const std::vector<Launch>& launches, bool serialise, uint32_t sm_count) {
  const FirstSms sms(launches, serialise, sm_count);
  const std::vector<bool> none(launches.size(), false);
  Dealing dealing;
  for (size_t l = 0; l < launches.size(); ++l)
    dealing.push_back(deal(*launches[l].kernel, sms.range(l), sms.first(l, none), sm_count));
  return dealing;
}

bool deals_rest_alike(const std::vector<Launch>& launches, bool serialise, uint32_t sm_count, const std::vector<bool>& released) {
  const FirstSms sms(launches, serialise, sm_count);
  const std::vector<bool> none(launches.size(), false);
  for (size_t l = 0; l < launches.size(); ++l) {
    if (!released[l] && sms.first(l, none) != sms.first(l, released)) return false;
  }
  return true;
}

Dealing deal(const traces::Kernel& kernel, uint32_t sm_count) { return {deal(kernel, {0, sm_count}, 0, sm_count)}; }

std::vector<CtaList> received(const Dealing& dealing, size_t sm) {
  std::vector<CtaList> lists;
  for (const std::vector<CtaList>& launch : dealing) lists.push_back(launch[sm]);
  return lists;
}

bool InOrder::operator()(const std::vector<CtaList>& one, const std::vector<CtaList>& other) const {
  const auto of_runs = [](const traces::CtaRun& a, const traces::CtaRun& b) {
    return std::tie(a.cta_class, a.count) < std::tie(b.cta_class, b.count);
  };
  return std::ranges::lexicographical_compare(
      one, other, [&](const CtaList& a, const CtaList& b) { return std::ranges::lexicographical_compare(a, b, of_runs); });
}

std::vector<SmClass> sm_classes(const Dealing& dealing) {
  std::map<std::vector<CtaList>, uint64_t, InOrder> groups;
  for (size_t sm = 0; sm < dealing.front().size(); ++sm) ++groups[received(dealing, sm)];
  std::vector<SmClass> classes;
  for (const auto& [lists, sms] : groups) {
    if (!idle(lists)) classes.push_back({.sms = sms, .ctas = lists});
  }
  return classes;
}

std::vector<SmClass> each_sm(const Dealing& dealing) {
  std::vector<SmClass> sms;
  for (size_t sm = 0; sm < dealing.front().size(); ++sm) {
    if (std::vector<CtaList> lists = received(dealing, sm); !idle(lists)) sms.push_back({.sms = 1, .ctas = std::move(lists)});
  }
  return sms;
}

bool keeps_sm_free(const traces::Kernel& kernel, const std::vector<CtaList>& dealt, const SmRange& range,
                   const std::vector<SmPace>& paces, uint64_t resident) {
  const std::vector<uint64_t> lengths = lengths_of(kernel);
  Cycle free = kNever;
  Cycle last = 0;
  for (uint32_t sm = range.first; sm < range.first + range.count; ++sm) {
    free = std::min(free, paces[sm].end);
    if (!dealt[sm].empty()) last = std::max(last, last_began(paces[sm], dealt[sm], lengths, resident));
  }
  return free < last;
}

std::vector<CtaList> deal_by_pace(const traces::Kernel& kernel, const std::vector<CtaList>& dealt, const SmRange& range,
                                  const std::vector<SmPace>& paces) {
  const std::vector<uint64_t> lengths = lengths_of(kernel);
  std::vector<uint64_t> taken;
  std::vector<uint64_t> work;
  size_t fastest = 0;
  for (uint32_t sm = 0; sm < range.count; ++sm) {
    const SmPace& pace = paces[range.first + sm];
    taken.push_back(pace.start);
    work.push_back(work_of(dealt[range.first + sm], lengths));
    const uint64_t instructions = std::bit_ceil(work[sm] | work[fastest]);
    if (work[sm] > 0 && (work[fastest] == 0 || cycles_of(pace, work[sm], instructions) <
                                                   cycles_of(paces[range.first + fastest], work[fastest], instructions)))
      fastest = sm;
  }
  Levels levels(std::move(taken));
  for (const traces::CtaRun& run : kernel.grid) {
    std::vector<uint64_t> length;
    for (uint32_t sm = 0; sm < range.count; ++sm) {
      const uint32_t like = work[sm] > 0 ? sm : static_cast<uint32_t>(fastest);
      length.push_back(cycles_of(paces[range.first + like], work[like], lengths[run.cta_class]));
    }
    levels.deal(run, length);
  }
  return placed(levels.lists(), range, static_cast<uint32_t>(dealt.size()));
}

}  // namespace warpfold::sim
