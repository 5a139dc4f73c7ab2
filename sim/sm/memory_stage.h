#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/account/account.h"
#include "sim/account/hold_history.h"
#include "sim/memory/memory_share.h"
#include "sim/sm/event.h"
#include "sim/sm/program.h"
#include "sim/sm/return_path.h"
#include "sim/sm/sm_launch.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

class Sm;

// A memory instruction on its way through the SM.
struct MemoryRequest {
  const MicroOp* op = nullptr;
  int sub_core = 0;
  int slot = 0;
  int launch = 0;
  int cta = 0;
  uint64_t warp_serial = 0;
  uint64_t cta_serial = 0;
  RingStage stage{};   // ring stage that the cursor pointed at
  uint64_t group = 0;  // cp.async group
  Cycle issued = 0;
  Cycle ready = 0;     // earliest acceptance by the shared stage
  Cycle enqueued = 0;  // at the data stage
  Cycle queued = 0;    // cycles waited so far beyond the uncontended way
  Delay delay{};       // Warp::delay of its warp at issue, and what has delayed the request since

  bool operator==(const MemoryRequest&) const = default;
};

// A sub-core's memory queue: a ring.
struct MemoryQueue {
  std::vector<MemoryRequest> entries;
  size_t head = 0;
  size_t size = 0;
  Cycle last_accept = 0;
  bool accepted_before = false;

  MemoryRequest& front() { return entries[head]; }
  const MemoryRequest& front() const { return entries[head]; }
  void pop() {
    head = (head + 1) % entries.size();
    --size;
  }
  bool operator==(const MemoryQueue&) const = default;
};

// Cycles that the load takes of the way back to the register file.
Cycle return_cycles(const Spec& spec, const MicroOp& op);

// A request that L2 and DRAM of the chip are serving.
struct TransferUnderWay {
  MemoryRequest request;
  Cycle asked = 0;
  bool from_dram = false;  // some of its bytes
  bool under_way = false;
  bool in_l1 = false;  // moves nothing

  bool operator==(const TransferUnderWay&) const = default;
};

// A bulk copy that the engine takes up at `start`.
struct BulkCopy {
  MemoryRequest request;
  Cycle start = 0;

  bool operator==(const BulkCopy&) const = default;
};

// The way of a memory instruction through an SM:
//
//   sub-core queue -> address generation -> SM-shared stage -> data stage (128 B wavefronts) -> L1 hit, or L2 and DRAM
//                                              \-> bulk copy engine -> L2 and DRAM -> shared memory, mbarrier
//
// Latencies are the opcode table's, from issue; every wait on this way comes on top. The data stage serves the tensor cores'
// operands first (reserve_for_tensor). Stall reasons it causes: mio_throttle, lg_throttle (queue full); short_scoreboard,
// long_scoreboard (waiting for a reply). Sources: Huerta et al., MICRO 2025 (queue, intervals); CIC-mio, CIC-wg (Hopper's credits,
// wavefronts, priority).
class MemoryStage {
 public:
  MemoryStage(const Spec& spec, const std::vector<SmLaunch>& launches);

  void enqueue(Sm& sm, const MemoryRequest& request);
  void handle(Sm& sm, const MemoryEvent& event, Cycle now);
  // Transfer number `transfer`, which the chip's memory has been asked for, has passed.
  void transferred(Sm& sm, uint32_t transfer, const Reply& reply);
  // From rates of its own to the chip's memory, where the SM counts `sms` times, and back. What is under way goes on: at the rates
  // at which it was asked for, and ahead of what is asked for next.
  void join_chip(Sm& sm, Cycle now, uint64_t sms);
  void leave_chip(Cycle now, const MemoryRates& rates, const ChipMemory::Backlog& backlog);
  void set_rates(Cycle now, const MemoryRates& rates) { memory_.set_rates(now, rates); }
  // That wait in L2 to be written back.
  uint64_t dirty_bytes(Cycle now) { return memory_.dirty_bytes(now); }
  void set_dirty_bytes(uint64_t bytes) { memory_.set_dirty_bytes(bytes); }

  // A tensor product takes `wavefronts` of the data stage from `start` on, before anyone else.
  void reserve_for_tensor(Cycle start, uint32_t wavefronts, int launch);

  // No CTA is left: forgets the turns of the arbiters and the last holders.
  void reset_arbiters();

  void visit(Sm& sm, StateVisitor& visitor);

  // Before this cycle nothing that is under way passes the SM's ports, and what is not under way yet needs `memory_transit` first.
  Cycle next_access() const;

  // Launch of the instruction at the head of a sub-core's queue: who holds it when it is full.
  int queue_holder(int sub_core) const;
  const MemoryShare& memory() const { return memory_; }
  uint64_t wavefronts() const { return data_.served_bytes(); }

  bool operator==(const MemoryStage&) const = default;

 private:
  uint32_t row_of(const Sm& sm, const MemoryRequest& request) const;
  void charge(Sm& sm, MemoryRequest& request, int culprit, Contended resource, Cycle cycles);
  void charge(Sm& sm, MemoryRequest& request, const HoldHistory& holders, Contended resource, Cycle from, Cycle to);
  void charge_transfer(Sm& sm, MemoryRequest& request, const Reply& reply, Cycle delay);
  void visit_request(const Sm& sm, MemoryRequest& request, StateVisitor& visitor) const;
  void visit_queues(Sm& sm, StateVisitor& visitor);
  void arbitrate(Sm& sm, Cycle now);
  void run_data_stage(Sm& sm, Cycle now);
  void return_credit(Sm& sm, Cycle now);
  // The bulk copy engine takes up the copy at the head of its queue.
  void start_bulk(Sm& sm, Cycle now);
  void reach_head(Sm& sm, MemoryQueue& queue);
  bool reads_early(const Sm& sm, const MicroOp& op) const;
  void schedule_arbitration(Sm& sm, Cycle now);
  void accept(Sm& sm, int sub_core, Cycle now);
  void dispatch(Sm& sm, MemoryRequest& request, Cycle now);
  void serve(Sm& sm, MemoryRequest request, Cycle now);
  void finish_shared(Sm& sm, const MemoryRequest& request);
  void finish_global(Sm& sm, MemoryRequest& request, Cycle now);
  void queue_bulk(Sm& sm, MemoryRequest& request, Cycle now);
  void copy_bulk(Sm& sm, MemoryRequest& request, Cycle now);
  void ask_memory(Sm& sm, MemoryRequest& request, Cycle now);
  void transfer_passed(Sm& sm, TransferUnderWay& transfer, const Reply& reply);
  void pass_store(Sm& sm, TransferUnderWay& transfer, const Reply& reply);
  void pass_load(Sm& sm, TransferUnderWay& transfer, const Reply& reply);
  void pass_bulk(Sm& sm, TransferUnderWay& transfer, const Reply& reply);
  Cycle return_margin(const Sm& sm) const;
  Cycle return_load(Sm& sm, MemoryRequest& request, Cycle arrival);
  void reply(Sm& sm, const MemoryRequest& request, Cycle at);
  void release_sources(Sm& sm, const MemoryRequest& request, Cycle at);
  void release_late(Sm& sm, const MemoryRequest& request);
  uint64_t dram_share(const MemoryRequest& request, uint64_t bytes);
  bool hits_l1(const MemoryRequest& request);

  MemoryShare memory_;
  std::vector<MemoryQueue> queues_;        // per sub-core
  std::vector<MemoryRequest> data_queue_;  // ring
  size_t data_head_ = 0;
  size_t data_size_ = 0;
  uint32_t credits_;
  BandwidthServer stage_;  // requests into the SM-shared stage
  Cycle arbitration_at_ = kNever;
  int last_sub_core_ = -1;
  BandwidthServer data_;  // wavefronts
  Cycle data_at_ = kNever;
  Cycle bulk_free_ = 0;
  std::vector<BulkCopy> bulk_queue_{};  // accepted, not taken up; first come first
  uint64_t outbound_ = 0;               // requests under way to the SM's ports
  std::vector<ReturnPath> returns_;     // per sub-core
  Cycle longest_return_ = 0;            // cycles that a load takes of them
  HoldHistory bulk_history_{};
  HoldHistory stage_history_{};
  HoldHistory data_history_{};
  std::vector<std::vector<SpreadShare>> to_dram_;  // [launch][stream], of bytes
  std::vector<std::vector<SpreadShare>> in_l1_;    // [launch][stream], of requests
  std::vector<TransferUnderWay> transfers_{};      // by number; those that the chip's memory serves
};

}  // namespace warpfold::sim
