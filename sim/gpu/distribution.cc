#include "sim/gpu/distribution.h"

#include <algorithm>
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

std::vector<Share> shares_of(const std::vector<const traces::Kernel*>& kernels, uint32_t sm, uint32_t sm_count,
                             const std::vector<SmRange>& ranges) {
  std::vector<Share> shares;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const bool everywhere = ranges.empty() || ranges[k].count == 0;
    const SmRange range = everywhere ? SmRange{0, sm_count} : ranges[k];
    const bool inside = sm >= range.first && sm - range.first < range.count;
    shares.push_back(inside ? share_of(*kernels[k], sm - range.first, range.count) : Share{});
  }
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
  std::map<std::vector<Share>, uint64_t> groups;
  for (uint32_t sm = 0; sm < sm_count; ++sm) ++groups[shares_of(kernels, sm, sm_count, ranges)];
  std::vector<SmClass> classes;
  for (const auto& [shares, sms] : groups) {
    if (!idle(shares)) classes.push_back(make_class(shares, sms));
  }
  return classes;
}

std::vector<SmClass> each_sm(const std::vector<const traces::Kernel*>& kernels, uint32_t sm_count,
                             const std::vector<SmRange>& ranges) {
  std::vector<SmClass> sms;
  for (uint32_t sm = 0; sm < sm_count; ++sm) {
    const std::vector<Share> shares = shares_of(kernels, sm, sm_count, ranges);
    if (!idle(shares)) sms.push_back(make_class(shares, 1));
  }
  return sms;
}

}  // namespace warpfold::sim
