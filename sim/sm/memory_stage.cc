#include "sim/sm/memory_stage.h"

#include <algorithm>
#include <utility>

#include "sim/sm/listener.h"
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

constexpr uint32_t kRegisterBytes = 128;  // 32 bits of each thread of a warp

// Returns the request's wavefronts in the data stage.
uint32_t wavefronts_of(const MemoryRequest& request) {
  const MicroOp& op = *request.op;
  const bool bulk = op.behaviour == Behaviour::kBulkStore;
  return bulk ? static_cast<uint32_t>((uint64_t{op.bytes} + kWavefrontBytes - 1) / kWavefrontBytes) : op.wavefronts;
}

}  // namespace

Cycle return_cycles(const Spec& spec, const MicroOp& op) {
  const uint64_t bytes = uint64_t{op.load_registers} * kRegisterBytes;
  return (bytes * 1000 + spec.load_return_milli_bytes_per_clk - 1) / spec.load_return_milli_bytes_per_clk;
}

MemoryStage::MemoryStage(const Spec& spec, const std::vector<SmLaunch>& launches)
    : memory_(spec.memory),
      queues_(spec.sub_cores),
      data_queue_(spec.memory_credits),
      credits_(spec.memory_credits),
      stage_(spec.memory_issue_rate.thousandths(), Factor::kOne * spec.memory_issue_interval),
      data_(spec.data_stage_rate.thousandths(), Factor::kOne),
      returns_(spec.sub_cores),
      alone_(launches.size()),
      beside_(launches.size()),
      ingress_{.window = spec.memory_reply * spec.memory.ingress_milli_bytes_per_clk / 1000},
      egress_{.window = spec.memory_reply * spec.memory.egress_milli_bytes_per_clk / 1000},
      grid_(launches.size()) {
  for (MemoryQueue& queue : queues_) queue.entries.resize(spec.memory_queue_entries);
  for (size_t l = 0; l < launches.size(); ++l) {
    for (const traces::MemoryStream& stream : launches[l].image->kernel->streams) alone_[l].emplace_back(stream);
    if (launches[l].beside != nullptr) {
      for (const traces::MemoryStream& stream : *launches[l].beside) beside_[l].emplace_back(stream);
    }
    for (const Program& program : launches[l].image->programs) {
      for (const MicroOp& op : program.ops) longest_return_ = std::max(longest_return_, return_cycles(spec, op));
    }
  }
}

int MemoryStage::queue_holder(int sub_core) const { return queues_[sub_core].front().launch; }

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
    case kLeaves:
      release(sm, ingress_, now);
      return release(sm, egress_, now);
  }
}

// ---- sub-core queue and SM-shared stage

void MemoryStage::enqueue(Sm& sm, const MemoryRequest& request) {
  MemoryQueue& queue = queues_[request.sub_core];
  if (request.op->global) ++outbound_;
  queue.entries[(queue.head + queue.size++) % queue.entries.size()] = request;
  if (queue.size > 1) return;
  start_address_generation(sm, queue);
  schedule_arbitration(sm, request.issued);
}

// Starts address generation for the request at the head of the queue, one request at a time. Address generation reads
// the address registers, so that a load's sources are free before the shared stage accepts the load. A store's data is
// read on the way to the data stage (release_sources).
void MemoryStage::start_address_generation(Sm& sm, MemoryQueue& queue) {
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

// Accepts the request that has been ready longest. Of requests ready in the same cycle, sub-cores take turns.
void MemoryStage::arbitrate(Sm& sm, Cycle now) {
  if (now != arbitration_at_) return;  // an earlier arbitration replaced it
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
  if (queue.size > 0) start_address_generation(sm, queue);
  last_sub_core_ = sub_core;
  tell(sm, RequestQueued{request, stage_history_, Contended::kMemoryQueue, request.ready, now});
  stage_history_.hold(now, request.launch);
  stage_.serve(now, request.op->behaviour == Behaviour::kLoadConstant ? request.op->wavefronts : 1);
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
      // An arrival at the cluster's barrier releases no source. Its result is the arrival itself, which flies to the other SMs
      // first.
      sm.schedule(now + (op.release_cycles == 0 ? op.result_cycles : 0), BarrierEvent{.kind = BarrierEvent::Kind::kArrive,
                                                                                      .cta = static_cast<uint16_t>(request.cta),
                                                                                      .barrier = static_cast<uint16_t>(op.barrier),
                                                                                      .stage = request.stage,
                                                                                      .serial = request.cta_serial,
                                                                                      .value = op.tx_bytes,
                                                                                      .delay = request.delay});
      break;
    case Behaviour::kLoadConstant:
      request.queued += op.extra_wavefronts;
      break;
    default:
      break;
  }
  release_late(sm, request);
  reply(sm, request, request.issued + request.queued + op.result_cycles);
}

// ---- data stage

uint32_t MemoryStage::reserve_for_tensor(Sm& sm, Cycle now, uint32_t wavefronts, int launch) {
  const uint32_t others = data_size_ > 0 ? 1 : 0;
  if (others > 0) {
    const MemoryRequest& head = data_queue_[data_head_];
    if (wavefronts_of(head) > head_passed_ + 1) {
      ++head_passed_;
      data_.serve(now, 1);
      data_history_.hold(now, head.launch);
    } else {
      serve_head(sm, now);
    }
  }
  data_.serve(now, wavefronts);
  data_history_.hold(now, launch);
  return others;
}

void MemoryStage::run_data_stage(Sm& sm, Cycle now) {
  if (now == data_at_) data_at_ = kNever;
  while (data_size_ > 0 && data_.free_at() <= now) serve_head(sm, now);
  if (data_size_ > 0 && data_.free_at() < data_at_) {
    data_at_ = data_.free_at();
    sm.schedule(data_at_, MemoryEvent{MemoryEvent::Kind::kDataStage});
  }
}

void MemoryStage::serve_head(Sm& sm, Cycle now) {
  MemoryRequest request = data_queue_[data_head_];
  data_head_ = (data_head_ + 1) % data_queue_.size();
  --data_size_;
  const MicroOp& op = *request.op;
  tell(sm, RequestQueued{request, data_history_, Contended::kSharedMemory, request.enqueued, now});
  data_history_.hold(now, request.launch);
  const Cycle passed = data_.serve(now, wavefronts_of(request) - std::exchange(head_passed_, 0));
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
