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

// A request that L2 and DRAM serve, or that has passed them and of which the SM has yet to learn.
struct TransferUnderWay {
  MemoryRequest request;
  uint64_t sequence = 0;   // in the order in which the SM asked
  bool from_dram = false;  // some of its bytes
  bool under_way = false;
  // Once it has passed:
  Cycle late = 0;  // by so much, beyond the time that it takes where nothing else is served
  Contended slowest = Contended::kDram;
  LostTo lost{};  // of Reply

  bool operator==(const TransferUnderWay&) const = default;
};

// A transfer whose reply reaches the SM.
struct ComingReply {
  Cycle at = 0;
  uint64_t sequence = 0;  // of the transfer: replies of one cycle come in this order
  uint32_t transfer = 0;

  auto operator<=>(const ComingReply&) const = default;
};

// A request on its way through one of the SM's ports, in the data stage as long as it is.
struct LeavingRequest {
  uint32_t bytes = 0;
  Cycle passed = 0;  // it has passed the port

  bool operator==(const LeavingRequest&) const = default;
};

// One of the SM's ports, ingress for loads and egress for stores, as far as requests wait for it.
struct PortQueue {
  std::vector<LeavingRequest> leaving{};  // in order
  uint64_t leaving_bytes = 0;             // of these
  uint64_t unacknowledged = 0;            // bytes of those whose reply has not come, those that are leaving included
  uint64_t window = 0;                    // most bytes of those that have left

  void visit(StateVisitor& visitor);
  bool operator==(const PortQueue&) const = default;
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
// A request's place in the data stage is free when the request has passed the SM's port, as long as the bytes of those that have
// passed it and whose reply has not come are no more than the port moves in the time of a reply (Spec::memory_reply). So a memory
// that keeps up with the port never holds the data stage up, and a saturated one pushes back. A store is done when its reply comes.
//
// Latencies are the opcode table's, from issue; every wait on this way comes on top. The data stage serves the tensor cores'
// operands first, all but one wavefront a product (reserve_for_tensor). Stall reasons it causes: mio_throttle, lg_throttle (queue
// full); short_scoreboard, long_scoreboard (waiting for a reply). Sources: Huerta et al., MICRO 2025 (queue, intervals); CIC-mio,
// CIC-wg (Hopper's credits, wavefronts, priority).
class MemoryStage {
 public:
  MemoryStage(const Spec& spec, const std::vector<SmLaunch>& launches);

  void enqueue(Sm& sm, const MemoryRequest& request);
  void handle(Sm& sm, const MemoryEvent& event, Cycle now);
  // Transfer number `transfer`, which L2 and DRAM have been asked for, passes them, or will; the SM learns of it
  // Spec::memory_reply cycles later.
  void passes(const Sm& sm, uint32_t transfer, const Reply& reply);
  // When the SM learns of the next one.
  Cycle next_reply() const { return next_reply_; }
  void take_replies(Sm& sm, Cycle now);
  // From rates of its own to the chip's memory, and back. What is under way goes on at the rates at which it was asked for, and
  // ahead of what is asked for next: join_chip returns what the chip has yet to move.
  ChipMemory::Backlog join_chip(const Sm& sm, Cycle now);
  void leave_chip(Cycle now, const MemoryRates& rates, const ChipMemory::Backlog& backlog);
  void set_rates(Cycle now, const MemoryRates& rates) { memory_.set_rates(now, rates); }
  // That wait in L2 to be written back.
  uint64_t dirty_bytes() const { return memory_.dirty_bytes(); }
  void set_dirty_bytes(uint64_t bytes) { memory_.set_dirty_bytes(bytes); }

  // A tensor product that starts takes `wavefronts` of the data stage before anyone else, but for one wavefront of a request that
  // waits: between two products that take all of the stage, others have one. Returns how many that were. Source:
  // docs/validation/h100_kit.csv, floods beside m64n64k16: one wavefront in 26 to 52 cycles, of which a product takes 32.
  uint32_t reserve_for_tensor(Sm& sm, Cycle now, uint32_t wavefronts, int launch);

  // No CTA is left: forgets the turns of the arbiters and the last holders.
  void reset_arbiters();

  void visit(Sm& sm, StateVisitor& visitor);

  // Requests that have yet to ask L2 and DRAM.
  bool outbound() const { return outbound_ > 0; }

  // Launch of the instruction at the head of a sub-core's queue: who holds it when it is full.
  int queue_holder(int sub_core) const;
  const MemoryShare& memory() const { return memory_; }
  uint64_t wavefronts() const { return data_.served_bytes(); }

  bool operator==(const MemoryStage&) const = default;

 private:
  uint32_t row_of(const Sm& sm, const MemoryRequest& request) const;
  void charge(Sm& sm, MemoryRequest& request, int culprit, Contended resource, Cycle cycles);
  void charge(Sm& sm, MemoryRequest& request, const HoldHistory& holders, Contended resource, Cycle from, Cycle to);
  void charge_transfer(Sm& sm, MemoryRequest& request, const TransferUnderWay& transfer, Cycle delay);
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
  void serve_head(Sm& sm, Cycle now);
  void finish_shared(Sm& sm, const MemoryRequest& request);
  void finish_global(Sm& sm, MemoryRequest& request, Cycle now);
  void queue_bulk(Sm& sm, MemoryRequest& request, Cycle now);
  void copy_bulk(Sm& sm, MemoryRequest& request, Cycle now);
  void ask_memory(Sm& sm, MemoryRequest& request, Cycle now);
  Cycle l1_hit_at(const MemoryRequest& request) const;
  void visit_replies(Sm& sm, StateVisitor& visitor);
  void visit_ports(StateVisitor& visitor);
  void take_load(Sm& sm, TransferUnderWay& transfer, Cycle now);
  void take_bulk(Sm& sm, TransferUnderWay& transfer, Cycle now);
  void load_arrives(Sm& sm, MemoryRequest& request, Cycle arrival);
  void leave(Sm& sm, const MemoryRequest& request, PortQueue& port, Cycle passed);
  void release(Sm& sm, PortQueue& port, Cycle now);
  void take_store(Sm& sm, TransferUnderWay& transfer, Cycle now);
  uint32_t place_of_transfer();
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
  uint32_t head_passed_ = 0;  // wavefronts of the first one that have passed between products
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
  std::vector<TransferUnderWay> transfers_{};      // by number
  std::vector<uint32_t> free_transfers_{};         // numbers
  uint64_t asked_ = 0;                             // transfers so far
  std::vector<ComingReply> replies_{};             // of those that have passed, in order
  Cycle next_reply_ = kNever;
  PortQueue ingress_;
  PortQueue egress_;
};

}  // namespace warpfold::sim
