// Counters of issued instructions and lost cycles, which a sub-core updates in stretches. settle() brings the account
// up to now.
#include <bit>

#include "sim/sm/sm.h"

namespace warpfold::sim {

// Counts the instructions up to `end`, and the stall cycles of the instructions before warp.op. step_to_next counts the
// stall cycles of warp.op.
void SubCore::count(Sm& sm, Warp& warp, const MicroOp* end) {
  const Program& program = *warp.program;
  const auto tally = [&](const MicroOp* op) -> const Tally& { return program.tallies[op - program.ops.data()]; };
  const auto instructions = static_cast<uint64_t>(end - warp.counted);
  const Tally& before = tally(warp.counted);
  const Tally& waited = tally(warp.op);
  const Tally& issued = tally(end);
  warp.counted = end;
  unsettled_ -= instructions;
  issued_[warp.launch] += instructions;
  sm.ledger().launch(warp.launch).instructions += instructions;
  sm.ledger().spend(warp.row, WarpState::kSelected, instructions);
  sm.ledger().spend(warp.row, WarpState::kWait, waited.waits - before.waits);
  sm.ledger().spend(warp.row, WarpState::kBranchResolving, waited.branches - before.branches);
  for (int pipe = 0; pipe < isa::kPipes; ++pipe) use_.pipe_cycles[pipe] += issued.pipe_cycles[pipe] - before.pipe_cycles[pipe];
}

void SubCore::settle(Sm& sm) {
  stalls_.settle(sm.ledger());
  if (unsettled_ == 0) return;
  for (Mask left = resident_; left != 0; left &= left - 1) {
    Warp& warp = warps_[std::countr_zero(left)];
    if (warp.counted != warp.op) count(sm, warp, warp.op);
  }
}

}  // namespace warpfold::sim
