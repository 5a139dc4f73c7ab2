#include <utility>

#include "isa/assembler.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

using isa::Behaviour;

// The mbarrier that a wait looks at and how many of its phases must have completed.
const Mbarrier& Sm::awaited_mbarrier(const Warp& warp, const MicroOp& op, uint64_t& pass) const {
  const uint64_t steps = op.cursor >= 0 ? warp.cursors[op.cursor] : 0;
  const auto& ring = state_.ctas[warp.cta].rings[op.barrier];
  pass = steps / ring.size() + 1;
  return ring[steps % ring.size()];
}

bool Sm::condition_holds(const Warp& warp, int sub_core, int slot, WarpState& reason) const {
  const MicroOp& op = *warp.op;
  switch (op.behaviour) {
    case Behaviour::kDependenceWait: {
      const Warp& self = state_.sub_cores[sub_core].warp(slot);
      reason = self.long_counters >> op.depbar_counter & 1 ? WarpState::kLongScoreboard : WarpState::kShortScoreboard;
      return self.counters[op.depbar_counter] <= op.count;
    }
    case Behaviour::kMbarrierWait: {
      // A failed try_wait is a shared-memory operation waited for: Nsight Compute counts it as short scoreboard.
      reason = WarpState::kShortScoreboard;
      uint64_t pass = 0;
      return awaited_mbarrier(warp, op, pass).visible >= pass;
    }
    case Behaviour::kWgmma:
      reason = WarpState::kMathPipeThrottle;
      return wgmma_admits(warp);
    case Behaviour::kWgmmaWait:
      reason = WarpState::kGmma;
      return warp.wgmma_groups <= op.count;
    case Behaviour::kCopyAsyncWait:
      reason = WarpState::kLongScoreboard;
      return warp.async.committed - warp.async.completed <= op.count;
    case Behaviour::kBulkWait:
      reason = WarpState::kLongScoreboard;
      return warp.outstanding_bulk_stores <= op.count;
    case Behaviour::kSetMaxRegisters:
      reason = WarpState::kBarrier;
      return op.count <= warp.registers || (op.count - warp.registers) * 32U <= state_.ctas[warp.cta].register_pool;
    default:
      return true;
  }
}

// The first of a warpgroup's warps to reach a command needs a place in the FIFO; the others join it.
bool Sm::wgmma_admits(const Warp& warp) const {
  const Warpgroup& group = state_.ctas[warp.cta].warpgroups[warp.index_in_cta / 4];
  return warp.wgmma_sequence < group.opened || state_.wgmma.has_room(spec_.wgmma_fifo_entries, state_.open_wgmma);
}

void Sm::wgmma_room(Cycle now) {
  for (SubCore& sub_core : state_.sub_cores) sub_core.wgmma_room(*this, now);
}

void Sm::charge_wgmma_wait(Warp& warp, Cycle to) {
  state_.wgmma.history().charge(warp.since, to, warp.launch, [&](int culprit, uint64_t cycles) {
    state_.account.charge(warp.row, culprit, Contended::kWgmma, cycles);
    if (!kAccounting || !coupled(warp.launch)) return;
    delay_warp(warp, &Delay::all, cycles);
    if (culprit != warp.launch) delay_warp(warp, &Delay::others, cycles);
  });
}

// `command`: the group's last.
void Sm::wgmma_group_done(const WgmmaCommand& command, Cycle now) {
  if (!cta_lives(command.cta, command.cta_serial)) return;
  Cta& cta = state_.ctas[command.cta];
  cta.warpgroups[command.warpgroup].done = {now, command.delay};
  for (int w = command.warpgroup * 4; w < command.warpgroup * 4 + 4; ++w) {
    const int s = cta.warp_slots[w];
    SubCore& sub_core = state_.sub_cores[s % state_.sub_cores.size()];
    const auto slot = static_cast<int>(s / state_.sub_cores.size());
    --sub_core.warp(slot).wgmma_groups;
    sub_core.reconsider(*this, slot, now, command.delay);
  }
}

void Sm::handle(const BarrierEvent& event, Cycle now) {
  if (!is_live(event)) return;
  using enum BarrierEvent::Kind;
  switch (event.kind) {
    case kBytes:
      return mbarrier_bytes(event, now);
    case kArrive:
      return mbarrier_arrive(event, now);
    case kVisible: {
      Mbarrier& barrier = mbarrier_of(event);
      barrier.visible = event.value;
      barrier.seen = {now, event.delay};
      return reconsider_cta(event.cta, event.delay, now);
    }
    case kRelease:
      return release_barrier(event, now);
  }
}

Mbarrier& Sm::mbarrier_of(const BarrierEvent& event) { return state_.ctas[event.cta].rings[event.barrier][event.stage]; }

void Sm::mbarrier_arrive(const BarrierEvent& event, Cycle now) {
  Mbarrier& barrier = mbarrier_of(event);
  barrier.bytes_left += static_cast<int64_t>(event.value);  // expected
  join(barrier.arrived, event.cta, event.delay, now);
  // More arrivals than a phase takes are lost on the phase, as a program may not count on them.
  if (barrier.arrivals_left > 0) --barrier.arrivals_left;
  finish_phase(event, now);
}

void Sm::mbarrier_bytes(const BarrierEvent& event, Cycle now) {
  Mbarrier& barrier = mbarrier_of(event);
  barrier.bytes_left -= static_cast<int64_t>(event.value);
  join(barrier.arrived, event.cta, event.delay, now);
  finish_phase(event, now);
}

// `event`: an arrival, or bytes that have come.
void Sm::finish_phase(const BarrierEvent& event, Cycle now) {
  Mbarrier& barrier = mbarrier_of(event);
  if (barrier.arrivals_left > 0 || barrier.bytes_left > 0) return;
  barrier.arrivals_left = state_.launches[state_.ctas[event.cta].launch].image->kernel->rings[event.barrier].arrivals;
  ++barrier.completed;
  BarrierEvent visible = event;
  visible.kind = BarrierEvent::Kind::kVisible;
  visible.value = barrier.completed;
  visible.delay = joined(std::exchange(barrier.arrived, {}), event.cta, now);
  schedule(now + spec_.mbarrier_latency, visible);
}

void Sm::release_barrier(const BarrierEvent& event, Cycle now) {
  for (const int s : state_.ctas[event.cta].warp_slots) {
    SubCore& sub_core = state_.sub_cores[s % state_.sub_cores.size()];
    const auto slot = static_cast<int>(s / state_.sub_cores.size());
    Warp& warp = sub_core.warp(slot);
    if (!warp.resident || !warp.in_barrier || warp.barrier != event.barrier || warp.barrier_phase != event.value) continue;
    warp.in_barrier = false;
    sub_core.reconsider(*this, slot, now, event.delay);
  }
}

void Sm::reconsider_cta(int cta, Delay delay, Cycle now) {
  for (const int s : state_.ctas[cta].warp_slots) {
    SubCore& sub_core = state_.sub_cores[s % state_.sub_cores.size()];
    const auto slot = static_cast<int>(s / state_.sub_cores.size());
    if (sub_core.warp(slot).resident) sub_core.reconsider(*this, slot, now, delay);
  }
}

// One line a waiting warp:
//   gemm CTA 3 consumer0 warp 4 (sub-core 0): short_scoreboard at [..] SYNCS.PHASECHK... ; waits for ring full, 1 phases
//   ahead, 0 arrivals and 32768 bytes missing
std::string Sm::waiting_report() const {
  std::string report;
  for (size_t c = 0; c < state_.sub_cores.size(); ++c) {
    for (int slot = 0; slot < state_.sub_cores[c].slots(); ++slot) {
      const Warp& warp = state_.sub_cores[c].warp(slot);
      if (!warp.resident || !warp.blocked) continue;
      const KernelImage& image = *state_.launches[warp.launch].image;
      const traces::Kernel& kernel = *image.kernel;
      const MicroOp& op = *(warp.in_barrier ? warp.barrier_op : warp.op);
      report += "  " + kernel.name + " CTA " + std::to_string(warp.cta) + " " +
                kernel.roles[image.role_of_warp[warp.index_in_cta]].name + " warp " + std::to_string(warp.index_in_cta) +
                " (sub-core " + std::to_string(c) + "): " + std::string(state_name(warp.reason)) + " since cycle " +
                std::to_string(warp.since) + " at " +
                isa::format_instruction(*warp.program->sources[&op - warp.program->ops.data()]);
      if (warp.in_barrier) {
        const NamedBarrier& barrier = state_.ctas[warp.cta].barriers[warp.barrier];
        report +=
            "; waits at barrier " + std::to_string(warp.barrier) + ", " + std::to_string(barrier.arrived) + " warps have arrived";
      } else if (warp.op->behaviour == Behaviour::kMbarrierWait) {
        uint64_t pass = 0;
        const Mbarrier& barrier = awaited_mbarrier(warp, *warp.op, pass);
        // How many phases it is ahead, not which one it is, nor which of stages that are alike: what was skipped counts in none.
        const auto stage = &barrier - state_.ctas[warp.cta].rings[warp.op->barrier].data();
        const bool alike = image.rotates[image.base_ring[warp.op->barrier]];
        report += "; waits for ring " + kernel.rings[warp.op->barrier].name +
                  (alike ? std::string() : " stage " + std::to_string(stage)) + ", " + std::to_string(pass - barrier.completed) +
                  " phases ahead, " + std::to_string(barrier.arrivals_left) + " arrivals and " +
                  std::to_string(barrier.bytes_left) + " bytes missing";
      }
      report += "\n";
    }
  }
  return report;
}

}  // namespace warpfold::sim
