// Losses that warps pass on. A warp that another kernel holds up is late, and so is everyone of its own kernel who waits for it.
// Warp::lost says by how many cycles others have made a warp late so far. Who has waited is as late as whom it waited for, whether
// that is more (it inherits) or less (its own lateness is hidden: it would have had to wait in any case):
//
//   producer   loses 30 cycles to another kernel, then fills a stage                     lost 30
//   consumer   waits 50 cycles for the stage: 30 of them are inherited                   lost 0 -> 30
//   producer   is free again long before the consumer is, and waits for it: nothing      lost 30 (the consumer's)
//
// What a warp starts, a copy, a load, a wgmma, goes off with what its warp had lost, and adds what it loses on its way. Only how
// far apart they are counts, and no more than kMostApart of that.
#include <algorithm>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

constexpr uint64_t kMostApart = 4096;  // cycles; bounds the state of a warp that loses and never meets another

uint64_t within(uint64_t lost, uint64_t most) { return std::max(lost, most - std::min(most, kMostApart)); }

}  // namespace

void Sm::delay(Warp& warp, Cycle cycles) {
  if (!kAccounting || !tied(warp.launch)) return;
  uint64_t& most = ctas_[warp.cta].most_lost;
  warp.lost = within(warp.lost, most) + cycles;
  most = std::max(most, warp.lost);
}

// The wait that has just ended took `waited` cycles and was for someone who has lost `lost`. Warps that wait for nobody but their
// own requests have no history: what the request lost is what they inherit.
void Sm::inherit(Warp& warp, uint64_t lost, Cycle waited) {
  if (!kAccounting || launches_.size() == 1) return;  // nobody has lost to anybody
  uint64_t& most = ctas_[warp.cta].most_lost;
  const uint64_t own = within(warp.lost, most);
  const uint64_t theirs = within(lost, most);
  if (theirs > own) account_.inherit(warp.waiting_row, warp.reason, std::min(theirs - own, waited));
  if (!tied(warp.launch)) return;
  if (theirs < own) account_.hide(warp.waiting_row, warp.reason, own - theirs);
  warp.lost = theirs;
  most = std::max(most, theirs);
}

void Sm::visit_lost(const char* name, int launch, int cta, uint64_t cta_serial, uint64_t lost, StateVisitor& visitor) const {
  if (launches_.size() == 1) return;  // nobody to lose to
  if (!cta_lives(cta, cta_serial)) return visitor.relative(name, 0);
  const uint64_t most = ctas_[cta].most_lost;
  visitor.relative(name, tied(launch) ? most - within(lost, most) : lost);
}

}  // namespace warpfold::sim
