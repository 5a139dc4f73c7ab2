#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/account/account.h"
#include "sim/account/hold_history.h"
#include "sim/memory/memory_share.h"
#include "sim/sm/event.h"
#include "sim/sm/grid_barrier.h"
#include "sim/sm/program.h"
#include "sim/sm/return_path.h"
#include "sim/sm/sm_launch.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

class Sm;
struct Warp;

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
  Cycle ready = 0;     // earliest cycle in which the SM-shared stage accepts it
  Cycle enqueued = 0;  // cycle in which it joined the queue of the data stage
  Cycle queued = 0;    // cycles waited so far, beyond the uncontended way
  Delay delay{};       // Warp::delay of its warp at issue, plus delays of the request since

  bool operator==(const MemoryRequest&) const = default;
};

// A sub-core's memory queue, a ring buffer.
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

// Returns the cycles for which a load occupies the way back to the register file.
Cycle return_cycles(const Spec& spec, const MicroOp& op);

// A request that L2 and DRAM serve, or have served before the SM learns of it.
struct TransferUnderWay {
  MemoryRequest request;
  uint64_t sequence = 0;   // order in which the SM asked
  uint32_t bytes = 0;      // requested bytes that L1 does not serve, so that they go to L2
  bool from_dram = false;  // at least one byte comes from DRAM
  bool under_way = false;
  // Set once the transfer has passed:
  Cycle late = 0;  // cycles beyond the time that the transfer takes on idle servers
  Contended slowest = Contended::kDram;
  LostTo lost{};  // Reply::lost

  bool operator==(const TransferUnderWay&) const = default;
};

// A reply that will reach the SM.
struct ComingReply {
  Cycle at = 0;
  uint64_t sequence = 0;  // TransferUnderWay::sequence; replies of the same cycle come in this order
  uint32_t transfer = 0;

  auto operator<=>(const ComingReply&) const = default;
};

// A request on its way through a network port of the SM. It holds a credit of the data stage until it has left.
struct LeavingRequest {
  uint32_t bytes = 0;
  Cycle passed = 0;  // cycle in which it has passed the port

  bool operator==(const LeavingRequest&) const = default;
};

// Shares of a stream's requests and bytes that L1 and DRAM serve.
struct StreamShares {
  explicit StreamShares(const traces::MemoryStream& of)
      : stream(&of), in_l1(of.l1_numerator, of.l1_denominator), to_dram(of.dram_numerator, of.dram_denominator) {}

  const traces::MemoryStream* stream;
  SpreadShare in_l1;    // of requests
  SpreadShare to_dram;  // of the bytes that go to L2

  bool operator==(const StreamShares&) const = default;
};

// Requests at a network port of the SM: ingress for loads, egress for stores.
struct PortQueue {
  std::vector<LeavingRequest> leaving{};  // in order of `passed`
  uint64_t leaving_bytes = 0;             // sum over `leaving`
  uint64_t unacknowledged = 0;            // bytes of requests without a reply yet, including the requests in `leaving`
  uint64_t window = 0;                    // limit of bytes without a reply, of requests that have left

  void visit(StateVisitor& visitor);
  bool operator==(const PortQueue&) const = default;
};

// A bulk copy that the engine starts in cycle `start`.
struct BulkCopy {
  MemoryRequest request;
  Cycle start = 0;

  bool operator==(const BulkCopy&) const = default;
};

// A load that waits at the grid's barrier. It has come too early.
struct PollingLoad {
  MemoryRequest request;
  Cycle passed = 0;  // cycle in which it has passed L2

  bool operator==(const PollingLoad&) const = default;
};

// The way of a memory instruction through an SM:
//
//   sub-core queue -> address generation -> SM-shared stage -> data stage (128 B wavefronts) -> L1 hit, or L2 and DRAM
//                                              \-> bulk copy engine -> L2 and DRAM -> shared memory, mbarrier
//
// A request keeps its credit of the data stage until it has passed the SM's port. It keeps the credit longer while more
// bytes have passed the port without a reply than the port moves in the time of a reply (Spec::memory_reply). So a
// memory that keeps up with the port never holds up the data stage, and a saturated one pushes back. A store is done
// when its reply comes.
//
// Latencies from issue come from the opcode table; each wait on the way is added. The data stage serves the operands of
// the tensor cores first, but for one wavefront of another request per product (reserve_for_tensor). Stall reasons that
// it causes: mio_throttle, lg_throttle (queue full); short_scoreboard, long_scoreboard (wait for a reply). Sources:
// Huerta et al., MICRO 2025 (queue, intervals); CIC-mio, CIC-wg (Hopper's credits, wavefronts, priority).
class MemoryStage {
 public:
  MemoryStage(const Spec& spec, const std::vector<SmLaunch>& launches);

  void enqueue(Sm& sm, const MemoryRequest& request);
  void handle(Sm& sm, const MemoryEvent& event, Cycle now);
  // Takes the reply of L2 and DRAM to transfer number `transfer`, which may pass them in a later cycle. The SM learns
  // of it Spec::memory_reply cycles after that.
  void take_reply(Sm& sm, uint32_t transfer, const Reply& reply);
  // Cycle in which the SM learns of the next transfer; kNever: of none.
  Cycle next_reply() const { return next_reply_; }
  void take_replies(Sm& sm, Cycle now);
  // The launch's barrier of the grid.
  const GridPhase& grid(int launch) const { return grid_[static_cast<size_t>(launch)]; }
  // True if a load of the warp waits there.
  bool polls(const Warp& warp) const;
  // Sets GridPhase::expected.
  void expect_arrivals(Sm& sm, int launch, uint64_t arrivals);
  // All arrivals of the phase are performed in cycle `last`.
  void complete_grid_phase(Sm& sm, int launch, Cycle last);
  // Changes from the SM's own rates to the chip's memory, and back. Transfers under way keep the rates at which they
  // were requested and go ahead of later ones: join_chip returns their bytes, which the chip has yet to move.
  ChipMemory::Backlog join_chip(const Sm& sm, Cycle now);
  void leave_chip(Cycle now, const MemoryRates& rates, const ChipMemory::Backlog& backlog);
  void set_rates(Cycle now, const MemoryRates& rates) { memory_.set_rates(now, rates); }
  // Dirty bytes in L2.
  uint64_t dirty_bytes() const { return memory_.dirty_bytes(); }
  void set_dirty_bytes(uint64_t bytes) { memory_.set_dirty_bytes(bytes); }

  // Reserves `wavefronts` of the data stage for a tensor product that starts. They go ahead of waiting requests, but
  // for one wavefront of the first request: between two products that take the whole stage, other requests get one.
  // Returns the number of wavefronts that went ahead of the product. Source: docs/validation/h100_kit.csv, floods
  // beside m64n64k16: one wavefront in 26 to 52 cycles, of which a product takes 32.
  uint32_t reserve_for_tensor(Sm& sm, Cycle now, uint32_t wavefronts, int launch);

  // Resets the arbiters' turns and the last holders. Requires that no CTA is resident.
  void reset_arbiters();

  void visit(Sm& sm, StateVisitor& visitor);

  // True if some request has yet to ask L2 and DRAM.
  bool has_outbound() const { return outbound_ > 0; }

  // Returns the launch at the head of a sub-core's queue, which holds the queue while it is full.
  int queue_holder(int sub_core) const;
  const MemoryShare& memory() const { return memory_; }
  uint64_t wavefronts() const { return data_.served_bytes(); }

  bool operator==(const MemoryStage&) const = default;

 private:
  void visit_request(const Sm& sm, MemoryRequest& request, StateVisitor& visitor) const;
  void visit_queues(Sm& sm, StateVisitor& visitor);
  void arbitrate(Sm& sm, Cycle now);
  void run_data_stage(Sm& sm, Cycle now);
  void return_credit(Sm& sm, Cycle now);
  // Starts the copy at the head of the bulk copy engine's queue.
  void start_bulk(Sm& sm, Cycle now);
  void start_address_generation(Sm& sm, MemoryQueue& queue);
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
  Cycle way_back(const Sm& sm, const TransferUnderWay& transfer) const;
  // Returns the cycle in which a load's data arrive if the chip's reply comes at `reply`: not before a hit in L1 would.
  Cycle arrival_of(const Sm& sm, const TransferUnderWay& transfer, Cycle reply) const;
  void visit_replies(Sm& sm, StateVisitor& visitor);
  void visit_ports(StateVisitor& visitor);
  void take_load(Sm& sm, TransferUnderWay& transfer, Cycle now);
  void take_bulk(Sm& sm, TransferUnderWay& transfer, Cycle now);
  void arrive_at_grid(Sm& sm, const MemoryRequest& request, Cycle passed);
  void take_poll(Sm& sm, TransferUnderWay& transfer, Cycle now);
  void poll_arrives(Sm& sm, PollingLoad& load);
  void visit_grid(Sm& sm, StateVisitor& visitor);
  void load_arrives(Sm& sm, MemoryRequest& request, Cycle arrival);
  void leave(Sm& sm, uint32_t bytes, PortQueue& port, Cycle passed);
  void release(Sm& sm, PortQueue& port, Cycle now);
  void take_store(Sm& sm, TransferUnderWay& transfer, Cycle now);
  uint32_t place_of_transfer();
  Cycle return_margin(const Sm& sm) const;
  Cycle return_load(Sm& sm, MemoryRequest& request, Cycle arrival);
  void reply(Sm& sm, const MemoryRequest& request, Cycle at);
  void release_sources(Sm& sm, const MemoryRequest& request, Cycle at);
  void release_late(Sm& sm, const MemoryRequest& request);
  // Bytes of a request that L2, and of these DRAM, have to move.
  struct Moved {
    bool in_l1 = false;  // L1 serves the request whole
    uint32_t bytes = 0;
    uint32_t l2_bytes = 0;  // as MicroOp::l2_bytes
    uint64_t dram_bytes = 0;
  };
  Moved moved_by(const Sm& sm, const MemoryRequest& request);

  MemoryShare memory_;
  std::vector<MemoryQueue> queues_;        // per sub-core
  std::vector<MemoryRequest> data_queue_;  // ring buffer
  size_t data_head_ = 0;
  size_t data_size_ = 0;
  uint32_t head_passed_ = 0;  // wavefronts of the first request that passed between tensor products
  uint32_t credits_;
  BandwidthServer stage_;  // requests into the SM-shared stage
  Cycle arbitration_at_ = kNever;
  int last_sub_core_ = -1;
  BandwidthServer data_;  // wavefronts
  Cycle data_at_ = kNever;
  Cycle bulk_free_ = 0;
  std::vector<BulkCopy> bulk_queue_{};  // accepted, not started; first come, first served
  uint64_t outbound_ = 0;               // requests that have yet to ask L2 and DRAM
  std::vector<ReturnPath> returns_;     // per sub-core
  Cycle longest_return_ = 0;            // most cycles for which a load occupies a return path
  HoldHistory bulk_history_{};
  HoldHistory stage_history_{};
  HoldHistory data_history_{};
  std::vector<std::vector<StreamShares>> alone_;   // [launch][stream]: shares while no other launch uses the cache
  std::vector<std::vector<StreamShares>> beside_;  // [launch][stream]: shares while one does; empty: as in alone_
  std::vector<TransferUnderWay> transfers_{};      // by number
  std::vector<uint32_t> free_transfers_{};         // unused numbers of transfers_
  uint64_t asked_ = 0;                             // transfers requested so far
  std::vector<ComingReply> replies_{};             // replies to transfers that have passed, in order of time
  Cycle next_reply_ = kNever;
  PortQueue ingress_;
  PortQueue egress_;
  std::vector<GridPhase> grid_;         // per launch
  std::vector<PollingLoad> polling_{};  // in the order in which they came
};

}  // namespace warpfold::sim
