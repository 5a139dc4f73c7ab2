#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "traces/accelsim/static_code.h"
#include "traces/accelsim/trace_header.h"
#include "traces/access/reuse.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

// Collects the addresses of all accesses and derives the effect of each static instruction: bytes, wavefronts, and the
// memory stream with its shares.
//
// An instruction has a single value of each, so values which differ by warp or pass become means: bytes as the
// exact mean over the requests that miss L1, wavefronts rounded to the nearest integer.
class SiteTotals {
 public:
  explicit SiteTotals(const access::CacheSpec& caches) : reuse_(caches) {}

  // Adds instruction number `step` of a warp, read from `line`.
  void add(const StaticInstruction& instruction, uint32_t site, uint64_t cta, uint32_t warp, uint64_t step, const TraceLine& line,
           const TraceHeader& header);

  // Returns the effects by static instruction, and adds streams to the kernel. If header.streams states the streams of
  // synthetic addresses, the instructions use those.
  std::vector<isa::Effect> effects(const StaticCode& code, const TraceHeader& header, Kernel& kernel) const;

  double kept_share() const { return reuse_.kept_share(); }

 private:
  struct Totals;
  void add_addition(Totals& totals, const access::LaneAccess& lanes) const;

  struct Totals {
    uint64_t requests = 0;    // requests with an active lane
    uint64_t sectors = 0;     // global memory
    uint64_t wavefronts = 0;  // passes through the data stage
    uint64_t l2_passes = 0;   // as in Effect::l2_passes
    // Sectors to which L2 adds, while they are few enough for additions to wait for each other.
    std::set<uint64_t> added{};
    bool many_added = false;
    uint64_t in_shared = 0;  // generic accesses that went to shared memory
    uint64_t region = 0;     // region of synthetic addresses
  };

  access::ReuseAnalysis reuse_;
  std::vector<Totals> totals_;
  std::vector<access::LineTouch> touched_;
};

// Start of the regions of synthetic addresses. The exporter places the accesses of stream s in region s, of
// kStreamRegion bytes.
inline constexpr uint64_t kFirstRegion = 0x7e00'0000'0000;
inline constexpr uint64_t kStreamRegion = uint64_t{1} << 32;

}  // namespace warpfold::traces::accelsim
