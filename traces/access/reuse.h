#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "traces/access/coalesce.h"

namespace warpfold::traces::access {

// Caches of a GPU, and the number of CTAs of a launch that share them.
struct CacheSpec {
  uint64_t l1_bytes = 0;     // data memory of an SM that shared memory leaves
  uint64_t l2_bytes = 0;     // L2 of the chip
  uint32_t sms = 1;          // CTA c runs on SM c mod sms
  uint32_t ctas_per_sm = 1;  // resident at a time
};

enum class Kind : uint8_t {
  kLoad,
  kLoadPastL1,  // LDGSTS.BYPASS, .STRONG: does not look up L1
  kStore,       // to L2; the sectors are in L1 afterwards
};

// Returns the caches for a kernel whose CTAs have this many warps, registers per thread and bytes of shared memory.
using CachesFor = std::function<CacheSpec(uint32_t warps, uint32_t registers, uint32_t shared_bytes)>;

// Hits of the accesses of one static instruction (a site), as far as they are sampled.
struct SiteReuse {
  uint64_t requests = 0;      // warp instructions
  uint64_t l1_requests = 0;   // requests with every sector in L1
  uint64_t sectors = 0;       // requested sectors
  uint64_t l1_sectors = 0;    // sectors that hit L1
  uint64_t dram_sectors = 0;  // sectors that miss L1 and L2; for a store, sectors that will be written back for it
  uint64_t l2_sectors() const { return sectors - l1_sectors; }
};

// Estimates the hit rates of L1 and L2 for a kernel's accesses, instruction by instruction.
//
// Accesses are added warp by warp, as in a trace, and then sorted into the order of the chip. The sort keys are the
// wave of sms x ctas_per_sm CTAs, the number of the instruction in its warp, the CTA, and the warp. In this order the
// accesses pass the L1 of their SM and the common L2, both fully associative with LRU replacement (LruCache). L2 starts
// empty. A sector's first store since it entered L2 counts as going to DRAM once, whether it was loaded before or not.
//
// At most `most_kept` line touches are kept. Beyond that, only lines with a hash below a threshold are sampled. The
// threshold halves whenever memory is full, and the caches shrink with it. A request counts as an L1 hit if all of its
// sampled lines hit. Source: Waldspurger et al., "Cache Modeling and Optimization using Miniature Simulations", USENIX
// ATC 2017.
//
// tests/access/reuse_test.cc bounds the error against set-associative caches.
class ReuseAnalysis {
 public:
  static constexpr size_t kMostKept = size_t{1} << 22;

  ReuseAnalysis(const CacheSpec& caches, size_t most_kept = kMostKept) : caches_(caches), most_kept_(most_kept) {}

  // Adds the next access of warp `warp` of CTA `cta`: instruction number `step` of the warp, at site `site`. Steps of a
  // warp must rise.
  void add(uint64_t cta, uint32_t warp, uint64_t step, uint32_t site, Kind kind, std::span<const LineTouch> touched);

  // Returns the results by site for all accesses added so far.
  std::vector<SiteReuse> result() const;
  double kept_share() const { return 1.0 / static_cast<double>(uint64_t{1} << halvings_); }

 private:
  struct Touch {
    uint64_t line;
    uint32_t cta;
    uint32_t step;  // saturates at 32 bits
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
