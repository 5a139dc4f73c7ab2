#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/account/delay.h"
#include "sim/account/states.h"
#include "sim/engine/time.h"
#include "sim/sm/ids.h"
#include "sim/sm/program.h"
#include "traces/kernel.h"

namespace warpfold::sim {

inline constexpr int kMaxCursors = 8;
inline constexpr int kNamedBarriers = 16;

// cp.async groups of one warp, completed in order.
struct AsyncGroups {
  uint32_t open_copies = 0;               // issued since the last commit
  uint64_t committed = 0;                 // groups
  uint64_t completed = 0;                 // groups
  std::array<uint32_t, 8> copies_left{};  // per committed group, by group number mod 8

  bool operator==(const AsyncGroups&) const = default;
};

// A resident warp. What every issue looks at comes first.
struct alignas(64) Warp {
  const MicroOp* op = nullptr;       // next instruction to issue
  const MicroOp* counted = nullptr;  // what it has issued before this one is in the account
  Cycle last_issue = 0;  // in the state key: whether it was in the last cycle; of a warp that has exited, a moment (Snapshot)
  Cycle since = 0;       // it has been blocked, has been awake, or will be; a moment while it is blocked or coupled and awake
  Delay delay;           // cycles that it has been held up for so far, its own and inherited; beside its CTA's most_delay
  int launch = 0;
  uint32_t row = 0;  // of the account: that of the segment it is in
  int cta = 0;
  uint8_t long_counters = 0;   // bit c: dependence counter c waits for global memory
  uint8_t fresh_counters = 0;  // bit c: incremented by the last issue, not visible in the cycle after it
  bool blocked = false;
  bool in_barrier = false;              // arrived at a BAR.SYNC that has not been released
  std::array<uint32_t, 6> counters{};   // dependence counters SB0-SB5
  WarpState reason = WarpState::kWait;  // while blocked
  bool resident = false;
  bool exited = false;
  uint8_t barrier = 0;  // in_barrier: which one
  int index_in_cta = 0;
  const Program* program = nullptr;
  std::array<uint64_t, kMaxLoopDepth> trips_left{};
  uint64_t serial = 0;  // launch order on the SM; a larger one is younger
  uint64_t number = 0;  // warps started on the SM before it
  Cycle started = 0;
  uint32_t waiting_row = 0;  // while blocked: its row of the account; at a barrier, which it has passed by: the barrier's
  uint32_t registers = 0;    // per thread now (setmaxnreg)
  const MicroOp* barrier_op = nullptr;  // its BAR.SYNC
  uint64_t barrier_phase = 0;           // which of its phases
  uint32_t outstanding_stores = 0;
  uint32_t outstanding_bulk_stores = 0;
  uint64_t wgmma_sequence = 0;  // wgmma instructions issued
  uint32_t wgmma_groups = 0;    // committed, not completed
  AsyncGroups async;
  std::array<uint64_t, kMaxCursors> cursors{};  // steps taken

  bool operator==(const Warp&) const = default;
};

struct Mbarrier {
  uint32_t arrivals_left = 0;
  int64_t bytes_left = 0;
  uint64_t completed = 0;  // phases
  uint64_t visible = 0;    // phases that waiting warps see (completed, a latency later)
  Arrival arrived{};       // of the phase that is filling: arrivals and bytes
  Arrival seen{};          // the last visible phase

  bool operator==(const Mbarrier&) const = default;
};

struct NamedBarrier {
  uint32_t arrived = 0;    // warps
  uint64_t completed = 0;  // phases
  Arrival last{};          // of those that have arrived

  bool operator==(const NamedBarrier&) const = default;
};

// wgmma commands of one warpgroup: some of its four warps may have issued a command and others not yet.
struct Warpgroup {
  uint64_t opened = 0;                // commands opened so far
  std::array<uint8_t, 16> arrived{};  // per open command, by sequence mod 16
  std::array<Arrival, 16> last{};     // the same: of the warps that have issued it
  Arrival done{};                     // the last completed group
  Arrival started{};                  // the last command's place in the tensor pipe is free again

  bool operator==(const Warpgroup&) const = default;
};

// A resident CTA.
struct Cta {
  bool resident = false;
  uint64_t serial = 0;
  int launch = 0;
  uint32_t cta_class = 0;
  uint32_t warps_running = 0;
  uint32_t registers = 0;  // allocated of the SM's
  uint32_t shared_memory = 0;
  uint32_t tensor_memory = 0;        // columns
  uint32_t register_pool = 0;        // given back by setmaxnreg, per CTA
  Delay most_delay;                  // Warp::delay, the largest so far
  std::vector<WarpSlot> warp_slots;  // of each warp
  std::vector<std::vector<Mbarrier>> rings;
  std::array<NamedBarrier, kNamedBarriers> barriers{};
  std::vector<Warpgroup> warpgroups;
  Arrival product_started{};    // the last tcgen05.mma's place in the tensor pipe is free again
  Cycle products_complete = 0;  // tcgen05.mma that have started
  Delay product_delay{};        // of the last of them to complete

  bool operator==(const Cta&) const = default;
};

}  // namespace warpfold::sim
