#include <utility>

#include "sim/sm/sm.h"

namespace warpfold::sim {

using isa::Behaviour;

void Sm::issued(Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now) {
  switch (op.behaviour) {
    case Behaviour::kVariableMath:
      issue_variable_math(warp, op, sub_core, slot, now);
      break;
    case Behaviour::kWgmma:
      issue_wgmma(warp, op, now);
      break;
    case Behaviour::kBarrierSync:
    case Behaviour::kBarrierArrive:
      issue_barrier(warp, op, now);
      break;
    case Behaviour::kMbarrierWait: {
      uint64_t awaited = 0;
      const Mbarrier& barrier = awaited_mbarrier(warp, op, awaited);
      if (barrier.visible == awaited) pass(warp, barrier.seen, WarpState::kShortScoreboard, now);
      break;
    }
    case Behaviour::kWgmmaWait:
      if (warp.wgmma_groups == op.count)
        pass(warp, state_.ctas[warp.cta].warpgroups[warp.index_in_cta / 4].done, WarpState::kGmma, now);
      break;
    case Behaviour::kSetMaxRegisters:
      issue_set_registers(warp, op, now);
      break;
    case Behaviour::kCopyAsyncCommit:
      commit_async_group(warp);
      break;
    case Behaviour::kExit:
      issue_exit(warp, sub_core, slot, now);
      break;
    default:
      break;
  }
  if (op.pipe == isa::Pipe::kMemory) issue_memory(warp, op, sub_core, slot, now);
  if (op.cursor >= 0) warp.cursors[op.cursor] += op.advance;
}

void Sm::issue_variable_math(const Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now) {
  SubCoreEvent event{.kind = SubCoreEvent::Kind::kCounter,
                     .sub_core = static_cast<uint8_t>(sub_core),
                     .slot = static_cast<uint8_t>(slot),
                     .serial = warp.serial,
                     .delay = warp.delay};
  if (op.write_counter < 6) {
    event.counter = op.write_counter;
    schedule(now + op.result_cycles, event);
  }
  if (op.read_counter < 6) {
    event.counter = op.read_counter;
    schedule(now + op.release_cycles, event);
  }
}

void Sm::issue_memory(Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now) {
  MemoryRequest request{.op = &op,
                        .sub_core = sub_core,
                        .slot = slot,
                        .launch = warp.launch,
                        .cta = warp.cta,
                        .warp_serial = warp.serial,
                        .cta_serial = state_.ctas[warp.cta].serial,
                        .issued = now,
                        .delay = warp.delay};
  if (op.cursor >= 0) {
    request.stage =
        static_cast<uint32_t>(warp.cursors[op.cursor] % state_.launches[warp.launch].image->kernel->cursors[op.cursor].depth);
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
  state_.account.launch(warp.launch).l2_requested_bytes += op.bytes;
  state_.memory.enqueue(*this, request);
}

void Sm::commit_async_group(Warp& warp) {
  AsyncGroups& groups = warp.async;
  groups.copies_left[groups.committed % groups.copies_left.size()] += groups.open_copies;
  groups.open_copies = 0;
  ++groups.committed;
  // A group without copies is complete as soon as the ones before it are.
  while (groups.completed < groups.committed && groups.copies_left[groups.completed % groups.copies_left.size()] == 0)
    ++groups.completed;
}

void Sm::issue_wgmma(Warp& warp, const MicroOp& op, Cycle now) {
  Cta& cta = state_.ctas[warp.cta];
  const int group = warp.index_in_cta / 4;
  Warpgroup& warpgroup = cta.warpgroups[group];
  const uint64_t sequence = warp.wgmma_sequence++;
  if (sequence == warpgroup.opened) {
    ++warpgroup.opened;
    ++state_.open_wgmma;
    for (int w = group * 4; w < group * 4 + 4 && w < static_cast<int>(cta.warp_slots.size()); ++w) {
      const int s = cta.warp_slots[w];
      state_.sub_cores[s % state_.sub_cores.size()].reconsider(*this, static_cast<int>(s / state_.sub_cores.size()), now);
    }
  }
  if (op.commit) ++warp.wgmma_groups;
  uint8_t& arrived = warpgroup.arrived[sequence % warpgroup.arrived.size()];
  Arrival& last = warpgroup.last[sequence % warpgroup.last.size()];
  join(last, warp.cta, warp.delay, now);
  if (++arrived < 4) return;
  arrived = 0;
  --state_.open_wgmma;
  WgmmaCommand command;
  command.launch = warp.launch;
  command.row = state_.account.row(warp.launch, op.segment);
  command.cta = warp.cta;
  command.warpgroup = group;
  command.cta_serial = cta.serial;
  command.columns = op.wgmma_n;
  command.a_in_registers = op.wgmma_a_in_registers;
  command.commit = op.commit;
  command.delay = joined(std::exchange(last, {}), warp.cta, now);
  state_.wgmma.assembled(*this, command, now);
}

void Sm::issue_barrier(Warp& warp, const MicroOp& op, Cycle now) {
  Cta& cta = state_.ctas[warp.cta];
  const int id = op.barrier < 0 ? 0 : op.barrier;
  NamedBarrier& barrier = cta.barriers[id];
  const uint32_t expected = op.count > 0 ? op.count / 32U : static_cast<uint32_t>(cta.warp_slots.size());
  if (op.behaviour == Behaviour::kBarrierSync) {
    warp.in_barrier = true;
    warp.barrier = static_cast<uint8_t>(id);
    warp.barrier_op = &op;
    warp.waiting_row = state_.account.row(warp.launch, op.segment);
    warp.barrier_phase = barrier.completed;
  }
  join(barrier.last, warp.cta, warp.delay, now);
  if (++barrier.arrived < expected) return;
  barrier.arrived = 0;
  const uint64_t phase = barrier.completed++;
  schedule(now + spec_.barrier_latency, BarrierEvent{.kind = BarrierEvent::Kind::kRelease,
                                                     .cta = static_cast<uint16_t>(warp.cta),
                                                     .barrier = static_cast<uint16_t>(id),
                                                     .serial = cta.serial,
                                                     .value = phase,
                                                     .delay = joined(std::exchange(barrier.last, {}), warp.cta, now)});
}

// setmaxnreg: registers move between the warps of a CTA through its own pool.
void Sm::issue_set_registers(Warp& warp, const MicroOp& op, Cycle now) {
  Cta& cta = state_.ctas[warp.cta];
  const auto change = (static_cast<int64_t>(op.count) - warp.registers) * 32;
  cta.register_pool = static_cast<uint32_t>(cta.register_pool - change);
  warp.registers = op.count;
  if (change < 0) reconsider_cta(warp.cta, warp.delay, now);
}

void Sm::issue_exit(Warp& warp, int sub_core, int slot, Cycle now) {
  warp.exited = true;
  state_.sub_cores[sub_core].end_warp(*this, slot);
  maybe_end_warp(sub_core, slot, warp.delay, now + 1);
}

}  // namespace warpfold::sim
