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

// One CTA after the other goes to the SM that is taken the least far by it, all of a run at once.
class Levels {
 public:
  explicit Levels(size_t sms) : taken_(sms), lists_(sms) {}

  // `length`: how far a CTA of the run takes an SM, at least 1.
  void deal(const traces::CtaRun& run, uint64_t length) {
    stop_if_wanted();
    uint64_t level = 0;  // the most that no SM has to pass
    const uint64_t most = std::ranges::max(taken_) + (run.count / taken_.size() + 1) * length;
    for (uint64_t step = std::bit_floor(most); step > 0; step /= 2) {
      if (within(level + step, run.count, length)) level += step;
    }
    uint64_t left = run.count;
    std::vector<uint64_t> counts;
    for (const uint64_t taken : taken_) left -= counts.emplace_back(before(taken, level, length));
    for (size_t sm = 0; sm < taken_.size(); ++sm) {
      const bool next = left > 0 && taken_[sm] + counts[sm] * length == level;
      left -= next ? 1 : 0;
      const uint64_t own = counts[sm] + (next ? 1 : 0);
      taken_[sm] += own * length;
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
  bool within(uint64_t most, uint64_t count, uint64_t length) const {
    for (const uint64_t taken : taken_) {
      const uint64_t own = before(taken, most, length);
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

std::vector<CtaList> deal(const traces::Kernel& kernel, const SmRange& range, uint32_t sm_count) {
  if (equally_long(kernel)) {
    std::vector<CtaList> lists;
    for (uint32_t sm = 0; sm < range.count; ++sm) lists.push_back(round_robin(kernel, sm, range.count));
    return placed(lists, range, sm_count);
  }
  const std::vector<uint64_t> lengths = lengths_of(kernel);
  Levels levels(range.count);
  for (const traces::CtaRun& run : kernel.grid) levels.deal(run, lengths[run.cta_class]);
  return placed(levels.lists(), range, sm_count);
}

bool idle(const std::vector<CtaList>& lists) { return std::ranges::all_of(lists, &CtaList::empty); }

}  // namespace

Dealing deal(const std::vector<Launch>& launches, uint32_t sm_count) {
  Dealing dealing;
  for (const Launch& launch : launches)
    dealing.push_back(deal(*launch.kernel, launch.sms.count > 0 ? launch.sms : SmRange{0, sm_count}, sm_count));
  return dealing;
}

bool equally_long(const traces::Kernel& kernel) {
  const std::vector<uint64_t> lengths = lengths_of(kernel);
  const auto length = [&](const traces::CtaRun& run) { return lengths[run.cta_class]; };
  return std::ranges::adjacent_find(lengths, std::ranges::not_equal_to{}) == lengths.end() ||
         std::ranges::adjacent_find(kernel.grid, std::ranges::not_equal_to{}, length) == kernel.grid.end();
}

Dealing deal(const traces::Kernel& kernel, uint32_t sm_count) { return {deal(kernel, SmRange{0, sm_count}, sm_count)}; }

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

}  // namespace warpfold::sim
