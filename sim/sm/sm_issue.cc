#include "sim/sm/sm_issue.h"

#include <algorithm>

#include "sim/sm/barrier_unit.h"
#include "sim/sm/cta_slots.h"
#include "sim/sm/grid_barrier.h"
#include "sim/sm/listener.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {

using isa::Behaviour;

namespace {

void issue_variable_math(Sm& sm, const Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now) {
  SubCoreEvent event{.kind = SubCoreEvent::Kind::kCounter,
                     .sub_core = static_cast<uint8_t>(sub_core),
                     .slot = static_cast<uint8_t>(slot),
                     .serial = warp.serial,
                     .delay = warp.delay};
  if (op.write_counter < 6) {
    event.counter = op.write_counter;
    sm.schedule(now + op.result_cycles, event);
  }
  if (op.read_counter < 6) {
    event.counter = op.read_counter;
    sm.schedule(now + op.release_cycles, event);
  }
}

void issue_memory(Sm& sm, Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now) {
  SmState& state = sm.state();
  MemoryRequest request{.op = &op,
                        .sub_core = sub_core,
                        .slot = slot,
                        .launch = warp.launch,
                        .cta = warp.cta,
                        .warp_serial = warp.serial,
                        .cta_serial = state.ctas[warp.cta].serial,
                        .issued = now,
                        .delay = warp.delay};
  if (op.cursor >= 0) {
    const uint64_t depth = state.launches[warp.launch].image->kernel->cursors[op.cursor].depth;
    request.stage = RingStage{static_cast<uint32_t>(warp.cursors[op.cursor] % depth)};
  }
  switch (op.behaviour) {
    case Behaviour::kStoreGlobal:
      ++warp.outstanding_stores;
      break;
    case Behaviour::kBulkStore:
      ++warp.outstanding_bulk_stores;
      break;
    case Behaviour::kCopyAsync:
      ++warp.async.open_copies;
      request.group = warp.async.committed;
      break;
    default:
      break;
  }
  tell(sm, RequestIssued{warp.launch, op.bytes});
  state.memory.enqueue(sm, request);
}

void commit_async_group(Warp& warp) {
  AsyncGroups& groups = warp.async;
  groups.copies_left[groups.committed % groups.copies_left.size()] += groups.open_copies;
  groups.open_copies = 0;
  ++groups.committed;
  // A group without copies is complete as soon as the groups before it are.
  while (groups.completed < groups.committed && groups.copies_left[groups.completed % groups.copies_left.size()] == 0)
    ++groups.completed;
}

// setmaxnreg moves registers between the warps of a CTA through a pool of the CTA.
void issue_set_registers(Sm& sm, Warp& warp, const MicroOp& op, Cycle now) {
  SmState& state = sm.state();
  Cta& cta = state.ctas[warp.cta];
  const auto change = (static_cast<int64_t>(op.count) - warp.registers) * 32;
  cta.register_pool = static_cast<uint32_t>(cta.register_pool - change);
  warp.registers = op.count;
  if (change < 0) reconsider_cta(sm, warp.cta, warp.delay, now);
}

void issue_exit(Sm& sm, Warp& warp, int sub_core, int slot, Cycle now) {
  SmState& state = sm.state();
  warp.exited = true;
  state.sub_cores[sub_core].end_warp(sm, slot);
  maybe_end_warp(sm, sub_core, slot, warp.delay, now + 1);
}

// True if no store of the CTA is under way.
bool stores_done(const SmState& state, const Cta& cta) {
  return std::ranges::all_of(cta.warp_slots, [&](WarpSlot slot) {
    const Warp& warp = state.warp(state.place_of(slot));
    return !warp.resident || warp.outstanding_stores == 0;
  });
}

}  // namespace

bool may_execute(const Sm& sm, const Warp& warp, WarpState& reason) {
  const SmState& state = sm.state();
  const MicroOp& op = *warp.op;
  switch (op.behaviour) {
    case Behaviour::kDependenceWait:
      reason = warp.long_counters >> op.depbar_counter & 1 ? WarpState::kLongScoreboard : WarpState::kShortScoreboard;
      return warp.counters[op.depbar_counter] <= op.count;
    case Behaviour::kMbarrierWait: {
      // A failed try_wait is a wait for a shared-memory operation: Nsight Compute counts it as short scoreboard.
      reason = WarpState::kShortScoreboard;
      uint64_t awaited = 0;
      return awaited_mbarrier(sm, warp, op, awaited).visible >= awaited;
    }
    case Behaviour::kWgmma:
      reason = WarpState::kMathPipeThrottle;
      return state.wgmma.admits(sm, warp);
    case Behaviour::kTcgen05Mma:
    case Behaviour::kTcgen05Commit:
    case Behaviour::kTcgen05Copy:
      reason = WarpState::kMathPipeThrottle;
      return state.tcgen05.admits(sm, state.place_of(state.ctas[warp.cta].warp_slots[warp.index_in_cta]).sub_core);
    case Behaviour::kWgmmaWait:
      reason = WarpState::kGmma;
      return warp.wgmma_groups <= op.count;
    case Behaviour::kCopyAsyncWait:
      reason = WarpState::kLongScoreboard;
      return warp.async.committed - warp.async.completed <= op.count;
    case Behaviour::kBulkWait:
      reason = WarpState::kLongScoreboard;
      return warp.outstanding_bulk_stores <= op.count;
    case Behaviour::kLoadGlobal:
    case Behaviour::kStoreGlobal:
      // The fence before the arrival waits for the CTA's stores.
      reason = WarpState::kLongScoreboard;
      return !arrives_at_grid(op) || stores_done(state, state.ctas[warp.cta]);
    case Behaviour::kSetMaxRegisters:
      reason = WarpState::kBarrier;
      return op.count <= warp.registers || (op.count - warp.registers) * 32U <= state.ctas[warp.cta].register_pool;
    default:
      return true;
  }
}

void execute(Sm& sm, Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now) {
  SmState& state = sm.state();
  switch (op.behaviour) {
    case Behaviour::kVariableMath:
      issue_variable_math(sm, warp, op, sub_core, slot, now);
      break;
    case Behaviour::kWgmma:
      state.wgmma.issue(sm, warp, op, now);
      break;
    case Behaviour::kTcgen05Mma:
    case Behaviour::kTcgen05Commit:
    case Behaviour::kTcgen05Copy:
      state.tcgen05.issue(sm, warp, op, sub_core, now);
      break;
    case Behaviour::kBarrierSync:
    case Behaviour::kBarrierArrive:
      arrive_at_barrier(sm, warp, op, now);
      break;
    case Behaviour::kMbarrierWait: {
      uint64_t awaited = 0;
      const Mbarrier& barrier = awaited_mbarrier(sm, warp, op, awaited);
      if (barrier.visible == awaited) pass(sm, warp, barrier.seen, WarpState::kShortScoreboard, now);
      break;
    }
    case Behaviour::kWgmmaWait:
      if (warp.wgmma_groups == op.count)
        pass(sm, warp, state.ctas[warp.cta].warpgroups[warp.index_in_cta / 4].done, WarpState::kGmma, now);
      break;
    case Behaviour::kSetMaxRegisters:
      issue_set_registers(sm, warp, op, now);
      break;
    case Behaviour::kCopyAsyncCommit:
      commit_async_group(warp);
      break;
    case Behaviour::kExit:
      issue_exit(sm, warp, sub_core, slot, now);
      break;
    default:
      break;
  }
  if (op.pipe == isa::Pipe::kMemory) issue_memory(sm, warp, op, sub_core, slot, now);
  if (op.cursor >= 0) warp.cursors[op.cursor] += op.advance;
}

}  // namespace warpfold::sim
