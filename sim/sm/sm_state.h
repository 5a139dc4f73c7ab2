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

// How far a launch has come on an SM.
struct LaunchProgress {
  Cycle ready = kNever;      // it may place CTAs from here on; kNever: not released yet
  Cycle start = kNever;      // its first CTA was placed
  Cycle end = 0;             // its last CTA so far ended
  size_t next_run = 0;       // of its list of CTAs
  uint64_t next_in_run = 0;  // CTA of that run
  uint64_t placed = 0;
  uint64_t running = 0;
  uint64_t done = 0;

  bool operator==(const LaunchProgress&) const = default;
};

// What the resident CTAs of a launch occupy.
struct HeldResources {
  uint32_t registers = 0;
  uint32_t shared_memory = 0;
  uint32_t warps = 0;
  uint32_t tensor_memory = 0;  // columns

  bool operator==(const HeldResources&) const = default;
};

// Warps that a launch misses every cycle, and the launch to which they are charged.
struct Absence {
  int culprit;
  Contended resource;
  uint64_t warps;

  bool operator==(const Absence&) const = default;
};

// What placement would have been under alternative bounds.
struct AlternativeRun {
  std::vector<PlacementBounds> bounds;  // by launch
  uint64_t differences = 0;             // CTAs that would have been placed earlier or later; after the first, nothing is counted
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

// Where a warp slot of the SM lies.
struct WarpPlace {
  int sub_core;
  int slot;
};

// Everything that an SM keeps, as plain data: assigned to another SM of the same spec and launches, that one goes on as this one
// would have. Pointers in it lead to immutable kernel images alone. Sm::visit says what each field is to a state key.
//
// What looks at an SM (observer, timeline, issue log), what controls its run, and memory shared with other SMs are not part of it.
struct SmState {
  std::vector<SmLaunch> launches;  // what it receives of each
  std::vector<LaunchProgress> progress{};
  std::vector<HeldResources> held{};             // by launch
  std::vector<std::vector<Absence>> absences{};  // by launch, since absent_since
  std::vector<uint64_t> present{};               // by launch: warps of CTAs on the SM, since absent_since
  Cycle absent_since = 0;
  std::vector<AlternativeRun> alternatives{};
  Account account;
  EventQueue<Event> events{};
  // Per sub-core: the next cycle in which something can happen; kNever: only an event can wake it.
  std::array<Cycle, kMostSubCores> due = kNeverDue;
  std::vector<SubCore> sub_cores{};
  MemoryStage memory;
  WgmmaUnit wgmma{};
  Tcgen05Unit tcgen05{};
  std::vector<Cta> ctas;         // by slot
  std::vector<bool> slot_taken;  // by WarpSlot
  uint64_t open_wgmma = 0;       // commands that not all four warps have issued yet
  bool loop_end = false;         // or the end of a CTA without loops: not told to the observer yet
  uint64_t next_serial = 1;      // of a warp or CTA
  uint64_t warps_started = 0;
  Cycle next_cta_at = 0;     // a CTA may be placed from here on
  Cycle place_due = 0;       // the last placement scheduled
  bool may_place = false;    // an event of cycle `now` may have made room for a CTA
  int asks = kNoLaunch;      // the launch whose next CTA the SM wants of the chip's queue
  bool interrupted = false;  // for that: the events of cycle `now` have been handled, nothing has been issued in it
  Cycle now = 0;             // the last cycle that was run

  bool operator==(const SmState&) const = default;

  bool launch_done(int launch) const { return progress[launch].running == 0 && !ctas_left(launch); }
  // On its list, or on the chip's queue.
  bool ctas_left(int launch) const { return listed(launch) || launches[launch].source != CtaSource::kList; }
  // On its list.
  bool listed(int launch) const { return progress[launch].next_run < launches[launch].ctas.size(); }
  uint64_t ctas_placed(int launch) const { return progress[launch].placed; }
  // Warps of a CTA of the launch wait for each other.
  bool coupled(int launch) const { return launches[launch].image->coupled; }
  bool cta_lives(int cta, uint64_t serial) const { return ctas[cta].resident && ctas[cta].serial == serial; }
  // Slots go round the sub-cores.
  WarpPlace place_of(WarpSlot slot) const {
    const auto cores = static_cast<uint32_t>(sub_cores.size());
    return {static_cast<int>(std::to_underlying(slot) % cores), static_cast<int>(std::to_underlying(slot) / cores)};
  }
  const Warp& warp(WarpPlace place) const { return sub_cores[place.sub_core].warp(place.slot); }
  uint64_t trips(const Warp& warp, const traces::TripCount& count) const;
  // Equal answers to whether alternative bounds would have made a difference: nothing is counted of a run that would have.
  bool differs_from_alternatives_like(const SmState& other) const;
  // Another list of CTAs for each launch than so far; those that have been placed lead them.
  void receive(std::vector<CtaList> ctas);
  void count_placed(int launch, uint64_t ctas);
  // The CTAs are of other classes. `class_of`: per launch, what each class is now. Trips that a class bounds are those that the
  // new class would have left.
  void exchange_classes(const std::vector<ClassMap>& class_of);
};

SmState initial_state(const Spec& spec, std::vector<SmLaunch> launches);

}  // namespace warpfold::sim
