// Shares of hits by reuse, and their errors against caches with sets.

#include "traces/access/reuse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "tests/access/accesses.h"
#include "tests/support/set_cache.h"
#include "traces/access/lru_cache.h"

namespace warpfold::test {
namespace {

using traces::access::CacheSpec;
using traces::access::coalesce;
using traces::access::Kind;
using traces::access::LineTouch;
using traces::access::LruCache;
using traces::access::ReuseAnalysis;
using traces::access::SiteReuse;

// ---- the cache

TEST(LruCache, HitsWithinItsLinesAndNotBeyond) {
  LruCache cache(2);
  EXPECT_EQ(cache.touch(1, 0b1111), 0);
  EXPECT_EQ(cache.touch(2, 0b1111), 0);
  EXPECT_EQ(cache.touch(1, 0b0001), 0b0001);
  EXPECT_EQ(cache.touch(3, 0b1111), 0);  // evicts 2, the oldest
  EXPECT_EQ(cache.touch(1, 0b1111), 0b1111);
  EXPECT_EQ(cache.touch(2, 0b1111), 0);
}

TEST(LruCache, ASectorNotYetTouchedMisses) {
  LruCache cache(2);
  cache.touch(1, 0b0011);
  EXPECT_EQ(cache.touch(1, 0b0110), 0b0010);
  EXPECT_EQ(cache.touch(1, 0b0100), 0b0100);
}

TEST(LruCache, OfNoLinesHasNothing) {
  LruCache cache(0);
  cache.touch(1, 1);
  EXPECT_EQ(cache.touch(1, 1), 0);
}

TEST(LruCache, IsTheSetCacheOfOneSet) {
  std::mt19937 random(1);
  LruCache cache(64);
  SetCache exact(64, 64);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t line = random() % 100;
    const auto sectors = static_cast<uint8_t>(1 + random() % 15);
    ASSERT_EQ(cache.touch(line, sectors), exact.touch(line, sectors)) << i;
  }
}

// ---- sites

void add(ReuseAnalysis& analysis, uint64_t cta, uint64_t step, uint32_t site, Kind kind, uint64_t address) {
  analysis.add(cta, 0, step, site, kind, coalesce(strided(address, 4, 4)));
}

TEST(Reuse, ASecondLoadOfALineHitsAndAStreamDoesNot) {
  ReuseAnalysis analysis({.l1_bytes = 1 << 16, .l2_bytes = 1 << 20});
  for (uint64_t i = 0; i < 100; ++i) {
    add(analysis, 0, 2 * i, 0, Kind::kLoad, i * 128);
    add(analysis, 0, 2 * i + 1, 1, Kind::kLoad, 0x100000);
  }
  const auto sites = analysis.result();
  EXPECT_EQ(sites[0].l1_requests, 0);
  EXPECT_EQ(sites[0].dram_sectors, 400);
  EXPECT_EQ(sites[1].requests, 100);
  EXPECT_EQ(sites[1].l1_requests, 99);
  EXPECT_EQ(sites[1].dram_sectors, 4);
}

TEST(Reuse, AnotherSmFindsTheLineInL2) {
  ReuseAnalysis analysis({.l1_bytes = 1 << 16, .l2_bytes = 1 << 20, .sms = 2});
  add(analysis, 0, 0, 0, Kind::kLoad, 0);
  add(analysis, 1, 0, 0, Kind::kLoad, 0);
  const SiteReuse site = analysis.result()[0];
  EXPECT_EQ(site.l1_sectors, 0);
  EXPECT_EQ(site.dram_sectors, 4);
}

TEST(Reuse, PastL1AndStoresGoToL2) {
  ReuseAnalysis analysis({.l1_bytes = 1 << 16, .l2_bytes = 1 << 20});
  for (uint64_t step = 0; step < 10; ++step) {
    add(analysis, 0, 2 * step, 0, Kind::kLoadPastL1, 0);
    add(analysis, 0, 2 * step + 1, 1, Kind::kStore, 0x1000);
  }
  for (const SiteReuse& site : analysis.result()) {
    EXPECT_EQ(site.l1_sectors, 0);
    EXPECT_EQ(site.dram_sectors, 4);  // stored ten times, written back once
  }
}

// Copies repeatedly between two arrays that together fit into L1, or do not.
TEST(Reuse, WhatIsStoredTakesRoomInL1) {
  for (const bool fits : {true, false}) {
    ReuseAnalysis analysis({.l1_bytes = fits ? 128U * 128 : 96U * 128, .l2_bytes = 1 << 20});
    for (uint64_t step = 0; step < 128; ++step) {
      add(analysis, 0, 2 * step, 0, Kind::kLoad, step % 64 * 128);
      add(analysis, 0, 2 * step + 1, 1, Kind::kStore, 0x100000 + step % 64 * 128);
    }
    EXPECT_EQ(analysis.result()[0].l1_requests, fits ? 64 : 0);
  }
}

// y = f(y): each sector comes from DRAM and is written back.
TEST(Reuse, WhatIsLoadedAndStoredInPlaceIsWrittenBack) {
  ReuseAnalysis analysis({.l1_bytes = 1 << 16, .l2_bytes = 1 << 20});
  for (uint64_t i = 0; i < 100; ++i) {
    add(analysis, 0, 2 * i, 0, Kind::kLoad, i * 128);
    add(analysis, 0, 2 * i + 1, 1, Kind::kStore, i * 128);
  }
  for (const SiteReuse& site : analysis.result()) EXPECT_EQ(site.dram_sectors, 400);
}

// CTAs that run at the same time disturb each other, and CTAs of later waves do not.
TEST(Reuse, CtasOfAWaveInterleave) {
  for (const bool together : {true, false}) {
    // A loop over as many lines as L1 has: one CTA hits from its second round on, two at a time never.
    ReuseAnalysis analysis({.l1_bytes = 64 * 128, .l2_bytes = 1 << 20, .ctas_per_sm = together ? 2U : 1U});
    for (uint64_t cta = 0; cta < 2; ++cta) {
      for (uint64_t step = 0; step < 128; ++step) add(analysis, cta, step, 0, Kind::kLoad, (cta * 64 + step % 64) * 128);
    }
    EXPECT_EQ(analysis.result()[0].l1_requests, together ? 0 : 128);
  }
}

// ---- against an exact simulation of the same stream

struct Case {
  const char* name;
  // The line that access number i touches.
  std::function<uint64_t(uint64_t)> line;
};

// Hits with L1 of 1,024 lines: 256 sets of four ways for the exact one.
struct Shares {
  double lru;
  double exact;
};

Shares shares_of(const Case& of, uint64_t accesses, size_t most_kept = ReuseAnalysis::kMostKept) {
  constexpr uint64_t kCacheLines = 1024;
  ReuseAnalysis analysis({.l1_bytes = kCacheLines * 128, .l2_bytes = 1 << 30}, most_kept);
  SetCache exact(kCacheLines, 4);
  uint64_t hits = 0;
  for (uint64_t i = 0; i < accesses; ++i) {
    const LineTouch touch{of.line(i), 0b1111};
    analysis.add(0, 0, i, 0, Kind::kLoad, std::span(&touch, 1));
    hits += exact.touch(touch.line, touch.sectors) != 0 ? 1 : 0;
  }
  const SiteReuse site = analysis.result()[0];
  return {static_cast<double>(site.l1_sectors) / static_cast<double>(site.sectors),
          static_cast<double>(hits) / static_cast<double>(accesses)};
}

uint64_t scattered(uint64_t i, uint64_t range) {
  std::seed_seq seed{i};
  uint32_t value[1];
  seed.generate(value, value + 1);
  return value[0] % range;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"stream", [](uint64_t i) { return i; }},
      {"each line twice", [](uint64_t i) { return i / 2; }},
      {"tile of half the cache", [](uint64_t i) { return i % 512; }},
      // A tile of A stays, B streams past it: eight lines of a row in every 16.
      {"tile beside a stream", [](uint64_t i) { return i % 16 < 8 ? i / 16 % 32 * 8 + i % 8 : 100'000 + i; }},
      {"random in half the cache", [](uint64_t i) { return scattered(i, 512); }},
      {"random in twice the cache", [](uint64_t i) { return scattered(i, 2048); }},
      {"random in ten times the cache", [](uint64_t i) { return scattered(i, 10'240); }},
  };
  return all;
}

// docs/import_traces.md quotes it: of all accesses, at most 0.02 hit in one and not in the other.
TEST(Reuse, IsCloseToASetAssociativeCache) {
  for (const Case& each : cases()) {
    const Shares shares = shares_of(each, 100'000);
    EXPECT_NEAR(shares.lru, shares.exact, 0.02) << each.name;
  }
}

// Cases in which the shares differ: a stride of the sets maps all lines to one set. A loop just beyond the cache's size never hits
// with LRU, except in sets that are not full.
TEST(Reuse, DiffersWhereSetsFillUnevenly) {
  const Case one_set{"one set", [](uint64_t i) { return i % 8 * 256; }};
  EXPECT_GT(shares_of(one_set, 10'000).lru, 0.99);
  EXPECT_LT(shares_of(one_set, 10'000).exact, 0.01);
}

// One line in 16 is kept, 16 of the 256 lines of the tile: the fewer different lines there are, the more the selected lines count.
TEST(Reuse, KeepsAShareOfTheLinesWhenTheyAreTooMany) {
  for (const Case& each : cases()) {
    const double all = shares_of(each, 100'000).lru;
    const double kept = shares_of(each, 100'000, 10'000).lru;
    EXPECT_NEAR(kept, all, 0.1) << each.name;
  }
}

}  // namespace
}  // namespace warpfold::test
