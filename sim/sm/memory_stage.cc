#include "sim/sm/memory_stage.h"

#include <algorithm>

#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {
namespace {

using isa::Behaviour;

bool uses_data_stage(Behaviour behaviour) {
  switch (behaviour) {
    case Behaviour::kLoadGlobal:
    case Behaviour::kStoreGlobal:
    case Behaviour::kLoadShared:
    case Behaviour::kStoreShared:
    case Behaviour::kLoadMatrix:
    case Behaviour::kCopyAsync:
    case Behaviour::kShuffle:
    case Behaviour::kBulkStore:
      return true;
    default:
      return false;
  }
}

constexpr uint32_t kWavefrontBytes = 128;

}  // namespace

MemoryStage::MemoryStage(const Spec& spec, const std::vector<SmLaunch>& launches)
    : memory_(spec.memory),
      queues_(spec.sub_cores),
      data_queue_(spec.memory_credits),
      credits_(spec.memory_credits),
      stage_(spec.memory_issue_rate.thousandths(), Factor::kOne * spec.memory_issue_interval),
      data_(spec.data_stage_rate.thousandths(), Factor::kOne),
      return_free_(spec.sub_cores, 0),
      return_holder_(spec.sub_cores, 0),
      to_dram_(launches.size()),
      in_l1_(launches.size()) {
  for (MemoryQueue& queue : queues_) queue.entries.resize(spec.memory_queue_entries);
  for (size_t l = 0; l < launches.size(); ++l) {
    for (const traces::MemoryStream& stream : launches[l].image->kernel->streams) {
      to_dram_[l].emplace_back(stream.dram_numerator, stream.dram_denominator);
      in_l1_[l].emplace_back(stream.l1_numerator, stream.l1_denominator);
    }
  }
}

uint32_t MemoryStage::row_of(const Sm& sm, const MemoryRequest& request) const {
  return sm.ledger().row(request.launch, request.op->segment);
}

// A warp that waits for a request inherits the request's delay.
void MemoryStage::charge(Sm& sm, MemoryRequest& request, int culprit, Contended resource, Cycle cycles) {
  sm.ledger().charge_request(row_of(sm, request), culprit, resource, cycles);
  const bool by_others = culprit != request.launch;
  if (by_others || sm.state().coupled(request.launch))
    hold_up(sm.state(), request.delay, request.launch, request.cta, request.cta_serial, delay_by(cycles, by_others));
}

void MemoryStage::charge(Sm& sm, MemoryRequest& request, const HoldHistory& holders, Contended resource, Cycle from, Cycle to) {
  holders.charge(from, to, request.launch, [&](int culprit, uint64_t cycles) { charge(sm, request, culprit, resource, cycles); });
}

// The `delay` cycles that its reply is late by. What other SMs that asked for the slowest server took of the transfer's time counts
// in proportion, and is charged to the launches that asked; the rest are the last cycles in which the transfer waited behind the
// SM's own requests.
void MemoryStage::charge_transfer(Sm& sm, MemoryRequest& request, const Reply& reply, Cycle delay) {
  const Passage& passage = reply.slowest;
  Cycle left = delay;
  const Cycle late = reply.transferred - reply.uncontended;
  for (size_t l = 0; l < reply.lost_to.size() && late > 0; ++l) {
    const Cycle lost = std::min(left, reply.lost_to[l] * delay / late);
    left -= lost;
    if (lost > 0) charge(sm, request, static_cast<int>(l), passage.resource, lost);
  }
  if (left > 0) charge(sm, request, *passage.holders, passage.resource, passage.wait_end - left, passage.wait_end);
}

int MemoryStage::queue_holder(int sub_core) const { return queues_[sub_core].front().launch; }

// A queue whose head does not leave the SM may hide a request that does.
Cycle MemoryStage::next_access() const {
  if (outbound_ == 0) return kNever;
  Cycle next = bulk_queue_.empty() ? kNever : bulk_queue_.front().start;
  for (const MemoryQueue& queue : queues_) {
    if (queue.size > 0) next = std::min(next, queue.front().ready);
  }
  return data_size_ > 0 ? std::min(next, data_.free_at()) : next;
}

void MemoryStage::handle(Sm& sm, const MemoryEvent& event, Cycle now) {
  using enum MemoryEvent::Kind;
  switch (event.kind) {
    case kArbitrate:
      return arbitrate(sm, now);
    case kDataStage:
      return run_data_stage(sm, now);
    case kCredit:
      return return_credit(sm, now);
    case kBulkStart:
      return start_bulk(sm, now);
  }
}

// ---- sub-core queue and SM-shared stage

void MemoryStage::enqueue(Sm& sm, const MemoryRequest& request) {
  MemoryQueue& queue = queues_[request.sub_core];
  if (request.op->global) ++outbound_;
  queue.entries[(queue.head + queue.size++) % queue.entries.size()] = request;
  if (queue.size > 1) return;
  reach_head(sm, queue);
  schedule_arbitration(sm, request.issued);
}

// Address generation takes one instruction at a time. It reads the address registers, so that a load's sources are free
// before the shared stage accepts it; a store's data is read on the way to the data stage (release_sources).
void MemoryStage::reach_head(Sm& sm, MemoryQueue& queue) {
  MemoryRequest& request = queue.front();
  request.ready = request.issued + sm.spec().memory_transit;
  if (queue.accepted_before) request.ready = std::max(request.ready, queue.last_accept + sm.spec().address_generation_interval);
  if (reads_early(sm, *request.op))
    release_sources(sm, request, request.ready - sm.spec().memory_transit + request.op->release_cycles);
}

bool MemoryStage::reads_early(const Sm& sm, const MicroOp& op) const { return op.release_cycles < sm.spec().memory_transit; }

void MemoryStage::schedule_arbitration(Sm& sm, Cycle now) {
  Cycle next = kNever;
  for (const MemoryQueue& queue : queues_) {
    if (queue.size > 0) next = std::min(next, queue.front().ready);
  }
  if (next == kNever || credits_ == 0) return;
  next = std::max({next, stage_.free_at(), now});
  if (next >= arbitration_at_) return;
  arbitration_at_ = next;
  sm.schedule(next, MemoryEvent{MemoryEvent::Kind::kArbitrate});
}

// Oldest ready request first; requests ready in the same cycle take turns round the sub-cores.
void MemoryStage::arbitrate(Sm& sm, Cycle now) {
  if (now != arbitration_at_) return;  // superseded by an earlier one
  arbitration_at_ = kNever;
  int best = -1;
  const auto cores = static_cast<int>(queues_.size());
  for (int i = 1; i <= cores; ++i) {
    const int core = (last_sub_core_ + i + cores) % cores;
    const MemoryQueue& queue = queues_[core];
    if (queue.size == 0 || queue.front().ready > now) continue;
    if (best < 0 || queue.front().ready < queues_[best].front().ready) best = core;
  }
  if (best >= 0 && credits_ > 0 && stage_.free_at() <= now) accept(sm, best, now);
  schedule_arbitration(sm, now);
}

void MemoryStage::reset_arbiters() {
  last_sub_core_ = -1;
  for (HoldHistory* history : {&bulk_history_, &stage_history_, &data_history_}) history->clear();
}

void MemoryStage::accept(Sm& sm, int sub_core, Cycle now) {
  MemoryQueue& queue = queues_[sub_core];
  MemoryRequest request = queue.front();
  queue.pop();
  queue.last_accept = now;
  queue.accepted_before = true;
  if (queue.size > 0) reach_head(sm, queue);
  last_sub_core_ = sub_core;
  charge(sm, request, stage_history_, Contended::kMemoryQueue, request.ready, now);
  stage_history_.hold(now, request.launch);
  stage_.serve(now, 1);
  request.queued = now - (request.issued + sm.spec().memory_transit);
  sm.schedule(now + 1, SubCoreEvent{.kind = SubCoreEvent::Kind::kQueueEntry, .sub_core = static_cast<uint8_t>(sub_core)});
  dispatch(sm, request, now);
}

void MemoryStage::dispatch(Sm& sm, MemoryRequest& request, Cycle now) {
  const MicroOp& op = *request.op;
  if (uses_data_stage(op.behaviour)) {
    --credits_;
    request.enqueued = now;
    data_queue_[(data_head_ + data_size_++) % data_queue_.size()] = request;
    run_data_stage(sm, now);
    return;
  }
  switch (op.behaviour) {
    case Behaviour::kBulkLoad:
      queue_bulk(sm, request, now);
      break;
    case Behaviour::kMbarrierArrive:
      sm.schedule(now, BarrierEvent{.kind = BarrierEvent::Kind::kArrive,
                                    .cta = static_cast<uint16_t>(request.cta),
                                    .barrier = static_cast<uint16_t>(op.barrier),
                                    .stage = request.stage,
                                    .serial = request.cta_serial,
                                    .value = op.tx_bytes,
                                    .delay = request.delay});
      break;
    default:
      break;
  }
  release_late(sm, request);
  reply(sm, request, request.issued + request.queued + op.result_cycles);
}

// ---- data stage

void MemoryStage::reserve_for_wgmma(Cycle start, uint32_t wavefronts, int launch) {
  data_.serve(start, wavefronts);
  data_history_.hold(start, launch);
}

void MemoryStage::run_data_stage(Sm& sm, Cycle now) {
  if (now == data_at_) data_at_ = kNever;
  while (data_size_ > 0 && data_.free_at() <= now) {
    const MemoryRequest request = data_queue_[data_head_];
    data_head_ = (data_head_ + 1) % data_queue_.size();
    --data_size_;
    serve(sm, request, now);
  }
  if (data_size_ > 0 && data_.free_at() < data_at_) {
    data_at_ = data_.free_at();
    sm.schedule(data_at_, MemoryEvent{MemoryEvent::Kind::kDataStage});
  }
}

void MemoryStage::serve(Sm& sm, MemoryRequest request, Cycle now) {
  const MicroOp& op = *request.op;
  const bool bulk = op.behaviour == Behaviour::kBulkStore;
  const uint32_t passes =
      bulk ? static_cast<uint32_t>((uint64_t{op.bytes} + kWavefrontBytes - 1) / kWavefrontBytes) : op.wavefronts;
  charge(sm, request, data_history_, Contended::kSharedMemory, request.enqueued, now);
  data_history_.hold(now, request.launch);
  const Cycle passed = data_.serve(now, passes);
  request.queued += now - request.enqueued;
  if (op.global) {
    finish_global(sm, request, now);
  } else {
    finish_shared(sm, request);
    sm.schedule(passed, MemoryEvent{MemoryEvent::Kind::kCredit});
  }
}

void MemoryStage::return_credit(Sm& sm, Cycle now) {
  ++credits_;
  schedule_arbitration(sm, now);
}

void MemoryStage::finish_shared(Sm& sm, const MemoryRequest& request) {
  release_late(sm, request);
  reply(sm, request, request.issued + request.queued + request.op->result_cycles + request.op->extra_wavefronts);
}

// ---- beyond the SM

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

// Back to the register file: a 32-bit register of a warp is 128 bytes. Returns when the last has come.
Cycle MemoryStage::return_load(Sm& sm, MemoryRequest& request, Cycle arrival) {
  const uint64_t bytes = uint64_t{request.op->load_registers} * kWavefrontBytes;
  const Cycle transfer = (bytes * 1000 + sm.spec().load_return_milli_bytes_per_clk - 1) / sm.spec().load_return_milli_bytes_per_clk;
  Cycle& path = return_free_[request.sub_core];
  path = std::max(arrival, path + transfer);
  charge(sm, request, return_holder_[request.sub_core], Contended::kLoadReturn, path - arrival);
  return_holder_[request.sub_core] = request.launch;
  return path;
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

// ---- back to the warp

void MemoryStage::reply(Sm& sm, const MemoryRequest& request, Cycle at) {
  const MicroOp& op = *request.op;
  if (op.write_counter >= 6) return;
  sm.schedule(at, SubCoreEvent{.kind = op.load_registers > 0 ? SubCoreEvent::Kind::kLoadResult : SubCoreEvent::Kind::kCounter,
                               .sub_core = static_cast<uint8_t>(request.sub_core),
                               .slot = static_cast<uint8_t>(request.slot),
                               .counter = op.write_counter,
                               .serial = request.warp_serial,
                               .value = static_cast<uint64_t>(op.writes[0]) | static_cast<uint64_t>(op.writes[1]) << 8,
                               .delay = request.delay});
}

void MemoryStage::release_late(Sm& sm, const MemoryRequest& request) {
  if (!reads_early(sm, *request.op)) release_sources(sm, request, request.issued + request.queued + request.op->release_cycles);
}

void MemoryStage::release_sources(Sm& sm, const MemoryRequest& request, Cycle at) {
  if (request.op->read_counter >= 6) return;
  sm.schedule(at, SubCoreEvent{.kind = SubCoreEvent::Kind::kCounter,
                               .sub_core = static_cast<uint8_t>(request.sub_core),
                               .slot = static_cast<uint8_t>(request.slot),
                               .counter = request.op->read_counter,
                               .serial = request.warp_serial,
                               .delay = request.delay});
}

}  // namespace warpfold::sim
