#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/engine/warp_mask.h"
#include "sim/sm/event.h"
#include "sim/sm/issue_policy.h"
#include "sim/sm/pipe_port.h"
#include "sim/sm/register_ports.h"
#include "sim/sm/spec.h"
#include "sim/sm/sub_core_account.h"
#include "sim/sm/timer_wheel.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// Control and allocate stage behind the issue slot. A sub-core that issues several warps a cycle has one of these for
// each.
struct DispatchPort {
  Cycle control_free = 0;    // first cycle in which the control stage takes another instruction
  Cycle allocated = 0;       // cycle in which the last instruction left the allocate stage
  int allocate_holder = 0;   // launch of that instruction
  int control_holder = 0;  // launch for which an instruction waits until control_free

  bool operator==(const DispatchPort&) const = default;
};
inline constexpr uint32_t kMostDispatchPorts = 8;

// Pipes whose queued results may wait for accumulator updates. The XU's results wait for them too, but its queue holds
// only two instructions.
inline constexpr std::array kPipesBehindPairs = {isa::Pipe::kAlu, isa::Pipe::kFmaHeavy, isa::Pipe::kFmaLite};

// A sub-core of an SM. It issues at most one warp instruction a cycle, or Spec::issue_width on a scaled machine.
//
//   timers -> conditions -> pipe latches -> allocate stage free -> pick one (issue policy) -> issue
//
// A warp is in its timer (stall count), blocked on a condition, or awake. An awake warp that does not issue is charged,
// in each cycle, to exactly one cause: the pipe latch, the memory queue, the control or allocate stage, or the warp
// that was selected. Stall reasons: wait, not_selected, dispatch_stall, math_pipe_throttle, mio_throttle, lg_throttle,
// and as conditions short_scoreboard, long_scoreboard, barrier, gmma. Source: Huerta et al., MICRO 2025 (issue policy,
// control codes, allocate stage, latches).
class SubCore {
 public:
  SubCore(const Spec& spec, size_t launches, int index);

  // Runs cycle `now` of each sub-core that is due, in the order of their index. An issue may wake a later sub-core in
  // the same cycle.
  static void step(Sm& sm, std::span<SubCore> sub_cores, Cycle now);

  void handle(Sm& sm, const SubCoreEvent& event, Cycle now);
  bool is_live(const SubCoreEvent& event) { return event.kind == SubCoreEvent::Kind::kQueueEntry || live_warp(event) != nullptr; }
  // The event must be live.
  EventKey key_of(const Sm& sm, const SubCoreEvent& event);

  void start_warp(Sm& sm, int slot, Cycle now);
  // Checks a blocked warp's condition again, after a change for which it may wait. `delay`: delay of the warp or
  // request behind the change; none: it has no history.
  void reconsider(Sm& sm, int slot, Cycle now, std::optional<Delay> delay = std::nullopt);
  // Wakes warps that wait for an entry in a queue of tensor products. `delay`: of the product that has left the queue.
  void tensor_room(Sm& sm, isa::Pipe pipe, Delay delay, Cycle now);
  void end_warp(Sm& sm, int slot);

  const std::vector<Warp>& warps() const { return warps_; }
  Warp& warp(int slot) { return warps_[slot]; }
  const Warp& warp(int slot) const { return warps_[slot]; }
  int slots() const { return static_cast<int>(warps_.size()); }
  int index() const { return index_; }
  WarpMask warps_of(int launch) const { return of_launch_[launch]; }  // resident warps
  RegisterPorts& ports() { return ports_; }
  // Begins the write-back of an accumulator update of `launch`, for `cycles` cycles.
  void begin_write_back(Cycle now, Cycle cycles, int launch);
  // Returns the launch whose wide result met accumulators last; `otherwise` if none has since the arbiters were reset.
  int wide_writer(int otherwise) const { return wide_writer_ >= 0 ? wide_writer_ : otherwise; }
  // Returns the launch that wrote to the bank last; `otherwise` if none has since the arbiters were reset.
  int last_writer(int bank, int otherwise) const { return last_writer_[bank] >= 0 ? last_writer_[bank] : otherwise; }
  uint64_t port_reads(int launch) const { return port_reads_[launch]; }  // warp-wide register reads, both banks

  // Resets the arbiters' turns and the last holders. Requires that no warp is resident.
  void reset_arbiters(Cycle now);
  // Visits all state of the sub-core, warps included.
  void visit(Sm& sm, StateVisitor& visitor);
  // Returns a hash that changes with the warps' positions in their programs.
  uint64_t fingerprint() const;

  // The listener's part. settle() brings it and the SM's account up to now: straight code is counted in stretches.
  SubCoreAccount& account() { return account_; }
  const SubCoreAccount& account() const { return account_; }
  const SubCoreAccount& settle(Sm& sm);

  bool operator==(const SubCore&) const = default;

 private:
  using Mask = WarpMask;

  Warp* live_warp(const SubCoreEvent& event);
  void release_counter(Sm& sm, int slot, int counter, Delay delay, Cycle now);
  void load_result(Sm& sm, const Warp& warp, const SubCoreEvent& event, Cycle now);
  void async_copied(Sm& sm, Warp& warp, const SubCoreEvent& event, Cycle now);
  void free_queue_entry(Sm& sm, Cycle now);
  void visit_warp(int slot, StateVisitor& visitor);
  void step(Sm& sm, Cycle now);
  void expire_timers(Sm& sm, Cycle now);
  bool may_issue(Sm& sm, int slot, Cycle now, WarpState& reason);
  void block(Sm& sm, int slot, WarpState reason, Cycle since);
  void wait(Warp& warp, WarpState reason, Cycle since);
  // Makes the sub-core due at `cycle`, or in the next cycle if it has run that one already.
  void wake_at(Sm& sm, Cycle cycle);

  Mask pass_pipe_latches(Sm& sm, Mask candidates, Cycle now);
  Mask pass_control_stage(Sm& sm, Mask candidates, Cycle now);
  Mask candidates_for_next_issue(Sm& sm, Mask candidates, Cycle now);
  Mask most_urgent(const Sm& sm, Mask candidates) const;
  int pick(const Sm& sm, Mask candidates, Cycle now) const;
  void leave_behind(Sm& sm, Mask losers, int winner, const MicroOp& op, Cycle now);
  bool held_by_write_back(isa::Pipe pipe, Cycle now) const;
  void stall_on_pipe(Sm& sm, Mask warps, isa::Pipe pipe, Cycle now);
  void issue(Sm& sm, int slot, Cycle now);
  void take_issue_slot(Sm& sm, Warp& warp, int slot, Cycle now);
  uint32_t enter_unit(Sm& sm, const MicroOp& op, const Warp& warp, Cycle now);
  void dispatch(Sm& sm, const MicroOp& op, Warp& warp, int slot, Cycle now);
  void fetch_next(Sm& sm, const MicroOp& op, Warp& warp, int slot, Cycle now);
  void issue_fixed(const MicroOp& op, const Warp& warp, int slot, Cycle now);
  void occupy(Sm& sm, int port, Cycle now, uint32_t cycles, int launch);
  uint32_t enter_pipe(Sm& sm, const MicroOp& op, const Warp& warp, Cycle now);
  uint32_t enter_beside_write_back(Sm& sm, const MicroOp& op, const Warp& warp, Cycle now);
  void count_dependences(const MicroOp& op, Warp& warp);
  void step_to_next(Sm& sm, Warp& warp, int slot, Cycle now);
  void step_program(Sm& sm, Warp& warp);
  void enter_loops(Sm& sm, Warp& warp, uint32_t at, int deeper_than);
  void set_timer(Warp& warp, int slot, Cycle at, bool check);

  RegisterPorts ports_;
  std::vector<Warp> warps_;  // by slot

  WarpMask resident_ = 0;
  WarpMask awake_ = 0;
  WarpMask has_condition_ = 0;  // warps whose next instruction has a condition
  WarpMask tentative_ = 0;      // warps that are awake only because a counter's increment is not visible yet
  TimerWheel timers_{};
  std::array<WarpMask, kPorts> wants_{};  // warps whose next instruction needs the port
  std::vector<WarpMask> of_launch_;       // resident warps per launch
  std::vector<int> active_launches_{};    // launches with resident warps here

  std::array<PipePort, kPorts> pipes_{};
  uint32_t busy_ports_ = 0;  // ports that may be closed, without those of kOftenTaken
  // Per pipe of kPipesBehindPairs: the cycle in which the last instruction with a result leaves the latch.
  std::array<Cycle, isa::kPipes> results_until_{};
  int write_back_launch_ = 0;   // launch whose accumulators are written back
  int wide_writer_ = -1;        // launch of the last wide result that met accumulators; -1: none
  uint32_t queue_entries_ = 0;  // entries of the memory queue that are taken

  std::array<DispatchPort, kMostDispatchPorts> dispatch_ports_{};
  uint32_t dispatch_port_ = 0;  // port that the next instruction takes
  Cycle slot_free_ = 0;         // first cycle in which the issue slot is free; unused if plain_
  int slot_holder_ = 0;         // launch that issued last; unused if plain_
  // Launch that wrote to each bank last; -1: none. The third entry takes the writes of instructions that write to no
  // such bank.
  std::array<int, 3> last_writer_ = {-1, -1, -1};
  std::vector<uint64_t> port_reads_;  // per launch: warp-wide register reads, both banks

  SubCoreAccount account_;
  IssueArbiter arbiter_;
  Cycle stepped_ = kNever;  // last cycle that has run
  bool plain_;  // one warp issues in every cycle: there is one dispatch port, and the issue slot is always free
  int index_;
};

}  // namespace warpfold::sim
