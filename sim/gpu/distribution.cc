#include "sim/gpu/distribution.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

namespace warpfold::sim {
namespace {

using Runs = std::vector<traces::CtaRun>;
using Share = std::vector<std::pair<uint32_t, uint64_t>>;  // runs as comparable pairs (class, count)

void append(Share& share, uint32_t cta_class, uint64_t count) {
  if (count == 0) return;
  if (!share.empty() && share.back().first == cta_class) {
    share.back().second += count;
  } else {
    share.emplace_back(cta_class, count);
  }
}

// What SM `sm` receives when CTAs are dealt round robin; closed form per run, so that grids of any size cost the same.
Share share_of(const traces::Kernel& kernel, uint32_t sm, uint32_t sm_count) {
  Share share;
  uint64_t first = 0;  // launch index of the run's first CTA
  for (const traces::CtaRun& run : kernel.grid) {
    const auto dealt_before = [&](uint64_t index) { return index > sm ? (index - sm - 1) / sm_count + 1 : 0; };
    append(share, run.cta_class, dealt_before(first + run.count) - dealt_before(first));
    first += run.count;
  }
  return share;
}

// Instructions of a CTA's longest warp, by class: in whose proportion CTAs of one kernel take time.
std::vector<uint64_t> lengths_of(const traces::Kernel& kernel) {
  std::vector<uint64_t> lengths;
  for (const traces::CtaClass& cta_class : kernel.cta_classes) {
    uint64_t length = 0;
    for (const traces::Role& role : kernel.roles) length = std::max(length, traces::issued_instructions(kernel, role, cta_class));
    lengths.push_back(length);
  }
  return lengths;
}

// CTAs of one kernel, dealt. Hardware gives the next CTA to the SM with room first. Where all are equally long, that is round
// robin; else the SM that has been given the least work is taken for it.
class Deal {
 public:
  Deal(const traces::Kernel& kernel, const SmRange& sms) : kernel_(kernel), sms_(sms) {
    const std::vector<uint64_t> lengths = lengths_of(kernel);
    if (std::ranges::adjacent_find(lengths, std::ranges::not_equal_to{}) == lengths.end()) return;
    const auto length = [&](const traces::CtaRun& run) { return lengths[run.cta_class]; };
    if (std::ranges::adjacent_find(kernel.grid, std::ranges::not_equal_to{}, length) == kernel.grid.end()) return;
    by_length_.resize(sms.count);
    given_.resize(sms.count);
    for (const traces::CtaRun& run : kernel.grid) deal(run, length(run));
  }

  Share of(uint32_t sm) const {
    if (sm < sms_.first || sm - sms_.first >= sms_.count) return {};
    const uint32_t at = sm - sms_.first;
    return by_length_.empty() ? share_of(kernel_, at, sms_.count) : by_length_[at];
  }

 private:
  // CTAs that an SM is given before it has been given `most`.
  static uint64_t before(uint64_t given, uint64_t most, uint64_t length) {
    return most > given ? (most - given - 1) / length + 1 : 0;
  }
  // Whether all SMs are given no more than `count` before each has `most`.
  bool within(uint64_t most, uint64_t count, uint64_t length) const {
    for (const uint64_t given : given_) {
      const uint64_t own = before(given, most, length);
      if (own > count) return false;
      count -= own;
    }
    return true;
  }
  // One CTA after the other to the SM that has been given the least, the first of them: all at once.
  void deal(const traces::CtaRun& run, uint64_t length) {
    uint64_t level = 0;  // the most with which it works out
    for (uint64_t step = std::bit_floor(std::ranges::max(given_) + run.count * length); step > 0; step /= 2) {
      if (within(level + step, run.count, length)) level += step;
    }
    uint64_t left = run.count;
    std::vector<uint64_t> counts;
    for (const uint64_t given : given_) left -= counts.emplace_back(before(given, level, length));
    for (uint32_t sm = 0; sm < sms_.count; ++sm) {
      const bool next = left > 0 && given_[sm] + counts[sm] * length == level;
      left -= next ? 1 : 0;
      const uint64_t own = counts[sm] + (next ? 1 : 0);
      given_[sm] += own * length;
      if (own > 0) append(by_length_[sm], run.cta_class, own);
    }
  }

  const traces::Kernel& kernel_;
  SmRange sms_;
  std::vector<uint64_t> given_;   // [SM of the range]: work
  std::vector<Share> by_length_;  // [SM of the range]; empty where all CTAs are equally long
};

std::vector<Deal> deal(const std::vector<const traces::Kernel*>& kernels, uint32_t sm_count, const std::vector<SmRange>& ranges) {
  std::vector<Deal> deals;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const bool everywhere = ranges.empty() || ranges[k].count == 0;
    deals.emplace_back(*kernels[k], everywhere ? SmRange{0, sm_count} : ranges[k]);
  }
  return deals;
}

std::vector<Share> shares_of(const std::vector<Deal>& deals, uint32_t sm) {
  std::vector<Share> shares;
  for (const Deal& one : deals) shares.push_back(one.of(sm));
  return shares;
}

bool idle(const std::vector<Share>& shares) { return std::ranges::all_of(shares, &Share::empty); }

SmClass make_class(const std::vector<Share>& shares, uint64_t sms) {
  SmClass sm_class;
  sm_class.sms = sms;
  for (const Share& share : shares) {
    Runs runs;
    for (const auto& [cta_class, count] : share) runs.push_back({cta_class, count});
    sm_class.ctas.push_back(std::move(runs));
  }
  return sm_class;
}

}  // namespace

std::vector<SmClass> distribute(const std::vector<const traces::Kernel*>& kernels, uint32_t sm_count,
                                const std::vector<SmRange>& ranges) {
  const std::vector<Deal> deals = deal(kernels, sm_count, ranges);
  std::map<std::vector<Share>, uint64_t> groups;
  for (uint32_t sm = 0; sm < sm_count; ++sm) ++groups[shares_of(deals, sm)];
  std::vector<SmClass> classes;
  for (const auto& [shares, sms] : groups) {
    if (!idle(shares)) classes.push_back(make_class(shares, sms));
  }
  return classes;
}

std::vector<SmClass> each_sm(const std::vector<const traces::Kernel*>& kernels, uint32_t sm_count,
                             const std::vector<SmRange>& ranges) {
  const std::vector<Deal> deals = deal(kernels, sm_count, ranges);
  std::vector<SmClass> sms;
  for (uint32_t sm = 0; sm < sm_count; ++sm) {
    const std::vector<Share> shares = shares_of(deals, sm);
    if (!idle(shares)) sms.push_back(make_class(shares, 1));
  }
  return sms;
}

}  // namespace warpfold::sim
