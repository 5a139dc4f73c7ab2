#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "traces/access/coalesce.h"

namespace warpfold::traces::access {

// The caches of a GPU, and how a launch fills it.
struct CacheSpec {
  uint64_t l1_bytes = 0;     // what shared memory leaves of an SM's data memory
  uint64_t l2_bytes = 0;     // of the chip
  uint32_t sms = 1;          // CTA c runs on SM c mod sms
  uint32_t ctas_per_sm = 1;  // that run at a time
};

enum class Kind : uint8_t {
  kLoad,
  kLoadPastL1,  // LDGSTS.BYPASS, .STRONG: L1 is not looked into
  kStore,       // to L2; L1 has the sectors afterwards
};

// The caches as a kernel meets them whose CTAs have so many warps, registers a thread and bytes of shared memory.
using CachesFor = std::function<CacheSpec(uint32_t warps, uint32_t registers, uint32_t shared_bytes)>;

// What became of the accesses of one static instruction (a site), as far as they were kept.
struct SiteReuse {
  uint64_t requests = 0;      // warp instructions
  uint64_t l1_requests = 0;   // of them: L1 had every sector
  uint64_t sectors = 0;       // asked for
  uint64_t l1_sectors = 0;    // of them: L1 had them
  uint64_t dram_sectors = 0;  // of those that went on to L2: it did not have them; of a store: they will be written back for it
  uint64_t l2_sectors() const { return sectors - l1_sectors; }
};

// Which share of a kernel's accesses L1 and L2 serve, instruction by instruction.
//
// Accesses are given warp by warp, as a trace has them, and then put in the order in which the chip would make them: CTAs in waves
// of sms x ctas_per_sm, in a wave by the number of the instruction in its warp, and where that is the same by CTA and warp. In this
// order they pass an L1 of their SM and the L2 that all share, both fully associative with LRU replacement (LruCache). L2 begins
// empty, and a sector that is stored for the first time since it came to L2 counts as going to DRAM once, loaded before or not.
//
// Kept are at most `most_kept` line touches: beyond, only lines whose hash is below a threshold that halves whenever the room is
// full, and the caches shrink with it (Waldspurger et al., "Cache Modeling and Optimization using Miniature Simulations", USENIX
// ATC 2017). A request then counts as a hit in L1 where all of its lines that are kept hit.
//
// What it is off against set-associative caches is held by tests/access/reuse_test.cc.
class ReuseAnalysis {
 public:
  static constexpr size_t kMostKept = size_t{1} << 22;

  ReuseAnalysis(const CacheSpec& caches, size_t most_kept = kMostKept) : caches_(caches), most_kept_(most_kept) {}

  // The next access of warp `warp` of CTA `cta`: its instruction number `step` is site `site`. Steps of a warp rise.
  void add(uint64_t cta, uint32_t warp, uint64_t step, uint32_t site, Kind kind, std::span<const LineTouch> touched);

  // By site, from what was added so far.
  std::vector<SiteReuse> result() const;
  double kept_share() const { return 1.0 / static_cast<double>(uint64_t{1} << halvings_); }

 private:
  struct Touch {
    uint64_t line;
    uint32_t cta;
    uint32_t step;  // beyond 32 bits: the last
    uint32_t site;
    uint16_t warp;
    uint8_t sectors;
    Kind kind;
  };

  bool kept(uint64_t line) const;
  void halve();

  CacheSpec caches_;
  size_t most_kept_;
  int halvings_ = 0;
  size_t sites_ = 0;
  std::vector<Touch> touches_;
};

}  // namespace warpfold::traces::access
