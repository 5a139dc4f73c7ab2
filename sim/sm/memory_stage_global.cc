// Requests of the memory stage that leave the SM: loads, stores and bulk copies. They are served at the SM's own rates
// or by the chip's memory.
#include <algorithm>

#include "sim/sm/listener.h"
#include "sim/sm/memory_stage.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

using isa::Behaviour;

// Takes the request from its stream's shares. L1 is shared while another launch has CTAs on the SM, L2 while another
// launch is under way on the chip.
MemoryStage::Moved MemoryStage::moved_by(const Sm& sm, const MemoryRequest& request) {
  const MicroOp& op = *request.op;
  if (op.stream < 0) return {.bytes = op.bytes, .l2_bytes = op.l2_bytes};
  const SmState& state = sm.state();
  std::vector<StreamShares>& alone = alone_[request.launch];
  std::vector<StreamShares>& beside = beside_[request.launch];
  StreamShares& of_l1 = (!beside.empty() && state.others_resident(request.launch) ? beside : alone)[op.stream];
  StreamShares& of_l2 = (!beside.empty() && state.others_under_way(request.launch) ? beside : alone)[op.stream];
  if (of_l1.in_l1.take(1) != 0) return {.in_l1 = true};
  const auto bytes = static_cast<uint32_t>(traces::moved_bytes(*of_l1.stream, op.bytes));
  const auto l2_bytes = static_cast<uint32_t>(traces::moved_bytes(*of_l1.stream, op.l2_bytes));
  return {.bytes = bytes, .l2_bytes = l2_bytes, .dram_bytes = of_l2.to_dram.take(bytes)};
}

uint32_t MemoryStage::place_of_transfer() {
  if (free_transfers_.empty()) {
    transfers_.emplace_back();
    return static_cast<uint32_t>(transfers_.size() - 1);
  }
  const uint32_t place = free_transfers_.back();
  free_transfers_.pop_back();
  return place;
}

// Asks L2 and DRAM for the bytes that the request needs of them.
void MemoryStage::ask_memory(Sm& sm, MemoryRequest& request, Cycle now) {
  const MicroOp& op = *request.op;
  --outbound_;
  if (arrives_at_grid(op) && sm.state().cta_lives(request.cta, request.cta_serial)) ++sm.state().ctas[request.cta].grid_arrivals;
  const bool bulk = op.behaviour == Behaviour::kBulkLoad;
  const bool writes = writes_memory(op);
  const Moved moved = moved_by(sm, request);
  tell(sm, RequestServed{request.launch, op.bytes, uint64_t{op.bytes} - moved.bytes, moved.dram_bytes});
  // The data stage moves a request for as long as its wavefronts take.
  const Cycle soonest = now + std::max<Cycle>(sm.spec().data_stage_rate.at_rate(op.wavefronts), 1);
  if (moved.in_l1 || (op.bytes == 0 && !writes && !bulk)) {
    sm.schedule(soonest, MemoryEvent{MemoryEvent::Kind::kCredit});
    return load_arrives(sm, request, l1_hit_at(request));
  }
  const MemoryShare::Transfer transfer{
      .write = writes, .bytes = moved.bytes, .l2_bytes = moved.l2_bytes, .dram_bytes = moved.dram_bytes, .launch = request.launch};
  const Passage port = memory_.pass_port(now, transfer);
  const uint32_t number = place_of_transfer();
  transfers_[number] = {
      .request = request, .sequence = asked_++, .bytes = moved.bytes, .from_dram = moved.dram_bytes > 0, .under_way = true};
  if (sm.shares_memory() && op.bytes > 0) {
    sm.outbox().push_back({now, memory_.ask_chip(number, transfer, port)});
  } else {
    take_reply(sm, number, memory_.pass(now, transfer, port));
  }
  if (!bulk) leave(sm, moved.bytes, writes ? egress_ : ingress_, std::max(port.end, soonest));
}

void MemoryStage::take_reply(Sm& sm, uint32_t transfer, const Reply& reply) {
  TransferUnderWay& of = transfers_[transfer];
  of.late = reply.transferred - reply.uncontended;
  of.slowest = reply.slowest;
  of.lost = reply.lost;
  const ComingReply coming{reply.transferred + sm.spec().memory_reply, of.sequence, transfer};
  replies_.insert(std::ranges::upper_bound(replies_, coming), coming);
  next_reply_ = replies_.front().at;
  if (arrives_at_grid(*of.request.op)) arrive_at_grid(sm, of.request, reply.transferred);
}

void MemoryStage::take_replies(Sm& sm, Cycle now) {
  size_t taken = 0;
  while (taken < replies_.size() && replies_[taken].at == now) {
    const uint32_t number = replies_[taken++].transfer;
    TransferUnderWay& transfer = transfers_[number];
    switch (transfer.request.op->behaviour) {
      case Behaviour::kBulkLoad:
        take_bulk(sm, transfer, now);
        break;
      case Behaviour::kStoreGlobal:
      case Behaviour::kBulkStore:
        take_store(sm, transfer, now);
        break;
      default:
        waits_at_grid(*transfer.request.op) ? take_poll(sm, transfer, now) : take_load(sm, transfer, now);
    }
    transfer.under_way = false;
    free_transfers_.push_back(number);
  }
  replies_.erase(replies_.begin(), replies_.begin() + static_cast<ptrdiff_t>(taken));
  next_reply_ = replies_.empty() ? kNever : replies_.front().at;
}

void MemoryStage::finish_global(Sm& sm, MemoryRequest& request, Cycle now) {
  release_late(sm, request);
  ask_memory(sm, request, now);
}

namespace {

SubCoreEvent to_warp(SubCoreEvent::Kind kind, const MemoryRequest& request) {
  return {.kind = kind,
          .sub_core = static_cast<uint8_t>(request.sub_core),
          .slot = static_cast<uint8_t>(request.slot),
          .serial = request.warp_serial,
          .value = request.group,
          .delay = request.delay};
}

}  // namespace

// Requests leave in the order in which they pass the port.
void MemoryStage::leave(Sm& sm, uint32_t bytes, PortQueue& port, Cycle passed) {
  port.leaving.push_back({bytes, passed});
  port.leaving_bytes += bytes;
  port.unacknowledged += bytes;
  sm.schedule(passed, MemoryEvent{MemoryEvent::Kind::kLeaves});
}

void MemoryStage::release(Sm& sm, PortQueue& port, Cycle now) {
  size_t left = 0;
  while (left < port.leaving.size() && port.leaving[left].passed <= now &&
         port.unacknowledged <= port.leaving_bytes + port.window) {
    port.leaving_bytes -= port.leaving[left++].bytes;
    return_credit(sm, now);
  }
  port.leaving.erase(port.leaving.begin(), port.leaving.begin() + static_cast<ptrdiff_t>(left));
}

void MemoryStage::take_store(Sm& sm, TransferUnderWay& transfer, Cycle now) {
  MemoryRequest& request = transfer.request;
  egress_.unacknowledged -= transfer.bytes;
  release(sm, egress_, now);
  tell(sm, TransferWaited{request, transfer, transfer.late});
  using enum SubCoreEvent::Kind;
  sm.schedule(now, to_warp(request.op->behaviour == Behaviour::kBulkStore ? kBulkStored : kStored, request));
}

Cycle MemoryStage::l1_hit_at(const MemoryRequest& request) const {
  return request.issued + request.queued + request.op->result_cycles;
}

// Cycles from the service of a load in L2 or DRAM to the arrival of its data.
Cycle MemoryStage::way_back(const Sm& sm, const TransferUnderWay& transfer) const {
  const uint32_t latency = transfer.from_dram ? sm.spec().memory.dram_latency : sm.spec().memory.l2_hit_latency;
  return std::max<Cycle>(latency, sm.spec().memory_transit + sm.spec().memory_reply) - sm.spec().memory_transit;
}

Cycle MemoryStage::arrival_of(const Sm& sm, const TransferUnderWay& transfer, Cycle reply) const {
  return std::max(l1_hit_at(transfer.request), reply - sm.spec().memory_reply + way_back(sm, transfer));
}

void MemoryStage::take_load(Sm& sm, TransferUnderWay& transfer, Cycle now) {
  MemoryRequest& request = transfer.request;
  ingress_.unacknowledged -= transfer.bytes;
  release(sm, ingress_, now);
  const Cycle arrival = arrival_of(sm, transfer, now);
  tell(sm, TransferWaited{request, transfer, arrival - arrival_of(sm, transfer, now - transfer.late)});
  load_arrives(sm, request, arrival + (arrives_at_grid(*request.op) ? fence_cycles(sm.spec()) : 0));
}

void MemoryStage::load_arrives(Sm& sm, MemoryRequest& request, Cycle arrival) {
  if (request.op->behaviour == Behaviour::kCopyAsync) {
    sm.schedule(arrival, to_warp(SubCoreEvent::Kind::kAsyncCopied, request));
    return reply(sm, request, arrival);
  }
  reply(sm, request, return_load(sm, request, arrival));
}

// Sends the load back to the register file. Returns the cycle in which the last register arrives.
Cycle MemoryStage::return_load(Sm& sm, MemoryRequest& request, Cycle arrival) {
  const auto [end, waited_for] = returns_[request.sub_core].take(sm.state().now, return_margin(sm), arrival,
                                                                 return_cycles(sm.spec(), *request.op), request.launch);
  tell(sm, RequestWaited{request, waited_for, Contended::kLoadReturn, end - arrival});
  return end;
}

// The engine starts a copy every `bulk_copy_issue` cycles. A copy asks for bandwidth when it starts, behind earlier
// requests of other instructions and of other SMs.
void MemoryStage::queue_bulk(Sm& sm, MemoryRequest& request, Cycle now) {
  const Cycle start = std::max(now, bulk_free_);
  tell(sm, RequestQueued{request, bulk_history_, Contended::kBulkCopy, now, start});
  bulk_history_.hold(start, request.launch);
  bulk_free_ = start + sm.spec().bulk_copy_issue;
  if (start == now) {
    copy_bulk(sm, request, now);
    return;
  }
  bulk_queue_.push_back({request, start});
  sm.schedule(start, MemoryEvent{MemoryEvent::Kind::kBulkStart});
}

void MemoryStage::start_bulk(Sm& sm, Cycle now) {
  MemoryRequest request = bulk_queue_.front().request;
  bulk_queue_.erase(bulk_queue_.begin());
  copy_bulk(sm, request, now);
}

void MemoryStage::copy_bulk(Sm& sm, MemoryRequest& request, Cycle now) { ask_memory(sm, request, now); }

void MemoryStage::take_bulk(Sm& sm, TransferUnderWay& transfer, Cycle now) {
  MemoryRequest& request = transfer.request;
  const MicroOp& op = *request.op;
  tell(sm, TransferWaited{request, transfer, transfer.late});
  const uint32_t latency = transfer.from_dram ? sm.spec().memory.bulk_dram_latency : sm.spec().memory.bulk_hit_latency;
  const Cycle passed = now - sm.spec().memory_reply;
  sm.schedule(std::max(passed + latency, now), BarrierEvent{.kind = BarrierEvent::Kind::kBytes,
                                                            .cta = static_cast<uint16_t>(request.cta),
                                                            .barrier = static_cast<uint16_t>(op.barrier),
                                                            .stage = request.stage,
                                                            .serial = request.cta_serial,
                                                            .value = op.bytes,
                                                            .delay = request.delay});
}

// ---- between the chip's memory and the SM's own rates

// Transfers requested at the SM's own rates arrive as planned; later requests come behind them.
ChipMemory::Backlog MemoryStage::join_chip(const Sm& sm, Cycle now) {
  // SM classes that ran separately may be in different cycles.
  return memory_.backlog(std::max(now, sm.state().now));
}

// Requires that the chip has replied to all transfers (take_reply).
void MemoryStage::leave_chip(Cycle now, const MemoryRates& rates, const ChipMemory::Backlog& backlog) {
  memory_.set_rates(now, rates);
  memory_.set_backlog(now, backlog);
}

}  // namespace warpfold::sim
