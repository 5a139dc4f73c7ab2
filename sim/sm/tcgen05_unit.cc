#include "sim/sm/tcgen05_unit.h"

#include <algorithm>
#include <utility>

#include "sim/sm/barrier_unit.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {
namespace {

uint64_t round_up_divide(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

uint32_t rows(const MicroOp& op) { return op.half_rows ? 64 : 128; }

// `others`: wavefronts of other requests that went ahead of the product's own.
Cycle interval(const Spec& spec, const MicroOp& op, uint32_t others) {
  const auto operands = static_cast<Cycle>(spec.data_stage_rate.at_rate(tcgen05_wavefronts(spec, op) + others));
  return std::max(tcgen05_cycles(spec, op), operands);
}

Cycle latency(const Spec& spec, const MicroOp& op) {
  const uint32_t pipeline = op.pair ? spec.tcgen05_pair_completion : spec.tcgen05_completion;
  return pipeline + tcgen05_a_wavefronts(spec, op) + tcgen05_cycles(spec, op);
}

}  // namespace

// A copy takes the interval of its opcode. 64 rows in one SM take as long as 128. In a pair they take half as long,
// because the second SM's rows fill the other half of the lanes.
Cycle tcgen05_cycles(const Spec& spec, const MicroOp& op) {
  if (op.behaviour == isa::Behaviour::kTcgen05Copy) return op.interval;
  const uint64_t full = op.narrow ? spec.tcgen05_narrow_milli_columns_per_clk : spec.tcgen05_milli_columns_per_clk;
  const uint64_t rate = full * (op.pair && op.half_rows ? 2 : 1);
  return round_up_divide(uint64_t{op.columns} * 1000, rate);
}

uint32_t tcgen05_a_wavefronts(const Spec& spec, const MicroOp& op) {
  return op.a_elsewhere || op.behaviour == isa::Behaviour::kTcgen05Copy
             ? 0
             : static_cast<uint32_t>(round_up_divide(rows(op), spec.tcgen05_rows_per_a_wavefront));
}

uint32_t tcgen05_wavefronts(const Spec& spec, const MicroOp& op) {
  if (op.behaviour == isa::Behaviour::kTcgen05Copy) return op.wavefronts;
  const uint32_t columns = op.pair ? op.columns / 2U : op.columns;
  return tcgen05_a_wavefronts(spec, op) + static_cast<uint32_t>(round_up_divide(columns, spec.tcgen05_columns_per_b_wavefront));
}

bool Tcgen05Unit::admits(const Sm& sm, int sub_core) const { return entries_[sub_core] < sm.spec().tcgen05_queue_entries; }

void Tcgen05Unit::issue(Sm& sm, const Warp& warp, const MicroOp& op, int sub_core, Cycle now) {
  const SmState& state = sm.state();
  Tcgen05Command& command = at(next_id_++);
  command = {.owner = {warp.launch, state.account.row(warp.launch, op.segment), warp.cta, state.ctas[warp.cta].serial},
             .op = &op,
             .sub_core = static_cast<uint8_t>(sub_core),
             .delay = warp.delay,
             .issued = now};
  if (op.cursor >= 0) {
    const uint64_t depth = state.launches[warp.launch].image->kernel->cursors[op.cursor].depth;
    command.stage = RingStage{static_cast<uint32_t>(warp.cursors[op.cursor] % depth)};
  }
  ++entries_[sub_core];
  schedule_start(sm, now);
}

void Tcgen05Unit::handle(Sm& sm, const Tcgen05Event& /*event*/, Cycle now) { try_start(sm, now); }

// A commit does not use the tensor cores: it leaves as soon as all earlier commands have started.
void Tcgen05Unit::schedule_start(Sm& sm, Cycle now) {
  if (next_start_ == next_id_) return;
  const bool product = at(next_start_).op->behaviour != isa::Behaviour::kTcgen05Commit;
  const Cycle next = product ? std::max(now, pipe_.free_at()) : now;
  if (next >= start_at_) return;
  start_at_ = next;
  sm.schedule(next, Tcgen05Event{});
}

void Tcgen05Unit::try_start(Sm& sm, Cycle now) {
  if (now != start_at_) return;
  start_at_ = kNever;
  while (next_start_ < next_id_) {
    Tcgen05Command& command = at(next_start_);
    if (command.op->behaviour == isa::Behaviour::kTcgen05Commit) {
      commit(sm, command, now);
    } else if (pipe_.free_at() <= now) {
      start(sm, command, now);
    } else {
      break;
    }
    ++next_start_;
    const bool was_full = entries_[command.sub_core]-- == sm.spec().tcgen05_queue_entries;
    if (was_full) sm.sub_core(command.sub_core).tensor_room(sm, isa::Pipe::kTcgen05, command.delay, now);
  }
  schedule_start(sm, now);
}

void Tcgen05Unit::start(Sm& sm, Tcgen05Command& command, Cycle now) {
  const ProductOwner& owner = command.owner;
  const MicroOp& op = *command.op;
  Cta* const cta = sm.state().cta_lives(owner.cta, owner.cta_serial) ? &sm.state().ctas[owner.cta] : nullptr;
  Arrival* const before = cta != nullptr ? &cta->product_started : nullptr;
  const uint32_t others = sm.memory().reserve_for_tensor(sm, now, tcgen05_wavefronts(sm.spec(), op), owner.launch);
  command.delay = pipe_.start(sm, owner, command.delay, command.issued, interval(sm.spec(), op, others), before, now);
  if (op.behaviour == isa::Behaviour::kTcgen05Mma) busy_ += tcgen05_cycles(sm.spec(), op);
  if (cta == nullptr) return;
  const Cycle complete = now + latency(sm.spec(), op);
  if (complete < cta->products_complete) return;
  cta->products_complete = complete;
  cta->product_delay = command.delay;
}

void Tcgen05Unit::commit(Sm& sm, const Tcgen05Command& command, Cycle now) {
  const auto& [launch, row, index, serial] = command.owner;
  if (!sm.state().cta_lives(index, serial)) return;
  const Cta& cta = sm.state().ctas[index];
  const bool waits = cta.products_complete > now;
  sm.schedule(std::max(now, cta.products_complete), BarrierEvent{.kind = BarrierEvent::Kind::kArrive,
                                                                 .cta = static_cast<uint16_t>(index),
                                                                 .barrier = static_cast<uint16_t>(command.op->barrier),
                                                                 .stage = command.stage,
                                                                 .serial = serial,
                                                                 .delay = waits ? cta.product_delay : command.delay});
}

void Tcgen05Unit::visit(Sm& sm, StateVisitor& visitor, Cycle blocked_since) {
  // The binding lists all fields. Commands count from the one that starts next. Not visited: entries, which follow from
  // the commands; a command's row, which follows from its op.
  [[maybe_unused]] auto& [commands, next_id, next_start, entries, pipe, start_at, busy] = *this;
  visitor.relative("tcgen05_waiting", next_id_ - next_start_);
  Cycle earliest = std::min(visitor.now(), blocked_since);
  for (uint64_t id = next_start_; id < next_id_; ++id) {
    Tcgen05Command& command = at(id);
    [[maybe_unused]] const auto& [owner, op, sub_core, stage, delay, issued] = command;
    earliest = std::min(earliest, issued);
    const bool lives = sm.state().cta_lives(owner.cta, owner.cta_serial);
    visitor.values("tcgen05_cta", owner.cta, "tcgen05_op", op->place);
    visitor.values("tcgen05_launch", owner.launch, "tcgen05_sub_core", sub_core, "tcgen05_cta_lives", lives);
    if (lives && op->barrier >= 0)
      visitor.relative("tcgen05_stage", std::to_underlying(stage_from_origin(sm, owner.cta, op->barrier, stage)));
    visit_delay(sm, "tcgen05_delay", owner.launch, owner.cta, owner.cta_serial, delay, visitor);
    visitor.moment("tcgen05_issued", command.issued);
  }
  pipe_.visit(sm, visitor, false, earliest);
  visitor.time("tcgen05_start", start_at_);
  visitor.count(busy_);
}

}  // namespace warpfold::sim
