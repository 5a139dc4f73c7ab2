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

// cp.async groups of one warp. They complete in order.
struct AsyncGroups {
  uint32_t open_copies = 0;               // copies issued since the last commit
  uint64_t committed = 0;                 // groups so far
  uint64_t completed = 0;                 // groups so far
  std::array<uint32_t, 8> copies_left{};  // per committed group, by its number mod 8: copies that have not arrived

  bool operator==(const AsyncGroups&) const = default;
};

// A warp slot of a sub-core, with its warp. The fields that each issue reads come first.
struct alignas(64) Warp {
  const MicroOp* op = nullptr;       // next instruction to issue
  const MicroOp* counted = nullptr;  // the account includes all instructions before this one
  // The state key holds only whether the last issue was in the previous cycle. Of an exited warp, it is a moment
  // (Snapshot).
  Cycle last_issue = 0;
  // The cycle from which the warp is blocked or awake, or will be awake when its timer ends. It is a moment (Snapshot)
  // while the warp is blocked, or while it is awake and its launch coupled.
  Cycle since = 0;
  // Cycles that the warp is late so far, through its own waits and inherited. The key holds it relative to
  // Cta::most_delay.
  Delay delay;
  int launch = 0;
  uint32_t row = 0;  // row of the account, by the segment that the warp is in
  int cta = 0;
  uint8_t long_counters = 0;   // bit c: dependence counter c waits for global memory
  uint8_t fresh_counters = 0;  // bit c: the last issue incremented counter c; the next cycle does not see it
  bool blocked = false;
  bool in_barrier = false;              // arrived at a BAR.SYNC that has not been released
  std::array<uint32_t, 6> counters{};   // dependence counters SB0-SB5
  WarpState reason = WarpState::kWait;  // stall reason while blocked
  bool resident = false;
  bool exited = false;
  uint8_t barrier = 0;  // number of the named barrier, while in_barrier
  int index_in_cta = 0;
  const Program* program = nullptr;
  std::array<uint64_t, kMaxLoopDepth> trips_left{};
  uint64_t serial = 0;       // unique among warps and CTAs of the SM; younger warps have larger ones
  uint64_t ordinal = 0;      // warps started on the SM before this one
  Cycle started = 0;         // cycle of its start
  uint32_t waiting_row = 0;  // while blocked: row of the account that the wait is charged to; in_barrier: the row of the BAR.SYNC
  uint32_t registers = 0;    // per thread, as set by setmaxnreg
  const MicroOp* barrier_op = nullptr;  // the BAR.SYNC at which the warp waits
  uint64_t barrier_phase = 0;           // phase of the named barrier that it waits for
  uint32_t outstanding_stores = 0;
  uint32_t outstanding_bulk_stores = 0;
  uint64_t wgmma_sequence = 0;  // wgmma instructions issued so far
  uint32_t wgmma_groups = 0;    // committed, not completed
  AsyncGroups async;
  std::array<uint64_t, kMaxCursors> cursors{};  // steps taken so far, per cursor

  bool operator==(const Warp&) const = default;
};

struct Mbarrier {
  uint32_t arrivals_left = 0;
  int64_t bytes_left = 0;
  uint64_t completed = 0;  // phases so far
  uint64_t visible = 0;    // phases that waiting warps see: mbarrier_latency after they complete
  Arrival arrived{};       // arrivals and bytes of the current phase
  Arrival seen{};          // arrival of the last visible phase

  bool operator==(const Mbarrier&) const = default;
};

struct NamedBarrier {
  uint32_t arrived = 0;    // warps, in the current phase
  uint64_t completed = 0;  // phases so far
  Arrival last{};          // arrival of the warps of the current phase

  bool operator==(const NamedBarrier&) const = default;
};

// wgmma commands of a warpgroup. A command is open from the issue of the first of the group's four warps to the issue
// of the last.
struct Warpgroup {
  uint64_t opened = 0;                // commands so far
  std::array<uint8_t, 16> arrived{};  // per open command, by its number mod 16: warps that have issued it
  std::array<Arrival, 16> last{};     // per open command: arrival of these warps
  Arrival done{};                     // completion of the last group
  Arrival started{};                  // end of the last command's time in the tensor pipe

  bool operator==(const Warpgroup&) const = default;
};

// A CTA slot of the SM, with its CTA.
struct Cta {
  bool resident = false;
  uint64_t serial = 0;
  int launch = 0;
  uint32_t cta_class = 0;
  uint32_t warps_running = 0;
  uint32_t registers = 0;            // 32-bit, allocated to the CTA
  uint32_t shared_memory = 0;        // bytes
  uint32_t tensor_memory = 0;        // columns
  uint32_t register_pool = 0;        // registers that setmaxnreg has given back, for other warps of the CTA
  Delay most_delay;                  // largest Warp::delay so far
  std::vector<WarpSlot> warp_slots;  // by warp of the CTA
  std::vector<std::vector<Mbarrier>> rings;
  std::array<NamedBarrier, kNamedBarriers> barriers{};
  std::vector<Warpgroup> warpgroups;
  Arrival product_started{};    // end of the last tcgen05.mma's time in the tensor pipe
  Cycle products_complete = 0;  // cycle at which all tcgen05.mma started so far are complete
  Delay product_delay{};        // delay of the product that completes last
  uint64_t grid_arrivals = 0;   // arrivals at the grid's barrier so far

  bool operator==(const Cta&) const = default;
};

}  // namespace warpfold::sim
