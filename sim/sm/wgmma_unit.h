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

// A command of a warpgroup: m64nN with K of 32 bytes.
struct WgmmaCommand {
  static constexpr int kWarps = 4;  // warp i lies on sub-core (first_sub_core + i) mod Spec::sub_cores

  ProductOwner owner{};
  int warpgroup = 0;
  int first_sub_core = 0;
  uint16_t columns = 0;
  bool a_in_registers = false;
  bool commit = false;  // last command of its group
  Delay delay{};        // Warp::delay of the warps that issued it, plus delays since
  Cycle assembled = 0;  // cycle in which the last of the four warps issued it
  Cycle completion = 0;
  bool writes_begun = false;
  bool reads_begun = false;
  std::array<RegisterPorts::Totals, kWarps> update{};  // by warp: port slots that its accumulator update waits for
  std::array<uint32_t, kWarps> pair_wait_cycles{};     // by warp: RegisterPorts::pair_wait_cycles for which it has waited
  std::vector<uint64_t> reads_before{};                // per sub-core and launch: port reads before the update's

  bool operator==(const WgmmaCommand&) const = default;
};

// The SM's asynchronous tensor pipe. Each of a warpgroup's four warps issues the command. After the last issue, it
// enters a FIFO.
//
//   m64nN command, operands in shared memory: interval = max(N / columns a cycle, 16 + N/4 wavefronts, floor)
//   n128: 64 cycles of tensor time, 48 wavefronts: the pipe binds.   n16: 8 cycles, 20 wavefronts: shared memory binds.
//
// A command completes 49 + N/2 cycles after its start (49 + N / columns a cycle if that is more). Before that, the
// accumulators (N/2 registers a warp) are updated through the register-file ports: reads in the last `commit_window`
// cycles, writes in the last N/2. If fixed-latency instructions leave too few slots, the completion and all later
// commands are delayed. Results of the ALU, FMA and XU pipes give way to the writes (RegisterPorts::result_wait).
// Sources: CIC-wg (wavefronts, completion, FIFO, priority), CIC-rf (update through the ports, aperture), LUO (rates).
class WgmmaUnit {
 public:
  // True if the warp may issue its command. The first of a warpgroup's warps to reach a command needs a FIFO entry; the
  // other warps join it.
  bool admits(const Sm& sm, const Warp& warp) const;
  void issue(Sm& sm, Warp& warp, const MicroOp& op, Cycle now);
  void handle(Sm& sm, const WgmmaEvent& event, Cycle now);

  TensorPipe& pipe() { return pipe_; }

  EventKey key_of(const WgmmaEvent& event) const;
  // `oldest`: the first command with events to come. `blocked_since`: first cycle since which a warp waits for an
  // entry.
  void visit(Sm& sm, StateVisitor& visitor, uint64_t oldest, Cycle blocked_since);
  // Adjusts commands in flight after a skip, which has increased the port reads from `before`. The commands compare
  // port reads with those at their start, which must grow by as much.
  void add_port_reads(Sm& sm, uint64_t oldest, const std::vector<uint64_t>& before);
  std::vector<uint64_t> port_reads(const Sm& sm) const;
  // Number of sub-cores on which a command's warps lie.
  static int width(const Sm& sm);
  // Sub-core of a command's warp i.
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
  // Reports an update's wait for read slots. Returns the cycles due to other launches.
  Cycle wait_for_reads(Sm& sm, const WgmmaCommand& command, Cycle delay);
  void schedule_start(Sm& sm, Cycle now);

  std::array<WgmmaCommand, kInFlight> commands_{};
  uint64_t next_id_ = 0;     // commands assembled so far
  uint64_t next_start_ = 0;  // commands started so far
  uint64_t waiting_ = 0;     // commands assembled, not started
  TensorPipe pipe_{Contended::kWgmma};
  Cycle start_at_ = kNever;
  uint64_t busy_ = 0;
};

}  // namespace warpfold::sim
