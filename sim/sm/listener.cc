#include "sim/sm/listener.h"

#include <bit>
#include <utility>

#include "sim/sm/listener_sub_core.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {
namespace {

// A warp waits for an entry in a queue of tensor products. Products for tensor memory come from one thread and follow
// each other, so that the warp inherits the delay of the product that made room. A warpgroup waits for its wgmma
// products at another instruction, so that this wait counts as a delay of the warp.
void wait_for_tensor_cores(Sm& sm, const WaitEnded& event) {
  Warp& warp = event.warp;
  const auto [until, delay] = std::pair{event.until, event.delay};
  const bool into_memory = warp.op->pipe == isa::Pipe::kTcgen05;
  const ProductHistory& products = into_memory ? sm.tcgen05().pipe().products() : sm.wgmma().pipe().products();
  products.charge_wait(sm, warp, until);
  if (!into_memory) {
    products.delay_by_wait(sm, warp, until);
  } else if (delay) {
    inherit(sm, warp, *delay, until - warp.since);
  }
}

}  // namespace

// ---- a warp's life

void tell(Sm& sm, const WarpStarted& event) {
  const auto& [sub_core, warp, slot] = event;
  SubCoreAccount& account = sub_core.account();
  const WarpMask bit = WarpMask{1} << slot;
  account.coupled = sm.state().coupled(warp.launch) ? account.coupled | bit : account.coupled & ~bit;
  warp.counted = warp.op;
  warp.row = sm.ledger().row(warp.launch, warp.op->segment);
  account.stalls.entered(bit, warp.row);
}

// The fixed wait is charged to the next instruction, as profilers do.
void tell(Sm& sm, const Advanced& event) {
  const auto& [sub_core, warp, slot, from, now] = event;
  warp.counted = warp.op;
  if (kAccounting && warp.op->segment != from.segment) {
    StallLedger& stalls = sub_core.account().stalls;
    const WarpMask bit = WarpMask{1} << slot;
    stalls.left(sm.ledger(), bit, warp.row);
    warp.row = sm.ledger().row(warp.launch, warp.op->segment);
    stalls.entered(bit, warp.row);
    if (sm.observation().timeline) entered_segment(sm, warp, from.segment, now + 1);
  }
  const auto fixed_wait = from.behaviour == isa::Behaviour::kBranch ? WarpState::kBranchResolving : WarpState::kWait;
  sm.ledger().spend(warp.row, fixed_wait, from.next_after - 1U);
}

void tell(Sm& sm, const WarpExited& event) {
  event.sub_core.account().stalls.left(sm.ledger(), WarpMask{1} << event.slot, event.warp.row);
}

void tell(Sm& sm, const WarpDrained& event) {
  const auto& [warp, at, delay] = event;
  const Cycle exited = warp.last_issue + 1;
  sm.ledger().spend(warp.row, WarpState::kDrain, at - exited);
  if (at > exited) {
    warp.reason = WarpState::kDrain;
    warp.waiting_row = warp.row;
    inherit(sm, warp, delay, at - exited);
  }
  sm.ledger().launch(warp.launch).resident_warp_cycles += at - warp.started;
}

void log_issue(Sm& sm, const SubCore& sub_core, const Warp& warp, Cycle now) {
  const auto position = static_cast<uint32_t>(warp.op - warp.program->ops.data());
  sm.observation().issue_log->push_back(
      {now, sm.observation().sm_class, static_cast<uint32_t>(sub_core.index()), warp.launch, warp.ordinal, position});
}

void log_spans(Sm& sm, const SubCore& sub_core, WarpMask warps, WarpState state, Cycle from, Cycle until) {
  for (; warps != 0; warps &= warps - 1) {
    const Warp& warp = sub_core.warp(std::countr_zero(warps));
    const bool at_barrier = state == WarpState::kBarrier && warp.op->behaviour != isa::Behaviour::kSetMaxRegisters;
    const MicroOp* op = at_barrier ? warp.barrier_op : warp.op;
    sm.observation().cycle_log->add({.from = from,
                                     .until = until,
                                     .state = state,
                                     .sub_core = static_cast<uint32_t>(sub_core.index()),
                                     .launch = warp.launch,
                                     .warp = warp.ordinal,
                                     .cta = warp.cta,
                                     .index_in_cta = warp.index_in_cta,
                                     .instruction = warp.program->sources[op - warp.program->ops.data()]});
  }
}

void count_stretch(Sm& sm, SubCore& sub_core, Warp& warp, const MicroOp* end) {
  SubCoreAccount& account = sub_core.account();
  const Program& program = *warp.program;
  const auto tally = [&](const MicroOp* op) -> const Tally& { return program.tallies[op - program.ops.data()]; };
  const auto instructions = static_cast<uint64_t>(end - warp.counted);
  const Tally& before = tally(warp.counted);
  const Tally& waited = tally(warp.op);
  const Tally& issued = tally(end);
  warp.counted = end;
  account.unsettled -= instructions;
  account.issued[warp.launch] += instructions;
  sm.ledger().launch(warp.launch).instructions += instructions;
  sm.ledger().spend(warp.row, WarpState::kSelected, instructions);
  sm.ledger().spend(warp.row, WarpState::kWait, waited.waits - before.waits);
  sm.ledger().spend(warp.row, WarpState::kBranchResolving, waited.branches - before.branches);
  for (int pipe = 0; pipe < isa::kPipes; ++pipe) account.pipe_cycles[pipe] += issued.pipe_cycles[pipe] - before.pipe_cycles[pipe];
}

// ---- a wait

void tell(Sm& sm, const HeldBack& event) {
  if constexpr (!kAccounting) return;
  const auto& [sub_core, warp, slot, holder, from, cycles] = event;
  sm.ledger().spend(warp.row, WarpState::kDispatchStall, cycles);
  sm.ledger().charge(warp.row, holder, Contended::kRegisterWritePort, cycles);
  if (sm.observation().cycle_log != nullptr)
    log_spans(sm, sub_core, WarpMask{1} << slot, WarpState::kDispatchStall, from, from + cycles);
  if ((sub_core.account().coupled & WarpMask{1} << slot) == 0) return;
  delay_warp(sm.state(), warp, &Delay::all, cycles);
  if (holder != warp.launch) delay_warp(sm.state(), warp, &Delay::others, cycles);
}

void tell(Sm& sm, const WaitEnded& event) {
  const auto& [sub_core, warp, slot, until, delay] = event;
  sm.ledger().spend(warp.waiting_row, warp.reason, until - warp.since);
  if (sm.observation().cycle_log != nullptr) log_spans(sm, sub_core, WarpMask{1} << slot, warp.reason, warp.since, until);
  if (warp.reason == WarpState::kMathPipeThrottle) {
    wait_for_tensor_cores(sm, event);
  } else if (delay) {
    inherit(sm, warp, *delay, until - warp.since);
  }
}

// ---- a memory request

void tell(Sm& sm, const RequestIssued& event) { sm.ledger().launch(event.launch).requested_bytes += event.bytes; }

void tell(Sm& sm, const RequestServed& event) {
  LaunchAccount& account = sm.ledger().launch(event.launch);
  account.served_bytes += event.bytes;
  account.l1_bytes += event.from_l1;
  account.dram_bytes += event.from_dram;
}

// Charges the wait and delays the request. A warp that waits for the request inherits its delay.
void tell(Sm& sm, const RequestWaited& event) {
  const auto& [request, holder, resource, cycles] = event;
  sm.ledger().charge_request(sm.ledger().row(request.launch, request.op->segment), holder, resource, cycles);
  const bool by_others = holder != request.launch;
  if (by_others || sm.state().coupled(request.launch))
    hold_up(sm.state(), request.delay, request.launch, request.cta, request.cta_serial, delay_by(cycles, by_others));
}

void tell(Sm& sm, const RequestQueued& event) {
  const auto& [request, holders, resource, from, until] = event;
  const auto waited = [&](int holder, uint64_t cycles) { tell(sm, RequestWaited{request, holder, resource, cycles}); };
  holders.charge(from, until, request.launch, waited);
}

// Charges the wait to launches in proportion to the cycles that the transfer lost to each.
void tell(Sm& sm, const TransferWaited& event) {
  const auto& [request, transfer, cycles] = event;
  if (cycles == 0) return;
  const auto waited = [&](int holder, uint64_t part) { tell(sm, RequestWaited{request, holder, transfer.slowest, part}); };
  uint64_t all = 0;
  for (const uint64_t lost : transfer.lost) all += lost;
  if (all == 0) return waited(request.launch, cycles);
  uint64_t before = 0;
  Cycle charged = 0;
  for (size_t l = 0; l < transfer.lost.size(); ++l) {
    before += transfer.lost[l];
    const Cycle due = before * cycles / all;
    if (due > charged) waited(static_cast<int>(l), due - charged);
    charged = due;
  }
}

void tell(Sm& sm, const ResultWaited& event) {
  const auto& [warp, holder, delay] = event;
  const SmState& state = sm.state();
  sm.ledger().charge_request(warp.row, holder, Contended::kRegisterWritePort, 1);
  const bool by_others = holder != warp.launch;
  if (by_others || state.coupled(warp.launch))
    hold_up(state, delay, warp.launch, warp.cta, state.ctas[warp.cta].serial, delay_by(1, by_others));
}

void tell(Sm& sm, const UpdateWaited& event) {
  sm.ledger().charge_request(event.owner.row, event.holder, event.port, event.cycles);
}

// ---- settling

const SubCoreAccount& SubCore::settle(Sm& sm) {
  account_.stalls.settle(sm.ledger());
  if (account_.unsettled == 0) return account_;
  for (WarpMask left = resident_; left != 0; left &= left - 1) {
    Warp& warp = warps_[std::countr_zero(left)];
    if (warp.counted != warp.op) count_stretch(sm, *this, warp, warp.op);
  }
  return account_;
}

}  // namespace warpfold::sim
