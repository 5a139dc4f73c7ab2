#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/account/account.h"
#include "sim/engine/state_visitor.h"
#include "sim/sm/memory_stage.h"
#include "sim/sm/run_control.h"
#include "sim/sm/sm_observation.h"
#include "sim/sm/sm_state.h"
#include "sim/sm/spec.h"
#include "sim/sm/sub_core.h"
#include "sim/sm/tcgen05_unit.h"
#include "sim/sm/wgmma_unit.h"

namespace warpfold::sim {

class Sm;

// Looks at an SM after each cycle in which a warp has finished a trip of a loop, or a CTA without loops has ended.
// `now` is the cycle after that one. The observer may fast-forward the SM, to `limit` at most.
class SmObserver {
 public:
  virtual ~SmObserver() = default;
  virtual void loop_ended(Sm& sm, Cycle now, Cycle limit) = 0;
};

// A streaming multiprocessor: sub-cores, the units they share, and the CTAs placed on it.
//
//   cta_slots        places CTAs as launches are released and CTAs end
//   sub_core         issues, at most one warp instruction a cycle
//   memory_stage     takes memory requests of the sub-cores in turn
//   wgmma_unit       runs matrix products of warpgroups
//   tcgen05_unit     runs matrix products into tensor memory
//   barrier_unit     mbarriers of rings, named barriers
//   listener         enters the units' events into the account
//   sm_inherit       delays that warps pass to the warps that wait for them
//   sm_absence       warps that are missing because other launches hold their room
//   alternative_bounds
//                    placement under other reservations and quotas
//   sm_observation   timeline, issue log, report of waiting warps
//   sm_snapshot      access of folding and sampling to the state
//
// SmState holds the units' state; the units' functions take the Sm. Order within a cycle: replies of L2 and DRAM,
// events (completions, releases, CTAs that end), placement of CTAs, then the sub-cores in the order of their index.
class Sm {
 public:
  Sm(const Spec& spec, std::vector<SmLaunch> launches);
  // Starts from `state`, which must be of an SM of the same spec.
  Sm(const Spec& spec, SmState state);
  // Copies the state and the timeline so far. Nothing observes the copy.
  Sm(const Sm& other);
  Sm& operator=(const Sm&) = delete;

  const Spec& spec() const { return spec_; }
  // True if the SM shares L2 and DRAM with other SMs: its requests then wait in the outbox for ChipMemory. Otherwise
  // the SM has rates of its own.
  bool shares_memory() const { return shares_memory_; }
  void share_memory(bool shares) { shares_memory_ = shares; }
  struct Asked {
    Cycle at = 0;
    ChipMemory::Request request;
  };
  std::vector<Asked>& outbox() { return outbox_; }                    // in order of time
  const std::vector<int>& placement_order() const { return order_; }  // launches, in the order of placement
  // True if delays are tracked: there are several launches, or warps of a launch wait for each other.
  bool tracks_delays() const { return tracks_delays_; }

  // ---- state

  const SmState& state() const { return state_; }
  SmState& state() { return state_; }  // for the units
  // Visits all state of the SM (sm_state.cc). The SM's last cycle must have run completely.
  void visit(StateVisitor& visitor);

  int sub_cores() const { return static_cast<int>(state_.sub_cores.size()); }
  SubCore& sub_core(int index) { return state_.sub_cores[index]; }
  const SubCore& sub_core(int index) const { return state_.sub_cores[index]; }
  MemoryStage& memory() { return state_.memory; }
  const MemoryStage& memory() const { return state_.memory; }
  Tcgen05Unit& tcgen05() { return state_.tcgen05; }
  const Tcgen05Unit& tcgen05() const { return state_.tcgen05; }
  WgmmaUnit& wgmma() { return state_.wgmma; }
  const WgmmaUnit& wgmma() const { return state_.wgmma; }

  // ---- work

  // Replaces each launch's list of CTAs. A new list begins with the CTAs that have been placed.
  void receive(std::vector<CtaList> ctas);
  // Changes the source of the launch's CTAs. From `at` on, launches that waited behind this one may find room.
  void take_from(int launch, CtaSource source, Cycle at);
  // Lets the launch place CTAs from `at` on. An SM without CTAs then resets its arbiters.
  void release_launch(int launch, Cycle at);
  // Tells the SM that the launch has ended on the whole chip; the SM knows it from `at` on.
  void launch_over(int launch, Cycle at) { state_.progress[launch].over = at; }

  // ---- run

  // Runs until the next activity lies at `limit` or later, a launch's last CTA has ended, or control() says to stop.
  // Returns the cycle of the next activity; kNever: there is none. Stops within a cycle if the SM asks for a CTA
  // (SmState::asking_launch).
  Cycle run(Cycle limit);
  // Returns the cycle of the next activity; kNever: there is none.
  Cycle next_time() const;
  // Returns the cycle of the next event that may place a CTA; kNever: there is none.
  Cycle next_placement() const;
  RunControl& control() { return control_; }
  const RunControl& control() const { return control_; }
  // Schedules an event, in the current cycle if `at` is past: a reply may have waited beyond its uncontended time.
  void schedule(Cycle at, const Event& event) { state_.events.schedule(std::max(at, state_.now), event); }
  // Resets the arbiters' turns and the last holders in all units.
  void reset_arbiters(Cycle now);

  // ---- look

  // Sets the observer. It does not look while the SM shares L2 and DRAM, since other SMs then affect the SM's future.
  void observe_with(SmObserver& observer) { observer_ = &observer; }
  Observation& observation() { return observation_; }
  const Observation& observation() const { return observation_; }
  const Account& account() { return settle(), state_.account; }
  // Brings the account up to now: sub-cores count straight code in stretches.
  void settle();
  Account& ledger() { return state_.account; }  // the account without the stretches that are not settled
  const Account& ledger() const { return state_.account; }
  uint64_t instructions() const;  // issued so far, all launches

 private:
  void step(Cycle now);
  void end_unused(int launch, Cycle at);
  void tell_observer(Cycle limit);

  const Spec& spec_;
  bool shares_memory_ = false;
  std::vector<Asked> outbox_{};
  SmState state_;
  const std::vector<int> order_;
  const bool tracks_delays_;
  SmObserver* observer_ = nullptr;
  RunControl control_;
  Observation observation_;
};

}  // namespace warpfold::sim
