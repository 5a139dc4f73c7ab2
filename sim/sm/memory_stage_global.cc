// The memory stage's requests that leave the SM: loads, stores and bulk copies, at the SM's own rates or against the chip's memory.
#include <algorithm>

#include "sim/sm/memory_stage.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

using isa::Behaviour;

uint64_t MemoryStage::dram_share(const MemoryRequest& request, uint64_t bytes) {
  if (request.op->stream < 0) return 0;
  return to_dram_[request.launch][request.op->stream].take(bytes);
}

// L1 has all that the request asks for.
bool MemoryStage::hits_l1(const MemoryRequest& request) {
  if (request.op->stream < 0) return false;
  return in_l1_[request.launch][request.op->stream].take(1) != 0;
}

// Asks L2 and DRAM for what the request needs of them: the reply comes at once where the SM has rates of its own.
void MemoryStage::ask_memory(Sm& sm, MemoryRequest& request, Cycle now) {
  const MicroOp& op = *request.op;
  --outbound_;
  const bool writes = op.behaviour == Behaviour::kStoreGlobal || op.behaviour == Behaviour::kBulkStore;
  const bool in_l1 = hits_l1(request);
  const uint64_t dram = in_l1 ? 0 : dram_share(request, op.bytes);
  LaunchAccount& account = sm.ledger().launch(request.launch);
  account.served_bytes += op.bytes;
  account.l1_bytes += in_l1 ? op.bytes : 0;
  account.dram_bytes += dram;
  if (in_l1) {
    TransferUnderWay passed{.request = request, .asked = now, .in_l1 = true};
    transfer_passed(sm, passed, {});
    return;
  }
  const MemoryShare::Transfer transfer{
      .write = writes, .bytes = op.bytes, .multicast = writes ? 1U : op.multicast, .dram_bytes = dram, .launch = request.launch};
  if (sm.chip() == nullptr || op.bytes == 0) {  // nothing is to be served of what moves nothing
    const Reply reply = memory_.pass(now, transfer);
    TransferUnderWay passed{.request = request, .asked = now, .from_dram = dram > 0};
    transfer_passed(sm, passed, reply);
    return;
  }
  const auto free = std::ranges::find_if(transfers_, [](const auto& each) { return !each.under_way; });
  const auto number = static_cast<uint32_t>(free - transfers_.begin());
  if (free == transfers_.end()) transfers_.emplace_back();
  transfers_[number] = {.request = request, .asked = now, .from_dram = dram > 0, .under_way = true};
  memory_.pass_to(*sm.chip(), sm.lane(), number, now, transfer);
}

void MemoryStage::transferred(Sm& sm, uint32_t transfer, const Reply& reply) {
  transfers_[transfer].under_way = false;
  TransferUnderWay passed = transfers_[transfer];
  transfer_passed(sm, passed, reply);
}

void MemoryStage::transfer_passed(Sm& sm, TransferUnderWay& transfer, const Reply& reply) {
  switch (transfer.request.op->behaviour) {
    case Behaviour::kBulkLoad:
      return pass_bulk(sm, transfer, reply);
    case Behaviour::kStoreGlobal:
    case Behaviour::kBulkStore:
      return pass_store(sm, transfer, reply);
    default:
      return pass_load(sm, transfer, reply);
  }
}

void MemoryStage::finish_global(Sm& sm, MemoryRequest& request, Cycle now) {
  release_late(sm, request);
  ask_memory(sm, request, now);
}

namespace {

// A buffer is held until the transfer has passed the ports, so that a saturated memory pushes back.
Cycle soonest_of(const Sm& sm, const TransferUnderWay& transfer) {
  return transfer.asked + std::max<Cycle>(sm.spec().data_stage_rate.at_rate(transfer.request.op->wavefronts), 1);
}

SubCoreEvent to_warp(SubCoreEvent::Kind kind, const MemoryRequest& request) {
  return {.kind = kind,
          .sub_core = static_cast<uint8_t>(request.sub_core),
          .slot = static_cast<uint8_t>(request.slot),
          .serial = request.warp_serial,
          .value = request.group,
          .delay = request.delay};
}

}  // namespace

void MemoryStage::pass_store(Sm& sm, TransferUnderWay& transfer, const Reply& reply) {
  MemoryRequest& request = transfer.request;
  const Cycle soonest = soonest_of(sm, transfer);
  const Cycle left = std::max(reply.transferred, soonest);
  sm.schedule(left, MemoryEvent{MemoryEvent::Kind::kCredit});
  charge_transfer(sm, request, reply, left - std::max(reply.uncontended, soonest));
  using enum SubCoreEvent::Kind;
  sm.schedule(left, to_warp(request.op->behaviour == Behaviour::kBulkStore ? kBulkStored : kStored, request));
}

void MemoryStage::pass_load(Sm& sm, TransferUnderWay& transfer, const Reply& reply) {
  MemoryRequest& request = transfer.request;
  const MicroOp& op = *request.op;
  sm.schedule(std::max(reply.transferred, soonest_of(sm, transfer)), MemoryEvent{MemoryEvent::Kind::kCredit});
  const uint32_t latency = transfer.from_dram ? sm.spec().memory.dram_latency : sm.spec().memory.l2_hit_latency;
  const Cycle hit = request.issued + request.queued + op.result_cycles;
  const auto arrives = [&](Cycle passed) { return std::max(hit, passed + latency - sm.spec().memory_transit); };
  const bool moves = op.bytes > 0 && !transfer.in_l1;
  const Cycle arrival = moves ? arrives(reply.transferred) : hit;
  if (moves) charge_transfer(sm, request, reply, arrival - arrives(reply.uncontended));
  if (op.behaviour == Behaviour::kCopyAsync) {
    sm.schedule(arrival, to_warp(SubCoreEvent::Kind::kAsyncCopied, request));
    this->reply(sm, request, arrival);
    return;
  }
  this->reply(sm, request, return_load(sm, request, arrival));
}

// Back to the register file. Returns when the last register has come.
Cycle MemoryStage::return_load(Sm& sm, MemoryRequest& request, Cycle arrival) {
  const auto [end, behind] = returns_[request.sub_core].take(sm.state().now, return_margin(sm), arrival,
                                                             return_cycles(sm.spec(), *request.op), request.launch);
  charge(sm, request, behind, Contended::kLoadReturn, end - arrival);
  return end;
}

// The engine takes up a copy every `bulk_copy_issue` cycles. A copy asks for bandwidth when it is taken up, behind what other
// instructions and other SMs have asked for until then.
void MemoryStage::queue_bulk(Sm& sm, MemoryRequest& request, Cycle now) {
  const Cycle start = std::max(now, bulk_free_);
  charge(sm, request, bulk_history_, Contended::kBulkCopy, now, start);
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

void MemoryStage::pass_bulk(Sm& sm, TransferUnderWay& transfer, const Reply& reply) {
  MemoryRequest& request = transfer.request;
  const MicroOp& op = *request.op;
  charge_transfer(sm, request, reply, reply.transferred - reply.uncontended);
  const uint32_t latency = transfer.from_dram ? sm.spec().memory.bulk_dram_latency : sm.spec().memory.bulk_hit_latency;
  sm.schedule(reply.transferred + latency, BarrierEvent{.kind = BarrierEvent::Kind::kBytes,
                                                        .cta = static_cast<uint16_t>(request.cta),
                                                        .barrier = static_cast<uint16_t>(op.barrier),
                                                        .stage = request.stage,
                                                        .serial = request.cta_serial,
                                                        .value = op.bytes,
                                                        .delay = request.delay});
}

// ---- between the chip's memory and rates of its own

// What has been asked for at the SM's own rates arrives as it would have; what is asked for next comes behind it.
void MemoryStage::join_chip(Sm& sm, Cycle now, uint64_t sms) {
  // Classes that have run apart are not all at the same time.
  sm.chip()->open_lane(now, sm.lane(), sms, memory_.backlog(std::max(now, sm.state().now)));
}

// All that the chip was asked for has been given back (transferred).
void MemoryStage::leave_chip(Cycle now, const MemoryRates& rates, const ChipMemory::Backlog& backlog) {
  transfers_.clear();
  memory_.set_rates(now, rates);
  memory_.set_backlog(now, backlog);
}

}  // namespace warpfold::sim
