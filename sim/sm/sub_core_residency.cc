// Start and end of warps on a sub-core.
#include <algorithm>
#include <bit>

#include "sim/sm/listener.h"
#include "sim/sm/sm.h"
#include "sim/sm/sub_core.h"

namespace warpfold::sim {

void SubCore::reset_arbiters(Cycle now) {
  for (PipePort& pipe : pipes_) pipe.forget_holders(now);
  last_writer_.fill(-1);
  wide_writer_ = -1;
  arbiter_.reset();
}

void SubCore::start_warp(Sm& sm, int slot, Cycle now) {
  Warp& warp = warps_[slot];
  const Mask bit = Mask{1} << slot;
  if (of_launch_[warp.launch] == 0) active_launches_.push_back(warp.launch);
  Mask older = 0;
  for (Mask left = resident_; left != 0; left &= left - 1) {
    const int w = std::countr_zero(left);
    if (warps_[w].cta != warp.cta) older |= Mask{1} << w;
  }
  arbiter_.started(slot, older);
  resident_ |= bit;
  of_launch_[warp.launch] |= bit;
  enter_loops(sm, warp, 0, -1);
  tell(sm, WarpStarted{*this, warp, slot});
  wants_[warp.op->port] |= bit;
  warp.started = now == stepped_ ? now + 1 : now;
  set_timer(warp, slot, warp.started, warp.op->needs_check);
  wake_at(sm, warp.started);
}

void SubCore::end_warp(Sm& sm, int slot) {
  const Mask bit = Mask{1} << slot;
  const int launch = warps_[slot].launch;
  awake_ &= ~bit;
  resident_ &= ~bit;
  has_condition_ &= ~bit;
  tentative_ &= ~bit;
  wants_[warps_[slot].op->port] &= ~bit;
  of_launch_[launch] &= ~bit;
  if (of_launch_[launch] == 0) std::erase(active_launches_, launch);
  tell(sm, WarpExited{*this, warps_[slot], slot});
  arbiter_.exited(slot);
}

}  // namespace warpfold::sim
