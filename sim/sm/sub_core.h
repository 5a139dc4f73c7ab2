#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/account/account.h"
#include "sim/account/issue_log.h"
#include "sim/account/stall_ledger.h"
#include "sim/engine/state_visitor.h"
#include "sim/engine/warp_mask.h"
#include "sim/sm/event.h"
#include "sim/sm/issue_policy.h"
#include "sim/sm/pipe_port.h"
#include "sim/sm/register_ports.h"
#include "sim/sm/spec.h"
#include "sim/sm/timer_wheel.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// Behind the issue slot: a control and an allocate stage. A sub-core that issues from several warps a cycle has as many.
struct DispatchPort {
  Cycle control_free = 0;    // the control stage takes the next instruction from this cycle on
  Cycle allocated = 0;       // cycle in which the last instruction left the allocate stage
  int allocate_holder = 0;   // launch of that instruction
  int dispatch_culprit = 0;  // launch that an instruction waits for until control_free

  bool operator==(const DispatchPort&) const = default;
};
inline constexpr uint32_t kMostDispatchPorts = 8;

// Pipes in front of which results queue behind accumulators. The XU, whose results give way too, holds two.
inline constexpr std::array kGiveWay = {isa::Pipe::kAlu, isa::Pipe::kFmaHeavy, isa::Pipe::kFmaLite};

// Cycles that the sub-core's instructions have held its pipes.
struct PipeUse {
  std::array<uint64_t, isa::kPipes> pipe_cycles{};

  bool operator==(const PipeUse&) const = default;
};

// One of an SM's sub-cores: issues at most one warp instruction a cycle.
//
//   timers -> conditions -> pipe latches -> allocate stage free -> pick one (issue policy) -> issue
//
// A warp is in its timer (stall count), blocked on a condition, or awake. Awake warps that do not issue are charged, each
// cycle, to exactly one cause: the pipe latch, the memory queue, the allocate stage, or the warp that was selected.
// Stall reasons: wait, not_selected, dispatch_stall, math_pipe_throttle, mio_throttle, lg_throttle, and as conditions
// short_scoreboard, long_scoreboard, barrier, gmma.
// Source: Huerta et al., MICRO 2025 (issue policy, control codes, allocate stage, latches).
class SubCore {
 public:
  SubCore(const Spec& spec, size_t launches, int index);

  // Runs cycle `now` of those that have something to do in it, in turn: what one issues may wake one behind it.
  static void step(Sm& sm, std::span<SubCore> sub_cores, Cycle now);

  void handle(Sm& sm, const SubCoreEvent& event, Cycle now);
  bool is_live(const SubCoreEvent& event) { return event.kind == SubCoreEvent::Kind::kQueueEntry || live_warp(event) != nullptr; }
  // Of a live event.
  EventKey key_of(const Sm& sm, const SubCoreEvent& event);

  void start_warp(Sm& sm, int slot, Cycle now);
  // Something that a blocked warp may wait for has changed.
  // `delay`: delay of the warp or request that has changed it; none: it has no history.
  void reconsider(Sm& sm, int slot, Cycle now, std::optional<Delay> delay = std::nullopt);
  // A queue of tensor products has a place again. `delay`: of the product that has left it.
  void tensor_room(Sm& sm, isa::Pipe pipe, Delay delay, Cycle now);
  void end_warp(Sm& sm, int slot);

  const std::vector<Warp>& warps() const { return warps_; }
  Warp& warp(int slot) { return warps_[slot]; }
  const Warp& warp(int slot) const { return warps_[slot]; }
  int slots() const { return static_cast<int>(warps_.size()); }
  RegisterPorts& ports() { return ports_; }
  // An accumulator update of the launch begins to write back, for so many cycles.
  void begin_commits(Cycle now, Cycle cycles, int launch);
  // The launch whose wide result met accumulators last; `otherwise`: none since the arbiters were reset.
  int wide_writer(int otherwise) const { return wide_writer_ >= 0 ? wide_writer_ : otherwise; }
  // The launch that wrote to the bank last; `otherwise`: none since the arbiters were reset.
  int last_writer(int bank, int otherwise) const { return last_writer_[bank] >= 0 ? last_writer_[bank] : otherwise; }
  uint64_t port_reads(int launch) const { return port_reads_[launch]; }  // warp-wide register reads, both banks

  // With no warp: forgets the turns of the arbiters and the last holders.
  void reset_arbiters(Cycle now);
  // Everything that the sub-core keeps, warps included.
  void visit(Sm& sm, StateVisitor& visitor);
  // Changes with the places that the warps are at in their programs.
  uint64_t fingerprint() const;

  const PipeUse& use(Sm& sm) { return settle(sm), use_; }
  uint64_t issued(Sm& sm, int launch) { return settle(sm), issued_[launch]; }
  // Straight code is counted a stretch at a time: brings the account and what else is counted of it up to now.
  void settle(Sm& sm);
  uint64_t unsettled() const { return unsettled_; }  // instructions issued that are not in the account

  bool operator==(const SubCore&) const = default;

 private:
  using Mask = WarpMask;

  Warp* live_warp(const SubCoreEvent& event);
  void release_counter(Sm& sm, int slot, int counter, Delay delay, Cycle now);
  void load_result(Sm& sm, const Warp& warp, const SubCoreEvent& event, Cycle now);
  void async_copied(Sm& sm, Warp& warp, const SubCoreEvent& event, Cycle now);
  static void wait_for_tensor_cores(Sm& sm, Warp& warp, std::optional<Delay> delay, Cycle to);
  void free_queue_entry(Sm& sm, Cycle now);
  void visit_warp(int slot, StateVisitor& visitor);
  void step(Sm& sm, Cycle now);
  void expire_timers(Sm& sm, Cycle now);
  bool condition_holds(Sm& sm, int slot, Cycle now, WarpState& reason);
  void block(Sm& sm, int slot, WarpState reason, Cycle since);
  void wait(Warp& warp, WarpState reason, Cycle since);
  // What happens in a cycle that has been run already is seen in the next.
  void wake_at(Sm& sm, Cycle cycle);

  Mask pass_pipe_latches(Sm& sm, Mask candidates, Cycle now);
  Mask pass_control_stage(Sm& sm, Mask candidates, Cycle now);
  Mask look_again(Sm& sm, Mask candidates, Cycle now);
  Mask most_urgent(const Sm& sm, Mask candidates) const;
  int pick(const Sm& sm, Mask candidates, Cycle now) const;
  void not_selected(Sm& sm, Mask losers, int launch, const MicroOp& op, Cycle now);
  void stalled(Sm& sm, Mask warps, WarpState state, int culprit, Contended resource);
  void delay_by_others(Sm& sm, Mask warps, int culprit);
  bool held_by_commits(isa::Pipe pipe, Cycle now) const;
  void stalled_on_pipe(Sm& sm, Mask warps, isa::Pipe pipe, Cycle now);
  void count_held_up(Sm& sm, int slot, Cycle now);
  void issue(Sm& sm, int slot, Cycle now);
  void log(Sm& sm, const Warp& warp, Cycle now) const;
  void issue_fixed(const MicroOp& op, const Warp& warp, int slot, Cycle now);
  void occupy(Sm& sm, int port, Cycle now, uint32_t cycles, int launch);
  uint32_t enter_pipe(Sm& sm, const MicroOp& op, const Warp& warp, Cycle now);
  uint32_t enter_beside_commits(Sm& sm, const MicroOp& op, const Warp& warp, Cycle now);
  void delay_by_commits(Sm& sm, Warp& warp, int slot, uint32_t cycles);
  void count_dependences(const MicroOp& op, Warp& warp);
  void count(Sm& sm, Warp& warp, const MicroOp* end);
  void go_on(Sm& sm, Warp& warp, int slot, Cycle now);
  void step_program(Sm& sm, Warp& warp);
  void enter_loops(Sm& sm, Warp& warp, uint32_t at, int deeper_than);
  void set_timer(Warp& warp, int slot, Cycle at, bool check);

  RegisterPorts ports_;
  std::vector<Warp> warps_;  // by slot

  WarpMask resident_ = 0;
  WarpMask coupled_ = 0;  // of launches whose warps wait for each other
  WarpMask awake_ = 0;
  WarpMask check_ = 0;      // the next instruction has a condition
  WarpMask tentative_ = 0;  // awake only because a counter's increment is not visible yet
  TimerWheel timers_{};
  std::array<WarpMask, kPorts> wants_{};  // warps whose next instruction needs the port
  std::vector<WarpMask> of_launch_;       // resident warps per launch
  std::vector<int> active_launches_{};    // launches with resident warps here

  StallLedger stalls_;

  std::array<PipePort, kPorts> pipes_{};
  uint32_t busy_ports_ = 0;                         // of those that are seldom taken
  std::array<Cycle, isa::kPipes> results_until_{};  // per pipe of kGiveWay: the last one with a result has entered
  int commit_launch_ = 0;                           // whose accumulators are written back
  int wide_writer_ = -1;                            // launch; -1: none
  uint32_t queue_entries_ = 0;                      // of the memory queue, taken

  std::array<DispatchPort, kMostDispatchPorts> dispatch_ports_{};
  uint32_t dispatch_port_ = 0;  // that the next instruction takes
  Cycle slot_free_ = 0;         // the issue slot, on a machine that does not issue every cycle
  int slot_holder_ = 0;
  std::array<int, 3> last_writer_ = {-1, -1, -1};  // launch, of each bank; -1: none; the last one takes what writes neither
  std::vector<uint64_t> port_reads_;               // per launch: warp-wide register reads, both banks
  std::vector<uint64_t> issued_;                   // per launch: warp instructions
  uint64_t unsettled_ = 0;                         // instructions issued that are not in the account

  IssueArbiter arbiter_;
  Cycle stepped_ = kNever;  // the last cycle that was run
  PipeUse use_{};
  bool plain_;  // one warp issues, in any cycle: there is one dispatch port, and the issue slot is always free
  int index_;
};

}  // namespace warpfold::sim
