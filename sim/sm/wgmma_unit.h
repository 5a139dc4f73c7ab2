#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/account/account.h"
#include "sim/account/delay.h"
#include "sim/sm/event.h"
#include "sim/sm/register_ports.h"
#include "sim/sm/spec.h"
#include "sim/sm/tensor_pipe.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// One command of a warpgroup: m64nN with K of 32 bytes.
struct WgmmaCommand {
  static constexpr int kWarps = 4;  // one on each of the sub-cores (first_sub_core + i) mod Spec::sub_cores

  ProductOwner owner{};
  int warpgroup = 0;
  int first_sub_core = 0;
  uint16_t columns = 0;
  bool a_in_registers = false;
  bool commit = false;  // ends a group
  Delay delay{};        // Warp::delay of the warps that issued it, and what has held it up since
  Cycle assembled = 0;
  Cycle completion = 0;
  bool writes_begun = false;
  bool reads_begun = false;
  std::array<RegisterPorts::Totals, kWarps> update{};  // by i: port slots to wait for
  std::array<uint32_t, kWarps> given_way{};            // the same: RegisterPorts::given_way that it has waited for
  std::vector<uint64_t> reads_before{};                // per sub-core and launch: port reads when the update began

  bool operator==(const WgmmaCommand&) const = default;
};

// The SM's asynchronous tensor pipe. A warpgroup's four warps each issue the command; when the last has, it enters a FIFO.
//
//   m64nN command, operands in shared memory: interval = max(N / columns a cycle, 16 + N/4 wavefronts, floor)
//   n128: 64 cycles of tensor time, 48 wavefronts: the pipe binds.   n16: 8 cycles, 20 wavefronts: shared memory binds.
//
// Completion comes 49 + N/2 cycles after the start (N / columns a cycle where that is more). In the cycles before it the
// accumulators (N/2 registers a warp) are updated through the register-file ports: reads within the last
// `commit_window` cycles, writes within the last N/2. What the fixed-latency instructions leave no slot for delays the completion
// and all later commands. Results of the ALU give way to the writes (RegisterPorts::held). Sources: CIC-wg (wavefronts, completion,
// FIFO, priority), CIC-rf (update through the ports, aperture), LUO (rates).
class WgmmaUnit {
 public:
  // The first of a warpgroup's warps to reach a command needs a place in the FIFO; the others join it.
  bool admits(const Sm& sm, const Warp& warp) const;
  void issue(Sm& sm, Warp& warp, const MicroOp& op, Cycle now);
  void handle(Sm& sm, const WgmmaEvent& event, Cycle now);

  TensorPipe& pipe() { return pipe_; }

  EventKey key_of(const WgmmaEvent& event) const;
  // `oldest`: the first command that has events to come; `blocked_since`: since when a warp waits for room.
  void visit(Sm& sm, StateVisitor& visitor, uint64_t oldest, Cycle blocked_since);
  // Port reads, per sub-core and launch, have been counted since `before` without having been made: commands in flight compare with
  // what was counted.
  void add_port_reads(Sm& sm, uint64_t oldest, const std::vector<uint64_t>& before);
  std::vector<uint64_t> port_reads(const Sm& sm) const;
  // Sub-cores that a command's warps lie on, and the i-th of them.
  static int width(const Sm& sm);
  static int sub_core_of(const Sm& sm, const WgmmaCommand& command, int i);
  uint64_t started() const { return next_start_; }

  uint64_t busy_cycles() const { return busy_; }

  bool operator==(const WgmmaUnit&) const = default;

 private:
  static constexpr size_t kInFlight = 64;

  void visit_command(Sm& sm, WgmmaCommand& command, bool waits, StateVisitor& visitor);
  WgmmaCommand& at(uint64_t id) { return commands_[id % kInFlight]; }
  void assembled(Sm& sm, WgmmaCommand command, Cycle now);
  static void group_done(Sm& sm, const WgmmaCommand& command, Cycle now);
  void try_start(Sm& sm, Cycle now);
  void begin_writes(Sm& sm, uint64_t id, Cycle now);
  void begin_reads(Sm& sm, uint64_t id, Cycle now);
  void complete(Sm& sm, uint64_t id, Cycle now);
  void start(Sm& sm, uint64_t id, Cycle now);
  Cycle interval(const Sm& sm, const WgmmaCommand& command, uint32_t others) const;
  Cycle latency(const Sm& sm, const WgmmaCommand& command) const;
  uint32_t wavefronts(const Sm& sm, const WgmmaCommand& command) const;
  Cycle read_window(const Sm& sm, const WgmmaCommand& command) const;
  void wait_for_wide_results(Sm& sm, uint64_t id);
  void delay_after(Sm& sm, uint64_t id, Cycle delay, Cycle lost);
  Cycle charge_reads(Sm& sm, const WgmmaCommand& command, Cycle delay);
  void schedule_start(Sm& sm, Cycle now);

  std::array<WgmmaCommand, kInFlight> commands_{};
  uint64_t next_id_ = 0;     // assembled so far
  uint64_t next_start_ = 0;  // started so far
  uint64_t waiting_ = 0;     // assembled, not started
  TensorPipe pipe_{Contended::kWgmma};
  Cycle start_at_ = kNever;
  uint64_t busy_ = 0;
};

}  // namespace warpfold::sim
