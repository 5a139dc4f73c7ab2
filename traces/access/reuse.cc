#include "traces/access/reuse.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "traces/access/lru_cache.h"

namespace warpfold::traces::access {
namespace {

constexpr int kMostHalvings = 40;

// Mixes all bits of a line's number (the finaliser of MurmurHash3, public domain), so that strided lines are sampled
// fairly.
uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdULL;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ value >> 33;
}

template <typename Small>
Small clamped(uint64_t value) {
  return static_cast<Small>(std::min<uint64_t>(value, std::numeric_limits<Small>::max()));
}

// Identity of a warp instruction. Its touches are consecutive in the sorted order.
struct Request {
  uint32_t cta = 0;
  uint32_t step = 0;
  uint16_t warp = 0;
  bool operator==(const Request&) const = default;
};

}  // namespace

bool ReuseAnalysis::kept(uint64_t line) const { return halvings_ == 0 || mixed(line) >> (64 - halvings_) == 0; }

void ReuseAnalysis::halve() {
  ++halvings_;
  std::erase_if(touches_, [this](const Touch& touch) { return !kept(touch.line); });
}

void ReuseAnalysis::add(uint64_t cta, uint32_t warp, uint64_t step, uint32_t site, Kind kind, std::span<const LineTouch> touched) {
  sites_ = std::max<size_t>(sites_, size_t{site} + 1);
  for (const LineTouch& each : touched) {
    if (!kept(each.line)) continue;
    touches_.push_back(
        {each.line, clamped<uint32_t>(cta), clamped<uint32_t>(step), site, clamped<uint16_t>(warp), each.sectors, kind});
  }
  while (touches_.size() > most_kept_ && halvings_ < kMostHalvings) halve();
}

std::vector<SiteReuse> ReuseAnalysis::result() const {
  const uint32_t sms = std::max(caches_.sms, 1U);
  const uint64_t wave_ctas = uint64_t{sms} * std::max(caches_.ctas_per_sm, 1U);
  const auto lines = [&](uint64_t bytes) { return bytes == 0 ? 0 : std::max<uint64_t>(1, bytes / kLineBytes >> halvings_); };
  std::vector<uint32_t> order(touches_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) {
    const Touch& touch = touches_[i];
    return std::tuple(touch.cta / wave_ctas, touch.step, touch.cta, touch.warp);
  });

  std::vector<LruCache> l1(sms, LruCache(lines(caches_.l1_bytes)));
  LruCache l2(lines(caches_.l2_bytes));
  std::vector<SiteReuse> sites(sites_);
  const auto count = [](uint8_t sectors) { return static_cast<uint64_t>(std::popcount(sectors)); };
  for (size_t i = 0; i < order.size();) {
    const Touch& first = touches_[order[i]];
    const Request request{first.cta, first.step, first.warp};
    SiteReuse& site = sites[first.site];
    bool all_hit = true;
    for (; i < order.size(); ++i) {
      const Touch& touch = touches_[order[i]];
      if (Request{touch.cta, touch.step, touch.warp} != request || touch.site != first.site) break;
      LruCache& own = l1[touch.cta % sms];
      const uint8_t found = touch.kind == Kind::kLoadPastL1 ? uint8_t{0} : own.touch(touch.line, touch.sectors);
      const uint8_t hits = touch.kind == Kind::kLoad ? found : uint8_t{0};
      const auto missed = static_cast<uint8_t>(touch.sectors & ~hits);
      site.sectors += count(touch.sectors);
      site.l1_sectors += count(hits);
      all_hit = all_hit && missed == 0;
      if (missed == 0) continue;
      const uint8_t known = touch.kind == Kind::kStore ? l2.store(touch.line, missed) : l2.touch(touch.line, missed);
      site.dram_sectors += count(missed) - count(known);
    }
    ++site.requests;
    site.l1_requests += all_hit ? 1 : 0;
  }
  return sites;
}

}  // namespace warpfold::traces::access
