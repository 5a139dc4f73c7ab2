#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "traces/accelsim/static_code.h"
#include "traces/accelsim/trace_header.h"
#include "traces/access/reuse.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

// Gathers the addresses of all instructions, and gives each instruction of the static code its effect: bytes, wavefronts, and the
// memory stream with its shares.
//
// An instruction has one number for each, so that what differs from warp to warp and pass to pass becomes a mean: bytes to the byte
// of what the requests move that miss in L1, wavefronts to the nearest whole.
class SiteTotals {
 public:
  explicit SiteTotals(const access::CacheSpec& caches) : reuse_(caches) {}

  // Instruction number `step` of a warp, at `line`.
  void add(const StaticInstruction& instruction, uint32_t site, uint64_t cta, uint32_t warp, uint64_t step, const TraceLine& line,
           const TraceHeader& header);

  // By instruction of the code; streams are added to the kernel. With header.streams, which say what synthetic addresses do not,
  // instructions take those.
  std::vector<isa::Effect> effects(const StaticCode& code, const TraceHeader& header, Kernel& kernel) const;

  double kept_share() const { return reuse_.kept_share(); }

 private:
  struct Totals;
  void add_addition(Totals& totals, const access::LaneAccess& lanes) const;

  struct Totals {
    uint64_t requests = 0;    // with a lane active
    uint64_t sectors = 0;     // of global memory
    uint64_t wavefronts = 0;  // passes through the data stage
    uint64_t l2_passes = 0;   // as Effect::l2_passes
    // Of additions in L2, the sectors: as long as they are so few that they may wait for each other.
    std::set<uint64_t> added{};
    bool many_added = false;
    uint64_t in_shared = 0;  // of generic accesses, those that went to shared memory
    uint64_t region = 0;     // of synthetic addresses
  };

  access::ReuseAnalysis reuse_;
  std::vector<Totals> totals_;
  std::vector<access::LineTouch> touched_;
};

// Addresses that the exporter gives the accesses of stream s lie in the region that begins here, of kStreamRegion bytes.
inline constexpr uint64_t kFirstRegion = 0x7e00'0000'0000;
inline constexpr uint64_t kStreamRegion = uint64_t{1} << 32;

}  // namespace warpfold::traces::accelsim
