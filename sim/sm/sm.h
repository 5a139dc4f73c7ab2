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

// Looks at an SM whenever a warp has come to the end of a loop body, or a CTA without loops to its end: at the end of the cycle
// before `now`. It may move the SM on, to a cycle up to `limit`.
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
//   sm_inherit       delay that warps pass on; sm_absence: warps that are not there; alternative_bounds: the same under others
//   sm_observation   timeline, issue log, report of what waits
//   sm_snapshot      what folding and sampling read of the state and change in it
//
// A unit's state lies in SmState; its verbs take the SM. Order within a cycle: replies of L2 and DRAM, events (completions,
// releases, CTAs that end), CTAs that are placed, then the sub-cores in order of their index.
class Sm {
 public:
  Sm(const Spec& spec, std::vector<SmLaunch> launches);
  // An SM of the same spec in the state `state`.
  Sm(const Spec& spec, SmState state);
  // The same SM in the same state, with the same timeline so far. Nothing observes it.
  Sm(const Sm& other);
  Sm& operator=(const Sm&) = delete;

  const Spec& spec() const { return spec_; }
  // The SM shares L2 and DRAM with other SMs: its requests wait in the outbox for ChipMemory. Else it has rates of its own.
  bool shares_memory() const { return shares_memory_; }
  void share_memory(bool shares) { shares_memory_ = shares; }
  struct Asked {
    Cycle at = 0;
    ChipMemory::Request request;
  };
  std::vector<Asked>& outbox() { return outbox_; }                    // in order of time
  const std::vector<int>& placement_order() const { return order_; }  // launches: CTAs of the first are placed first
  bool passes_on() const { return passes_on_; }                       // some warp may wait for what has been held up

  // ---- state

  const SmState& state() const { return state_; }
  SmState& state() { return state_; }  // of the units
  // Goes on from a state of an SM of the same spec and launches.
  // Everything that the SM keeps (sm_state.cc). In a cycle that has been run completely.
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

  // Other lists of CTAs than so far; those that have been placed lead them.
  void receive(std::vector<CtaList> ctas);
  // Another source of the launch's CTAs than so far. From `at` on others may have room that this one held them back from.
  void take_from(int launch, CtaSource source, Cycle at);
  // A launch may place CTAs from `at` on. An SM without CTAs then resets its arbiters.
  void release_launch(int launch, Cycle at);

  // ---- run

  // Runs while the next thing to do lies before `limit` and until a launch's last CTA has ended, or as control() says; returns the
  // time of the next thing to do (kNever: nothing is pending). Stops within a cycle where it asks for a CTA (SmState::asks).
  Cycle run(Cycle limit);
  // The time of the next thing to do; kNever: nothing is pending.
  Cycle next_time() const;
  // The time of the next event that may place a CTA.
  Cycle next_placement() const;
  RunControl& control() { return control_; }
  const RunControl& control() const { return control_; }
  // A reply whose uncontended time has passed while it waited comes now.
  void schedule(Cycle at, const Event& event) { state_.events.schedule(std::max(at, state_.now), event); }
  // Of all units: whose turn it is, and the last holders.
  void reset_arbiters(Cycle now);

  // ---- look

  // None looks at an SM that shares L2 and DRAM: its state is not all that decides its future.
  void observe_with(SmObserver& observer) { observer_ = &observer; }
  Observation& observation() { return observation_; }
  const Observation& observation() const { return observation_; }
  const Account& account() { return settle(), state_.account; }
  // Straight code is counted a stretch at a time (SubCore): brings what has been counted up to now.
  void settle();
  Account& ledger() { return state_.account; }  // what has been counted, but for these stretches
  const Account& ledger() const { return state_.account; }
  uint64_t instructions() const;  // issued, all launches

 private:
  void step(Cycle now);
  void end_unused(int launch, Cycle at);
  void tell_observer(Cycle limit);

  const Spec& spec_;
  bool shares_memory_ = false;
  std::vector<Asked> outbox_{};
  SmState state_;
  const std::vector<int> order_;
  const bool passes_on_;
  SmObserver* observer_ = nullptr;
  RunControl control_;
  Observation observation_;
};

}  // namespace warpfold::sim
