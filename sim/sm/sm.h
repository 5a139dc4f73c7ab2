#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/account/account.h"
#include "sim/account/timeline_recorder.h"
#include "sim/sm/kernel_image.h"
#include "sim/sm/memo_hit.h"
#include "sim/sm/memory_stage.h"
#include "sim/sm/sm_state.h"
#include "sim/sm/spec.h"
#include "sim/sm/sub_core.h"
#include "sim/sm/wgmma_unit.h"

namespace warpfold::sim {

// A warp state of a row of the account.
using AccountCell = std::pair<uint32_t, WarpState>;

// What a launch's account gets besides what a skip counts, so that work taken from it is accounted for to the instruction.
struct Correction {
  uint64_t instructions = 0;                // and cycles in which they issued
  std::map<AccountCell, uint64_t> waits{};  // that go on and have not been charged yet
  uint64_t resident_warp_cycles = 0;
  uint64_t requested_bytes = 0;
  uint64_t served_bytes = 0;
  uint64_t ctas = 0;
};

class Sm;

// Looks at an SM whenever a warp has come to the end of a loop body, or a CTA without loops to its end: at the end of the cycle
// before `now`. It may move the SM on, to a cycle up to `limit`.
class SmObserver {
 public:
  virtual ~SmObserver() = default;
  virtual void loop_ended(Sm& sm, Cycle now, Cycle limit) = 0;
};

// A streaming multiprocessor: sub-cores, the parts they share, and the CTAs placed on it.
//
// Order within a cycle: events (replies, completions, releases) first, then the sub-cores in order of their index.
class Sm {
 public:
  // `chip`: L2 and DRAM that this SM shares with others, which outlives it; none: it has its exact share for itself.
  Sm(const Spec& spec, std::vector<SmLaunch> launches, ChipMemory* chip = nullptr);
  // An SM of the same spec and chip in the state `state`.
  Sm(const Spec& spec, SmState state, ChipMemory* chip);
  // The same SM in the same state, with the same timeline so far. Nothing observes it.
  Sm(const Sm& other);
  Sm& operator=(const Sm&) = delete;

  const SmState& state() const { return state_; }
  // Goes on from a state of an SM of the same spec and launches.
  void restore(const SmState& state) { state_ = state; }
  // Its CTAs are of other classes from now on, and it receives `ctas`, those included that it has placed. `class_of`: per launch,
  // what each class that it has placed is now.
  void exchange_classes(std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of);
  // Goes on where an equal state has led before, with what it has counted itself and has left.
  void follow(const MemoHit& hit);

  // Records every issue from now on.
  void log_issues(std::vector<IssueRecord>& log, uint32_t sm_class) {
    log_ = &log;
    sm_class_ = sm_class;
  }

  // Keeps a timeline from now on.
  void record_timeline(const TimelineLimits& limits);
  bool records_timeline() const { return timeline_.has_value(); }
  // What has been kept until `at`, before which nothing is left to do; it goes on with what comes then.
  TimelineRecorder hand_over_timeline(Cycle at);
  // The same at the end of the run, of which nothing more is recorded.
  TimelineRecorder end_timeline();
  std::vector<LaunchSpan> launch_spans() const;
  static std::vector<UseLane> use_lanes(const Spec& spec);

  // Sees whether bounds that the launches might have had instead would have changed anything; [which][launch].
  void consider(const std::vector<std::vector<PlacementBounds>>& other_bounds);
  bool same_under(size_t which) const { return state_.alternatives[which].differences == 0; }
  uint64_t absent_under(size_t which, int launch, int culprit, Contended resource) const;

  void observe_with(SmObserver& observer) { observer_ = &observer; }

  // Runs while the next thing to do lies before `limit` and until a launch's last CTA has ended; returns the time of the next
  // thing to do (kNever: nothing is pending).
  Cycle run(Cycle limit);
  // The same for an SM beside others: does the next thing whatever it is, then goes on while what it does concerns no other SM,
  // which is until something may ask L2 or DRAM for bandwidth. Called in order of the times returned, the SMs reach the memory
  // that they share in order of time.
  Cycle run_to_access(Cycle limit);
  // run() stops at the end of this cycle.
  void pause() { paused_ = true; }
  // The time of the next thing to do; kNever: nothing is pending.
  Cycle next_time() const;
  // The last run stopped where a launch's last CTA ended.
  bool stopped_at_launch_end() const { return launch_ended_; }
  // It does what other SMs do as well, as long as they do the same: run() also stops wherever that may end, which is where a CTA
  // has been placed, a loop bound by a CTA class comes to its last trip, or time has been skipped.
  void share(bool shared) {
    shared_ = shared;
    may_jump_ = false;
  }
  bool shared() const { return shared_; }
  // What comes next is for this SM alone.
  void end_sharing() { ends_sharing_ = may_part_ = true; }
  bool ends_sharing() const { return ends_sharing_; }
  // Those that still share it would have the same work taken away.
  void let_jump() { may_jump_ = true; }
  bool may_jump() const { return !shared_ || may_jump_; }
  // Other lists of CTAs than so far; those that have been placed lead them.
  void receive(std::vector<CtaList> ctas);
  // A warp of `launch` is on its last trip of a loop that is bound by one of the parameters.
  bool on_last_trip(int launch, const std::vector<bool>& parameters) const;
  // A launch may place CTAs from `at` on. An SM without CTAs then resets its arbiters.
  void release_launch(int launch, Cycle at);
  // With nothing left to run: resets the arbiters; in cycle `at` the SM is as one that has run nothing.
  bool is_pristine(Cycle at);

  bool launch_done(int launch) const { return state_.launch_done(launch); }
  bool launch_released(int launch) const { return state_.progress[launch].ready != kNever; }
  Cycle launch_ready(int launch) const { return state_.progress[launch].ready; }  // may begin then; kNever: not released yet
  Cycle launch_start(int launch) const { return state_.progress[launch].start; }
  Cycle launch_end(int launch) const { return state_.progress[launch].end; }
  uint64_t ctas_done(int launch) const { return state_.progress[launch].done; }
  uint64_t port_reads() const;  // warp-wide register reads of all sub-cores
  const Account& account() { return settle(), state_.account; }
  // Straight code is counted a stretch at a time (SubCore): brings what has been counted up to now.
  void settle();
  const MemoryStage& memory() const { return state_.memory; }
  const WgmmaUnit& wgmma() const { return state_.wgmma; }
  const SubCore& sub_core(int index) const { return state_.sub_cores[index]; }
  // Everything that the SM keeps (sm_state.cc). In a cycle that has been run completely.
  void visit(StateVisitor& visitor);
  // Time is skipped: the SM goes on from the same state, later.
  void move_on(const FastForward& skip, bool exact);
  // Where the stages of a ring are counted from, in steps of its cursors (docs/folding_proof.md, "Rings").
  uint64_t ring_origin(const Cta& cta, int ring) const;
  // A stage of a ring as many behind the first as it is behind the origin.
  uint32_t stage_from_origin(int cta, int ring, uint32_t stage) const;
  // Of the launches that are `coupled`: where their warps stand in their programs, and how far apart in the rings they share. Equal
  // at two instants: what every one of them did in between belongs together.
  void visit_couplings(StateVisitor& visitor, const std::vector<bool>& coupled);
  uint64_t instructions() const;
  uint64_t fingerprint() const;
  const std::vector<SmLaunch>& launches() const { return state_.launches; }
  const Cta& cta(int index) const { return state_.ctas[index]; }
  int cta_slots() const { return static_cast<int>(state_.ctas.size()); }
  uint64_t ctas_running(int launch) const { return state_.progress[launch].running; }
  uint64_t ctas_placed(int launch) const { return state_.ctas_placed(launch); }
  bool ctas_left(int launch) const { return state_.ctas_left(launch); }
  // What it has counted grows by so much, in the order of Snapshot::counts and by the rows of an account, modulo 2^64.
  void add_counts(const std::vector<uint64_t>& counts, const Account& account);
  // When a launch started and ended, where those are not kNever.
  void had_launch(int launch, Cycle start, Cycle end);
  // Adds to what a launch has counted; amounts may be negative, modulo 2^64.
  void correct(int launch, const Correction& correction);
  // Who waits for whom, one line a warp. For a deadlocked SM.
  std::string waiting_report() const;

  // ---- called by the parts

  const Spec& spec() const { return spec_; }
  Account& ledger() { return state_.account; }
  const Account& ledger() const { return state_.account; }
  ChipMemory* chip() const { return chip_; }
  std::vector<IssueRecord>* issue_log() { return log_; }
  uint32_t sm_class() const { return sm_class_; }

  // A warp has come to the end of a loop body.
  void at_loop_end() { state_.loop_end = true; }
  // The same, of a loop that is bound by its CTA class, whose last trip comes now.
  void at_last_trip() { may_part_ = true; }
  // A reply whose uncontended time has passed while it waited comes now.
  void schedule(Cycle at, const Event& event) { state_.events.schedule(std::max(at, state_.now), event); }

  void issued(Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now);
  bool condition_holds(const Warp& warp, int sub_core, int slot, WarpState& reason) const;
  bool wgmma_admits(const Warp& warp) const;
  void wgmma_group_done(const WgmmaCommand& command, Cycle now);
  void wgmma_room(Cycle now);
  // An exited warp ends when its last store has left the SM.
  void maybe_end_warp(int sub_core, int slot, Delay delay, Cycle now);
  // It was in another segment of its program until `now`.
  void entered_segment(const Warp& warp, uint32_t from, Cycle now);
  bool cta_lives(int cta, uint64_t serial) const { return state_.ctas[cta].resident && state_.ctas[cta].serial == serial; }
  void charge_wgmma_wait(Warp& warp, Cycle to);
  int queue_holder(int sub_core) const { return state_.memory.queue_holder(sub_core); }
  uint64_t trips(const Warp& warp, const traces::TripCount& count) const;
  SubCore& sub_core(int index) { return state_.sub_cores[index]; }
  std::vector<Cta>& ctas() { return state_.ctas; }
  Warpgroup& warpgroup(int cta, int index) { return state_.ctas[cta].warpgroups[index]; }
  MemoryStage& memory() { return state_.memory; }
  int sub_cores() const { return static_cast<int>(state_.sub_cores.size()); }

  // sm_inherit.cc: what other launches cost a warp, and who waits for it
  bool coupled(int launch) const { return state_.launches[launch].image->coupled; }
  void delay_warp(Warp& warp, uint64_t Delay::* history, Cycle cycles) {
    uint64_t& furthest = state_.ctas[warp.cta].most_delay.*history;
    uint64_t& delay = warp.delay.*history;
    delay = within(delay, furthest) + cycles;
    furthest = std::max(furthest, delay);
  }
  // Something that a CTA of the launch has started, and which has `delay` so far, is held up. The part of its lag behind the
  // CTA's most delayed warp that the key does not hold is forgotten first.
  void hold_up(Delay& delay, int launch, int cta, uint64_t cta_serial, Delay by) const {
    if (coupled(launch) && cta_lives(cta, cta_serial)) delay = within(delay, state_.ctas[cta].most_delay);
    delay = delay + by;
  }
  void inherit(Warp& warp, Delay delay, Cycle waited);
  void pass(Warp& warp, const Arrival& before, WarpState state, Cycle now);
  bool remembered(const Arrival& arrival, Cycle now) const;
  void join(Arrival& arrival, int cta, Delay delay, Cycle now);
  Delay joined(const Arrival& arrival, int cta, Cycle now) const;
  void visit_arrival(const char* name, int cta, Arrival& arrival, StateVisitor& visitor) const;
  // Shows the delay of a part of a CTA to a key: how far it is behind the CTA's most.
  void visit_delay(const char* name, int launch, int cta, uint64_t cta_serial, Delay delay, StateVisitor& visitor) const;

 private:
  // Why a launch's next CTA is not there: what there is too little of, and how much of it each launch holds or has kept for it.
  struct Shortage {
    Contended resource;
    std::vector<uint64_t> held_by;
  };
  class UnderBounds;

  // sm_state.cc
  void visit_launch(int launch, StateVisitor& visitor);
  void visit_cta(int index, StateVisitor& visitor);
  void visit_warp_in_cta(Warp& warp, StateVisitor& visitor);
  void visit_events(StateVisitor& visitor);
  // Whether what an event is for is still there, and what it is to a key.
  bool is_live(const SubCoreEvent& event);
  bool is_live(const BarrierEvent& event) const;
  template <typename Other>
  bool is_live(const Other& /*event*/) const {
    return true;
  }
  EventKey key_of(const SubCoreEvent& event);
  static EventKey key_of(const MemoryEvent& event);
  EventKey key_of(const BarrierEvent& event);
  EventKey key_of(const WgmmaEvent& event);
  static EventKey key_of(const PlacementEvent& event);

  void reset_arbiters(Cycle now);
  void step(Cycle now);
  // Each event goes to its unit.
  void handle(const Event& event, Cycle now);
  void handle(const SubCoreEvent& event, Cycle now) { state_.sub_cores[event.sub_core].handle(*this, event, now); }
  void handle(const MemoryEvent& event, Cycle now) { state_.memory.handle(*this, event, now); }
  void handle(const BarrierEvent& event, Cycle now);
  void handle(const WgmmaEvent& event, Cycle now) { state_.wgmma.handle(*this, event, now); }
  void handle(const PlacementEvent& event, Cycle now);
  void tell_observer(Cycle limit);
  uint32_t busiest_row(int launch) const;

  // sm_issue.cc: what instructions other than fixed-latency ones do
  void issue_memory(Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now);
  void issue_variable_math(const Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now);
  void issue_wgmma(Warp& warp, const MicroOp& op, Cycle now);
  void issue_barrier(Warp& warp, const MicroOp& op, Cycle now);
  void issue_set_registers(Warp& warp, const MicroOp& op, Cycle now);
  void issue_exit(Warp& warp, int sub_core, int slot, Cycle now);
  void commit_async_group(Warp& warp);

  // sm_synchronise.cc: barriers, groups, conditions
  const Mbarrier& awaited_mbarrier(const Warp& warp, const MicroOp& op, uint64_t& pass) const;
  Mbarrier& mbarrier_of(const BarrierEvent& event);
  void mbarrier_arrive(const BarrierEvent& event, Cycle now);
  void mbarrier_bytes(const BarrierEvent& event, Cycle now);
  void finish_phase(const BarrierEvent& event, Cycle now);
  void release_barrier(const BarrierEvent& event, Cycle now);
  void reconsider_cta(int cta, Delay delay, Cycle now);

  // sm_timeline.cc
  std::vector<uint64_t> use();
  void sample_use(Cycle now);

  // sm_place.cc: CTAs
  void place_ctas(Cycle now);
  void place_what_fits(Cycle now);
  bool may_place(int launch, Cycle now);
  std::optional<int> held_back_by(int launch, Cycle now) const;
  bool fits(int launch) const;
  bool fits_resource(int launch, uint32_t need, uint32_t capacity, uint32_t HeldResources::* held,
                     uint32_t SmLaunch::* reserved) const;
  bool fits_quota(int launch) const;
  bool active(int launch) const;
  bool others_left(int launch) const;
  void launch_cta(int launch, Cycle now);
  void count_placed(int launch, uint64_t ctas);
  void start_warps(Cta& cta, int index, Cycle now);
  bool find_slots(uint32_t warps, std::vector<int>& slots) const;
  void end_cta(int index, Cycle now);

  // sm_other_bounds.cc
  size_t absent_at(int launch, int culprit, Contended resource) const;
  void compare_placement(bool placed, int launch, Cycle now);
  void settle_other_absences(Cycle now);
  void assess_other_absences(Cycle now);
  void visit_other_runs(StateVisitor& visitor);

  // sm_absence.cc: warps that are not there
  void settle_absences(Cycle now);
  void assess_absences(Cycle now);
  std::vector<Absence> absences(int launch, Cycle now) const;
  std::optional<Shortage> shortage(int launch, Cycle now) const;
  std::optional<Shortage> shortage_of_quota(int launch) const;
  std::vector<uint64_t> kept_from(int launch, uint32_t HeldResources::* held, uint32_t SmLaunch::* reserved) const;

  const Spec& spec_;
  ChipMemory* chip_;
  SmState state_;
  const std::vector<int> order_;  // launch indices in placement order
  const bool passes_on_;          // some warp may wait for a warp or request that has been held up
  SmObserver* observer_ = nullptr;
  std::vector<IssueRecord>* log_ = nullptr;
  uint32_t sm_class_ = 0;
  std::optional<TimelineRecorder> timeline_;
  Cycle next_sample_ = kNever;  // of the timeline's
  bool launch_ended_ = false;
  bool paused_ = false;
  bool shared_ = false;
  bool may_part_ = false;      // since run() was called
  bool ends_sharing_ = false;  // the same
  bool may_jump_ = false;
  std::vector<const EventQueue<Event>::Event*> event_order_;  // scratch of visit_events
};

}  // namespace warpfold::sim
