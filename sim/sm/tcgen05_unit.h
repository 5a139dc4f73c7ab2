#pragma once

#include <array>
#include <cstdint>

#include "sim/account/delay.h"
#include "sim/engine/state_visitor.h"
#include "sim/sm/event.h"
#include "sim/sm/ids.h"
#include "sim/sm/program.h"
#include "sim/sm/spec.h"
#include "sim/sm/tensor_pipe.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// A tcgen05.mma, a copy for later products, or a commit of earlier products.
struct Tcgen05Command {
  ProductOwner owner{};
  const MicroOp* op = nullptr;
  uint8_t sub_core = 0;  // holds an entry in this sub-core's queue
  RingStage stage{};     // mbarrier of a commit, in its ring
  Delay delay{};         // Warp::delay of the warp that issued it
  Cycle issued = 0;

  bool operator==(const Tcgen05Command&) const = default;
};

// The SM's tensor cores with accumulators in tensor memory. One thread issues a product. Commands of the sub-cores'
// queues are served in order of issue, one product at a time:
//
//   D of m rows and N columns in an SM: interval = max(T, A + B), T = N/2 cycles; A = m/4 wavefronts of shared memory (0 in tensor
//   memory), B = N/4. cta_group::2 (.2CTA): T = N/4 with 64 rows in each SM; each reads half of B, N/8.
//   128 x 256: 128 cycles of tensor time, 96 wavefronts.   128 x 64, A in shared memory: 32 cycles, 48 wavefronts bind.
//
// A copy of scales (UTCCP) has its place in the same order: products wait for it, and it waits for products. They come
// from one thread through one virtual queue. Tensor memory has the scales of one block of k at a time: CUTLASS's copies
// of a block name the columns by which products of the previous block multiply.
//
// A product completes completion_cycles + A + T after its start. A commit arrives at its mbarrier when the CTA's
// products before it are complete. Accumulators pass no register port. Each SM of a pair is taken to issue its own
// half, in step with the other. Sources: SEMI (intervals and latencies), CIC utchmma (queues, order, priority of
// operand reads over LDS).
class Tcgen05Unit {
 public:
  bool admits(const Sm& sm, int sub_core) const;
  void issue(Sm& sm, const Warp& warp, const MicroOp& op, int sub_core, Cycle now);
  void handle(Sm& sm, const Tcgen05Event& event, Cycle now);
  TensorPipe& pipe() { return pipe_; }

  void visit(Sm& sm, StateVisitor& visitor, Cycle blocked_since);

  uint64_t busy_cycles() const { return busy_; }

  bool operator==(const Tcgen05Unit&) const = default;

 private:
  static constexpr size_t kWaiting = 64;  // most entries of all sub-cores' queues (configs/check_gpu.cc)

  Tcgen05Command& at(uint64_t id) { return commands_[id % kWaiting]; }
  void try_start(Sm& sm, Cycle now);
  void schedule_start(Sm& sm, Cycle now);
  void start(Sm& sm, Tcgen05Command& command, Cycle now);
  static void commit(Sm& sm, const Tcgen05Command& command, Cycle now);

  std::array<Tcgen05Command, kWaiting> commands_{};
  uint64_t next_id_ = 0;                          // commands issued so far
  uint64_t next_start_ = 0;                       // commands that have left the queues
  std::array<uint8_t, kMostSubCores> entries_{};  // taken, by sub-core
  TensorPipe pipe_{Contended::kTcgen05};
  Cycle start_at_ = kNever;
  uint64_t busy_ = 0;
};

// Cycles for which a product occupies the tensor cores, and its wavefronts in shared memory.
Cycle tcgen05_cycles(const Spec& spec, const MicroOp& op);
uint32_t tcgen05_a_wavefronts(const Spec& spec, const MicroOp& op);
uint32_t tcgen05_wavefronts(const Spec& spec, const MicroOp& op);

}  // namespace warpfold::sim
