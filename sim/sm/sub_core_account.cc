// What a sub-core counts by the stretch: what its warps have issued and lost, charged to the account when it is read.
#include <algorithm>
#include <bit>
#include <utility>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

// What a warp is said to do while it waits for a resource.
WarpState state_of(Contended resource, bool leaves_sm) {
  switch (resource) {
    case Contended::kIssueSlot:
      return WarpState::kNotSelected;
    case Contended::kRegisterReadPort:
      return WarpState::kDispatchStall;
    case Contended::kMemoryQueue:
      return leaves_sm ? WarpState::kLgThrottle : WarpState::kMioThrottle;
    default:
      return WarpState::kMathPipeThrottle;
  }
}

}  // namespace

// Its place in what is lost to whom. Few launches hold anything at a time; a fifth one takes the places of all.
int SubCore::know_culprit(Sm& sm, int launch) {
  if (known_culprits_ == ActiveRow::kCulprits) {
    charge_losses(sm);
    std::ranges::fill(culprit_of_, uint8_t{ActiveRow::kCulprits});
    known_culprits_ = 0;
  }
  culprits_[known_culprits_] = launch;
  culprit_of_[launch] = static_cast<uint8_t>(known_culprits_);
  return known_culprits_++;
}

void SubCore::charge(Sm& sm, ActiveRow& active) {
  for (int c = 0; c < known_culprits_; ++c) {
    for (int l = 0; l < ActiveRow::kLosses; ++l) {
      const uint64_t lost = std::exchange(active.lost[c][l], 0);
      if (lost == 0) continue;
      const auto resource = l < ActiveRow::kLosses - 2 ? static_cast<Contended>(l) : Contended::kMemoryQueue;
      sm.ledger().spend(active.row, state_of(resource, l == ActiveRow::kLosses - 1), lost);
      sm.ledger().charge(active.row, culprits_[c], resource, lost);
    }
  }
}

void SubCore::charge_losses(Sm& sm) {
  if (!std::exchange(losses_, false)) return;
  for (ActiveRow& active : active_rows_) charge(sm, active);
}

void SubCore::leave_row(Sm& sm, Mask bit, uint32_t row) {
  const auto active = std::ranges::find(active_rows_, row, &ActiveRow::row);
  if ((active->warps &= ~bit) != 0) return;
  charge(sm, *active);
  *active = active_rows_.back();
  active_rows_.pop_back();
}

void SubCore::enter_row(Mask bit, uint32_t row) {
  const auto active = std::ranges::find(active_rows_, row, &ActiveRow::row);
  if (active == active_rows_.end()) {
    active_rows_.push_back({.row = row, .warps = bit});
  } else {
    active->warps |= bit;
  }
}

// Everything up to `end`; how long the warp then waits for its next instruction, up to that one.
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
  charge_losses(sm);
  if (unsettled_ == 0) return;
  for (Mask left = resident_; left != 0; left &= left - 1) {
    Warp& warp = warps_[std::countr_zero(left)];
    if (warp.counted != warp.op) count(sm, warp, warp.op);
  }
}

}  // namespace warpfold::sim
