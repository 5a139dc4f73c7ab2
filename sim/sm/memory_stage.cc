#include "sim/sm/memory_stage.h"

#include <algorithm>

#include "sim/sm/sm.h"

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

MemoryStage::MemoryStage(const Spec& spec, Sm& sm, Account& account, ChipMemory* chip)
    : spec_(spec),
      sm_(&sm),
      account_(&account),
      memory_(spec.memory, chip),
      queues_(spec.sub_cores),
      data_queue_(spec.memory_credits),
      credits_(spec.memory_credits),
      stage_(spec.memory_issue_rate.thousandths(), Factor::kOne * spec.memory_issue_interval),
      data_(spec.data_stage_rate.thousandths(), Factor::kOne),
      return_free_(spec.sub_cores, 0),
      return_holder_(spec.sub_cores, 0) {
  for (Queue& queue : queues_) queue.entries.resize(spec.memory_queue_entries);
}

// What others cost a request, whoever waits for it inherits.
void MemoryStage::charge(Request& request, int culprit, Contended resource, Cycle cycles) {
  account_->charge_request(row_of(request), culprit, resource, cycles);
  const bool by_others = culprit != request.launch;
  if (by_others || sm_->coupled(request.launch))
    sm_->hold_up(request.delay, request.launch, request.cta, request.cta_serial, delay_by(cycles, by_others));
}

void MemoryStage::charge(Request& request, const HoldHistory& holders, Contended resource, Cycle from, Cycle to) {
  holders.charge(from, to, request.launch, [&](int culprit, uint64_t cycles) { charge(request, culprit, resource, cycles); });
}

// The last `delay` cycles that the transfer waited, which are those that its reply is late by.
void MemoryStage::charge_transfer(Request& request, const Passage& passage, Cycle delay) {
  charge(request, *passage.holders, passage.resource, passage.wait_end - delay, passage.wait_end);
}

void MemoryStage::add_streams(int launch, const std::vector<traces::MemoryStream>& streams) {
  if (fractions_.size() <= static_cast<size_t>(launch)) fractions_.resize(launch + 1);
  for (const traces::MemoryStream& stream : streams)
    fractions_[launch].emplace_back(stream.dram_numerator, stream.dram_denominator);
}

int MemoryStage::queue_holder(int sub_core) const { return queues_[sub_core].front().launch; }

// A queue whose head does not leave the SM may hide a request that does.
Cycle MemoryStage::next_access() const {
  if (outbound_ == 0) return kNever;
  Cycle next = bulk_queue_.empty() ? kNever : bulk_queue_.front().start;
  for (const Queue& queue : queues_) {
    if (queue.size > 0) next = std::min(next, queue.front().ready);
  }
  return data_size_ > 0 ? std::min(next, data_.free_at()) : next;
}

// ---- sub-core queue and SM-shared stage

void MemoryStage::enqueue(const Request& request) {
  Queue& queue = queues_[request.sub_core];
  if (request.op->global) ++outbound_;
  queue.entries[(queue.head + queue.size++) % queue.entries.size()] = request;
  if (queue.size > 1) return;
  reach_head(queue);
  schedule_arbitration(request.issued);
}

// Address generation takes one instruction at a time. It reads the address registers, so that a load's sources are free
// before the shared stage accepts it; a store's data is read on the way to the data stage (release_sources).
void MemoryStage::reach_head(Queue& queue) {
  Request& request = queue.front();
  request.ready = request.issued + spec_.memory_transit;
  if (queue.accepted_before) request.ready = std::max(request.ready, queue.last_accept + spec_.address_generation_interval);
  if (reads_early(*request.op)) release_sources(request, request.ready - spec_.memory_transit + request.op->release_cycles);
}

bool MemoryStage::reads_early(const MicroOp& op) const { return op.release_cycles < spec_.memory_transit; }

void MemoryStage::schedule_arbitration(Cycle now) {
  Cycle next = kNever;
  for (const Queue& queue : queues_) {
    if (queue.size > 0) next = std::min(next, queue.front().ready);
  }
  if (next == kNever || credits_ == 0) return;
  next = std::max({next, stage_.free_at(), now});
  if (next >= arbitration_at_) return;
  arbitration_at_ = next;
  sm_->schedule(next, {.type = Sm::EventType::kArbitrate});
}

// Oldest ready request first; requests ready in the same cycle take turns round the sub-cores.
void MemoryStage::arbitrate(Cycle now) {
  if (now != arbitration_at_) return;  // superseded by an earlier one
  arbitration_at_ = kNever;
  int best = -1;
  const auto cores = static_cast<int>(queues_.size());
  for (int i = 1; i <= cores; ++i) {
    const int core = (last_sub_core_ + i + cores) % cores;
    const Queue& queue = queues_[core];
    if (queue.size == 0 || queue.front().ready > now) continue;
    if (best < 0 || queue.front().ready < queues_[best].front().ready) best = core;
  }
  if (best >= 0 && credits_ > 0 && stage_.free_at() <= now) accept(best, now);
  schedule_arbitration(now);
}

void MemoryStage::reset_arbiters() {
  last_sub_core_ = -1;
  for (HoldHistory* history : {&bulk_history_, &stage_history_, &data_history_}) history->clear();
}

void MemoryStage::accept(int sub_core, Cycle now) {
  Queue& queue = queues_[sub_core];
  Request request = queue.front();
  queue.pop();
  queue.last_accept = now;
  queue.accepted_before = true;
  if (queue.size > 0) reach_head(queue);
  last_sub_core_ = sub_core;
  charge(request, stage_history_, Contended::kMemoryQueue, request.ready, now);
  stage_history_.hold(now, request.launch);
  stage_.serve(now, 1);
  request.queued = now - (request.issued + spec_.memory_transit);
  sm_->schedule(now + 1, {.type = Sm::EventType::kQueueEntry, .sub_core = static_cast<uint8_t>(sub_core)});
  dispatch(request, now);
}

void MemoryStage::dispatch(Request& request, Cycle now) {
  const MicroOp& op = *request.op;
  if (uses_data_stage(op.behaviour)) {
    --credits_;
    request.enqueued = now;
    data_queue_[(data_head_ + data_size_++) % data_queue_.size()] = request;
    run_data_stage(now);
    return;
  }
  switch (op.behaviour) {
    case Behaviour::kBulkLoad:
      queue_bulk(request, now);
      break;
    case Behaviour::kMbarrierArrive:
      sm_->schedule(now, {.type = Sm::EventType::kMbarrierArrive,
                          .cta = static_cast<uint16_t>(request.cta),
                          .ring = static_cast<uint16_t>(op.barrier),
                          .stage = request.stage,
                          .serial = request.cta_serial,
                          .value = op.tx_bytes,
                          .delay = request.delay});
      break;
    default:
      break;
  }
  release_late(request);
  reply(request, request.issued + request.queued + op.result_cycles);
}

// ---- data stage

void MemoryStage::reserve_for_wgmma(Cycle start, uint32_t wavefronts, int launch) {
  data_.serve(start, wavefronts);
  data_history_.hold(start, launch);
}

void MemoryStage::run_data_stage(Cycle now) {
  if (now == data_at_) data_at_ = kNever;
  while (data_size_ > 0 && data_.free_at() <= now) {
    const Request request = data_queue_[data_head_];
    data_head_ = (data_head_ + 1) % data_queue_.size();
    --data_size_;
    serve(request, now);
  }
  if (data_size_ > 0 && data_.free_at() < data_at_) {
    data_at_ = data_.free_at();
    sm_->schedule(data_at_, {.type = Sm::EventType::kDataStage});
  }
}

void MemoryStage::serve(Request request, Cycle now) {
  const MicroOp& op = *request.op;
  const bool bulk = op.behaviour == Behaviour::kBulkStore;
  const uint32_t passes =
      bulk ? static_cast<uint32_t>((uint64_t{op.bytes} + kWavefrontBytes - 1) / kWavefrontBytes) : op.wavefronts;
  charge(request, data_history_, Contended::kSharedMemory, request.enqueued, now);
  data_history_.hold(now, request.launch);
  const Cycle passed = data_.serve(now, passes);
  request.queued += now - request.enqueued;
  if (op.global) {
    finish_global(request, now);
  } else {
    finish_shared(request);
    sm_->schedule(passed, {.type = Sm::EventType::kCredit});
  }
}

void MemoryStage::return_credit(Cycle now) {
  ++credits_;
  schedule_arbitration(now);
}

void MemoryStage::finish_shared(const Request& request) {
  release_late(request);
  reply(request, request.issued + request.queued + request.op->result_cycles + request.op->extra_wavefronts);
}

// ---- beyond the SM

uint64_t MemoryStage::dram_share(const Request& request, uint64_t bytes) {
  if (request.op->stream < 0) return 0;
  return fractions_[request.launch][request.op->stream].take(bytes);
}

void MemoryStage::finish_global(Request& request, Cycle now) {
  const MicroOp& op = *request.op;
  --outbound_;
  Sm::Event to_warp{.type = Sm::EventType::kStored,
                    .sub_core = static_cast<uint8_t>(request.sub_core),
                    .slot = static_cast<uint8_t>(request.slot),
                    .serial = request.warp_serial,
                    .value = request.group};
  const bool writes = op.behaviour == Behaviour::kStoreGlobal || op.behaviour == Behaviour::kBulkStore;
  LaunchAccount& account = account_->launch(request.launch);
  const uint64_t dram = dram_share(request, op.bytes);
  const MemoryShare::Reply moved =
      writes ? memory_.write(now, op.bytes, dram, request.launch) : memory_.read(now, op.bytes, op.multicast, dram, request.launch);
  account.l2_served_bytes += op.bytes;
  account.dram_bytes += dram;
  // The buffer is held until the transfer has passed the ports, so that a saturated memory pushes back.
  const Cycle soonest = now + std::max<Cycle>(spec_.data_stage_rate.at_rate(op.wavefronts), 1);
  const Cycle left = std::max(moved.transferred, soonest);
  sm_->schedule(left, {.type = Sm::EventType::kCredit});
  release_late(request);
  if (writes) {
    charge_transfer(request, moved.slowest, left - std::max(moved.uncontended, soonest));
    if (op.behaviour == Behaviour::kBulkStore) to_warp.type = Sm::EventType::kBulkStored;
    to_warp.delay = request.delay;
    sm_->schedule(left, to_warp);
    return;
  }
  const uint32_t from_memory = dram > 0 ? spec_.memory.dram_latency : spec_.memory.l2_hit_latency;
  const Cycle hit = request.issued + request.queued + op.result_cycles;
  const auto arrives = [&](Cycle transferred) { return std::max(hit, transferred + from_memory - spec_.memory_transit); };
  const Cycle arrival = op.bytes == 0 ? hit : arrives(moved.transferred);
  if (op.bytes > 0) charge_transfer(request, moved.slowest, arrival - arrives(moved.uncontended));
  if (op.behaviour == Behaviour::kCopyAsync) {
    to_warp.type = Sm::EventType::kAsyncCopied;
    to_warp.delay = request.delay;
    sm_->schedule(arrival, to_warp);
    reply(request, arrival);
    return;
  }
  reply(request, return_load(request, arrival));
}

// Back to the register file: a 32-bit register of a warp is 128 bytes. Returns when the last has come.
Cycle MemoryStage::return_load(Request& request, Cycle arrival) {
  const uint64_t bytes = uint64_t{request.op->load_registers} * kWavefrontBytes;
  const Cycle transfer = (bytes * 1000 + spec_.load_return_milli_bytes_per_clk - 1) / spec_.load_return_milli_bytes_per_clk;
  Cycle& path = return_free_[request.sub_core];
  path = std::max(arrival, path + transfer);
  charge(request, return_holder_[request.sub_core], Contended::kLoadReturn, path - arrival);
  return_holder_[request.sub_core] = request.launch;
  return path;
}

// The engine takes up a copy every `bulk_copy_issue` cycles. A copy asks for bandwidth when it is taken up, behind what other
// instructions and other SMs have asked for until then.
void MemoryStage::queue_bulk(Request& request, Cycle now) {
  const Cycle start = std::max(now, bulk_free_);
  charge(request, bulk_history_, Contended::kBulkCopy, now, start);
  bulk_history_.hold(start, request.launch);
  bulk_free_ = start + spec_.bulk_copy_issue;
  if (start == now) {
    copy_bulk(request, now);
    return;
  }
  bulk_queue_.push_back({request, start});
  sm_->schedule(start, {.type = Sm::EventType::kBulkStart});
}

void MemoryStage::start_bulk(Cycle now) {
  Request request = bulk_queue_.front().request;
  bulk_queue_.erase(bulk_queue_.begin());
  copy_bulk(request, now);
}

void MemoryStage::copy_bulk(Request& request, Cycle now) {
  const MicroOp& op = *request.op;
  --outbound_;
  LaunchAccount& account = account_->launch(request.launch);
  const uint64_t dram = dram_share(request, op.bytes);
  const MemoryShare::Reply moved = memory_.read(now, op.bytes, op.multicast, dram, request.launch);
  charge_transfer(request, moved.slowest, moved.transferred - moved.uncontended);
  account.l2_served_bytes += op.bytes;
  account.dram_bytes += dram;
  const uint32_t latency = dram > 0 ? spec_.memory.bulk_dram_latency : spec_.memory.bulk_hit_latency;
  sm_->schedule(moved.transferred + latency, {.type = Sm::EventType::kBulkLoaded,
                                              .cta = static_cast<uint16_t>(request.cta),
                                              .ring = static_cast<uint16_t>(op.barrier),
                                              .stage = request.stage,
                                              .serial = request.cta_serial,
                                              .value = op.bytes,
                                              .delay = request.delay});
}

// ---- back to the warp

void MemoryStage::reply(const Request& request, Cycle at) {
  const MicroOp& op = *request.op;
  if (op.write_counter >= 6) return;
  sm_->schedule(at, {.type = op.load_registers > 0 ? Sm::EventType::kLoadResult : Sm::EventType::kCounter,
                     .sub_core = static_cast<uint8_t>(request.sub_core),
                     .slot = static_cast<uint8_t>(request.slot),
                     .counter = op.write_counter,
                     .serial = request.warp_serial,
                     .value = static_cast<uint64_t>(op.writes[0]) | static_cast<uint64_t>(op.writes[1]) << 8,
                     .delay = request.delay});
}

void MemoryStage::release_late(const Request& request) {
  if (!reads_early(*request.op)) release_sources(request, request.issued + request.queued + request.op->release_cycles);
}

void MemoryStage::release_sources(const Request& request, Cycle at) {
  if (request.op->read_counter >= 6) return;
  sm_->schedule(at, {.type = Sm::EventType::kCounter,
                     .sub_core = static_cast<uint8_t>(request.sub_core),
                     .slot = static_cast<uint8_t>(request.slot),
                     .counter = request.op->read_counter,
                     .serial = request.warp_serial,
                     .delay = request.delay});
}

}  // namespace warpfold::sim
