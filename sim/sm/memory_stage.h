#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/account/account.h"
#include "sim/account/hold_history.h"
#include "sim/memory/memory_share.h"
#include "sim/sm/spec.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// The way of a memory instruction through an SM:
//
//   sub-core queue -> address generation -> SM-shared stage -> data stage (128 B wavefronts) -> L1 hit, or L2 and DRAM
//                                              \-> bulk copy engine -> L2 and DRAM -> shared memory, mbarrier
//
// Latencies are the opcode table's, from issue; every wait on this way comes on top. The data stage serves wgmma's operands
// first (reserve_for_wgmma).
// Stall reasons it causes: mio_throttle, lg_throttle (queue full); short_scoreboard, long_scoreboard (waiting for a reply).
// Sources: Huerta et al., MICRO 2025 (queue, intervals); CIC-mio, CIC-wg (Hopper's credits, wavefronts, priority).
class MemoryStage {
 public:
  // `chip`: L2 and DRAM shared with other SMs; none: the SM has its share for itself.
  MemoryStage(const Spec& spec, Sm& sm, Account& account, ChipMemory* chip);
  // A copy is the first SM's until it is told that it is another's.
  void belong_to(Sm& sm, Account& account) { sm_ = &sm, account_ = &account; }

  struct Request {
    const MicroOp* op = nullptr;
    int sub_core = 0;
    int slot = 0;
    int launch = 0;
    int cta = 0;
    uint64_t warp_serial = 0;
    uint64_t cta_serial = 0;
    uint32_t stage = 0;  // ring stage that the cursor pointed at
    uint64_t group = 0;  // cp.async group
    Cycle issued = 0;
    Cycle ready = 0;     // earliest acceptance by the shared stage
    Cycle enqueued = 0;  // at the data stage
    Cycle queued = 0;    // cycles waited so far beyond the uncontended way
    Delay delay;         // the warp's account of what others have cost it (Warp::delay), and what they cost the request since
  };

  void enqueue(const Request& request);
  void arbitrate(Cycle now);
  void run_data_stage(Cycle now);
  void return_credit(Cycle now);
  // The bulk copy engine takes up the copy at the head of its queue.
  void start_bulk(Cycle now);
  // wgmma takes `wavefronts` of the data stage from `start` on, before anyone else.
  void reserve_for_wgmma(Cycle start, uint32_t wavefronts, int launch);

  // No CTA is left: forgets whose turn it was, and who had what last.
  void reset_arbiters();

  void visit(StateVisitor& visitor);

  // Before this cycle nothing that is under way passes the SM's ports, and what is not under way yet needs `memory_transit` first.
  Cycle next_access() const;

  // Launch of the instruction at the head of a sub-core's queue: who holds it when it is full.
  int queue_holder(int sub_core) const;
  const MemoryShare& memory() const { return memory_; }
  uint64_t wavefronts() const { return data_.served_bytes(); }
  void add_streams(int launch, const std::vector<traces::MemoryStream>& streams);

 private:
  struct Queue {
    std::vector<Request> entries;  // ring
    size_t head = 0;
    size_t size = 0;
    Cycle last_accept = 0;
    bool accepted_before = false;

    Request& front() { return entries[head]; }
    const Request& front() const { return entries[head]; }
    void pop() {
      head = (head + 1) % entries.size();
      --size;
    }
  };

  struct Copy {
    Request request;
    Cycle start = 0;
  };

  uint32_t row_of(const Request& request) const { return account_->row(request.launch, request.op->segment); }
  void charge(Request& request, int culprit, Contended resource, Cycle cycles);
  void charge(Request& request, const HoldHistory& holders, Contended resource, Cycle from, Cycle to);
  void charge_transfer(Request& request, const Passage& passage, Cycle delay);
  void visit_request(Request& request, StateVisitor& visitor) const;
  void visit_queues(StateVisitor& visitor);
  void reach_head(Queue& queue);
  bool reads_early(const MicroOp& op) const;
  void schedule_arbitration(Cycle now);
  void accept(int sub_core, Cycle now);
  void dispatch(Request& request, Cycle now);
  void serve(Request request, Cycle now);
  void finish_shared(const Request& request);
  void finish_global(Request& request, Cycle now);
  void queue_bulk(Request& request, Cycle now);
  void copy_bulk(Request& request, Cycle now);
  Cycle return_load(Request& request, Cycle arrival);
  void reply(const Request& request, Cycle at);
  void release_sources(const Request& request, Cycle at);
  void release_late(const Request& request);
  uint64_t dram_share(const Request& request, uint64_t bytes);

  const Spec& spec_;
  Sm* sm_;
  Account* account_;
  MemoryShare memory_;
  std::vector<Queue> queues_;
  std::vector<Request> data_queue_;  // ring
  size_t data_head_ = 0;
  size_t data_size_ = 0;
  uint32_t credits_;
  BandwidthServer stage_;  // requests into the SM-shared stage
  Cycle arbitration_at_ = kNever;
  int last_sub_core_ = -1;
  BandwidthServer data_;  // wavefronts
  Cycle data_at_ = kNever;
  Cycle bulk_free_ = 0;
  std::vector<Copy> bulk_queue_;    // accepted, not taken up; first come first
  uint64_t outbound_ = 0;           // requests under way to the SM's ports
  std::vector<Cycle> return_free_;  // per sub-core: path back to the register file
  std::vector<int> return_holder_;  // per sub-core: launch whose load took it last
  HoldHistory bulk_history_;
  HoldHistory stage_history_;
  HoldHistory data_history_;
  std::vector<std::vector<DramFraction>> fractions_;  // [launch][stream]
};

}  // namespace warpfold::sim
