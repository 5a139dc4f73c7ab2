#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/account/account.h"
#include "sim/engine/event_queue.h"
#include "sim/sm/event.h"
#include "sim/sm/memory_stage.h"
#include "sim/sm/sm_launch.h"
#include "sim/sm/sub_core.h"
#include "sim/sm/tcgen05_unit.h"
#include "sim/sm/warp.h"
#include "sim/sm/wgmma_unit.h"

namespace warpfold::sim {

// Progress of a launch on an SM.
struct LaunchProgress {
  Cycle ready = kNever;      // first cycle in which it may place CTAs; kNever: not released yet
  Cycle start = kNever;      // cycle in which its first CTA was placed
  Cycle end = 0;             // cycle in which its last CTA so far ended
  Cycle over = kNever;       // first cycle in which the SM knows that it has ended on the whole chip
  size_t next_run = 0;       // index in its list of CTAs
  uint64_t next_in_run = 0;  // index of the next CTA in that run
  uint64_t placed = 0;
  uint64_t running = 0;
  uint64_t done = 0;

  bool operator==(const LaunchProgress&) const = default;
};

// Resources that the resident CTAs of a launch occupy.
struct HeldResources {
  uint32_t registers = 0;
  uint32_t shared_memory = 0;
  uint32_t warps = 0;
  uint32_t tensor_memory = 0;  // columns

  bool operator==(const HeldResources&) const = default;
};

// Warps that a launch misses in every cycle for lack of a resource, and the launch to which they are charged.
struct Absence {
  int culprit;
  Contended resource;
  uint64_t warps;

  bool operator==(const Absence&) const = default;
};

// Comparison of the run with alternative bounds.
struct AlternativeRun {
  std::vector<PlacementBounds> bounds;  // by launch
  uint64_t differences = 0;             // CTAs that would have been placed earlier or later; nothing is counted after the first
  std::vector<std::vector<Absence>> absences;  // as SmState::absences
  std::vector<uint64_t> absent;                // [launch][culprit][resource]: warp-cycles

  bool operator==(const AlternativeRun&) const = default;
};

inline constexpr int kNoLaunch = -1;
inline constexpr std::array<Cycle, kMostSubCores> kNeverDue = [] {
  std::array<Cycle, kMostSubCores> due{};
  due.fill(kNever);
  return due;
}();

// Place of a warp slot of the SM.
struct WarpPlace {
  int sub_core;
  int slot;
};

// The complete state of an SM, as plain data. Another SM of the same spec and launches to which it is assigned goes on
// as this one would have. Its pointers lead only to immutable kernel images. Sm::visit says how each field enters a
// state key.
//
// The state does not include observers (observer, timeline, issue log), the control of runs, and memory shared with
// other SMs.
struct SmState {
  std::vector<SmLaunch> launches;  // CTAs and bounds that the SM receives of each launch
  std::vector<LaunchProgress> progress{};
  std::vector<HeldResources> held{};             // by launch
  std::vector<std::vector<Absence>> absences{};  // by launch, since absent_since
  std::vector<uint64_t> present{};               // by launch: warps of CTAs on the SM, since absent_since
  Cycle absent_since = 0;
  std::vector<AlternativeRun> alternatives{};
  Account account;
  EventQueue<Event> events{};
  // Per sub-core: the next cycle in which it can make progress; kNever: only an event can wake it.
  std::array<Cycle, kMostSubCores> due = kNeverDue;
  std::vector<SubCore> sub_cores{};
  MemoryStage memory;
  WgmmaUnit wgmma{};
  Tcgen05Unit tcgen05{};
  std::vector<Cta> ctas;          // by slot
  std::vector<bool> slot_taken;   // by WarpSlot
  uint64_t open_wgmma = 0;        // wgmma commands that some of the four warps have yet to issue
  bool loop_end = false;          // a loop's trip or a CTA without loops has ended; the observer has yet to look
  uint64_t next_serial = 1;       // serial of the next warp or CTA
  uint64_t warps_started = 0;     // number of the next warp in the issue log
  Cycle next_cta_at = 0;          // first cycle in which a CTA may be placed
  Cycle place_due = 0;            // cycle of the last placement scheduled
  bool may_place = false;         // an event of cycle `now` may have made room for a CTA
  int asking_launch = kNoLaunch;  // launch of the CTA for which the SM asks the chip's queue
  bool interrupted = false;       // the SM asks: the events of cycle `now` have been handled, nothing has been issued in it
  Cycle now = 0;                  // last cycle that has run

  bool operator==(const SmState&) const = default;

  bool launch_done(int launch) const { return progress[launch].running == 0 && !ctas_left(launch); }
  // True if the launch has a CTA left on the SM's list, or may have one on the chip's queue.
  bool ctas_left(int launch) const { return listed(launch) || launches[launch].source != CtaSource::kList; }
  // True if the launch has a CTA left on the SM's list.
  bool listed(int launch) const { return progress[launch].next_run < launches[launch].ctas.size(); }
  // True if a launch other than `launch` has CTAs on the SM.
  bool others_resident(int launch) const;
  // True if a launch other than `launch` is under way on the chip, as far as the SM knows.
  bool others_under_way(int launch) const;
  uint64_t ctas_placed(int launch) const { return progress[launch].placed; }
  // True if warps of a CTA of the launch wait for each other.
  bool coupled(int launch) const { return launches[launch].image->coupled; }
  bool cta_lives(int cta, uint64_t serial) const { return ctas[cta].resident && ctas[cta].serial == serial; }
  // Consecutive slots lie on consecutive sub-cores.
  WarpPlace place_of(WarpSlot slot) const {
    const auto cores = static_cast<uint32_t>(sub_cores.size());
    return {static_cast<int>(std::to_underlying(slot) % cores), static_cast<int>(std::to_underlying(slot) / cores)};
  }
  const Warp& warp(WarpPlace place) const { return sub_cores[place.sub_core].warp(place.slot); }
  uint64_t trips(const Warp& warp, const traces::TripCount& count) const;
  // True if both states agree, for each alternative, on whether its bounds would have made a difference. Charges are
  // not counted after a difference.
  bool differs_from_alternatives_like(const SmState& other) const;
  // Replaces each launch's list of CTAs. A new list begins with the CTAs that have been placed.
  void receive(std::vector<CtaList> ctas);
  void count_placed(int launch, uint64_t ctas);
  // Changes the classes of the resident CTAs. `class_of`: per launch, the new class of each class. Loops whose trips
  // depend on the class get the trips left that the new class would have.
  void exchange_classes(const std::vector<ClassMap>& class_of);
};

SmState initial_state(const Spec& spec, std::vector<SmLaunch> launches);

}  // namespace warpfold::sim
