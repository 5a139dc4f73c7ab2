// The listener's part in the loop of a sub-core: events of every cycle, inline.
#pragma once

#include <bit>

#include "sim/sm/listener.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {

// Counts the instructions of the warp up to `end`, and the stall cycles of the instructions before Warp::op.
void count_stretch(Sm& sm, SubCore& sub_core, Warp& warp, const MicroOp* end);
void log_issue(Sm& sm, const SubCore& sub_core, const Warp& warp, Cycle now);
// Adds a span of each of the warps to the cycle log.
void log_spans(Sm& sm, const SubCore& sub_core, WarpMask warps, WarpState state, Cycle from, Cycle until);

// Delays warps of other launches than `holder` by a cycle, if warps of their CTA may wait for them.
inline void delay_by_others(Sm& sm, SubCore& sub_core, WarpMask warps, int holder) {
  const WarpMask coupled = sub_core.account().coupled;
  if ((warps & coupled) == 0) return;
  for (WarpMask late = warps & coupled & ~sub_core.warps_of(holder); late != 0; late &= late - 1)
    delay_warp(sm.state(), sub_core.warp(std::countr_zero(late)), &Delay::others, 1);
}

inline void tell(Sm& sm, const Stalled& event) {
  if constexpr (!kAccounting) return;
  const auto& [sub_core, warps, reason, holder, resource] = event;
  sub_core.account().stalls.stalled(sm.ledger(), warps, reason, holder, resource);
  delay_by_others(sm, sub_core, warps, holder);
  if (sm.observation().cycle_log != nullptr) log_spans(sm, sub_core, warps, reason, sm.state().now, sm.state().now + 1);
}

inline void tell(Sm& sm, const NotSelected& event) {
  if constexpr (!kAccounting) return;
  const auto& [sub_core, losers, without_pipe, winner, pipe] = event;
  sub_core.account().stalls.not_selected(sm.ledger(), losers & ~without_pipe, without_pipe, winner, pipe);
  delay_by_others(sm, sub_core, without_pipe, winner);
  delay_by_others(sm, sub_core, losers & ~without_pipe, winner);
  if (sm.observation().cycle_log == nullptr) return;
  const Cycle now = sm.state().now;
  log_spans(sm, sub_core, losers & ~without_pipe, WarpState::kNotSelected, now, now + 1);
  log_spans(sm, sub_core, without_pipe, WarpState::kMathPipeThrottle, now, now + 1);
}

// Delays a coupled warp by the cycles in which it was awake and found something taken.
inline void tell(Sm& sm, const AwakeEnded& event) {
  const auto& [sub_core, warp, slot, now] = event;
  if (kAccounting && (sub_core.account().coupled & (WarpMask{now > warp.since} << slot)) != 0)
    delay_warp(sm.state(), warp, &Delay::all, now - warp.since);
}

// Counts the instruction and logs it. Straight code is counted where it ends.
inline void tell(Sm& sm, const Issued& event) {
  const auto& [sub_core, warp, slot, now] = event;
  tell(sm, AwakeEnded{sub_core, warp, slot, now});
  ++sub_core.account().unsettled;
  if (!warp.op->straight) count_stretch(sm, sub_core, warp, warp.op + 1);
  if (sm.observation().issue_log != nullptr) log_issue(sm, sub_core, warp, now);
  if (sm.observation().cycle_log != nullptr) log_spans(sm, sub_core, WarpMask{1} << slot, WarpState::kSelected, now, now + 1);
}

}  // namespace warpfold::sim
