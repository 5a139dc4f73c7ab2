#include "sim/sm/sm_snapshot.h"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

// Leaves out the fields that are not the SM's own: the launches there are, their progress, and the bandwidth that other
// SMs leave.
class OwnFields : public KeyFilter {
 public:
  bool keeps(const char* name, uint64_t /*word*/) override {
    return std::ranges::find(kOfLaunches, std::string_view(name)) == kOfLaunches.end();
  }

 private:
  static constexpr std::array<std::string_view, 7> kOfLaunches = {
      "launch_ready", "launch_started", "launch_has_ctas_left", "cta_source", "dram_fraction", "l1_fraction", "memory_rate"};
};

// Returns the row in which the launch has issued most, so that a correction is small in proportion.
uint32_t busiest_row(const Sm& sm, int launch) {
  const SmState& state = sm.state();
  uint32_t busiest = state.account.first_row(launch);
  for (uint32_t row = busiest + 1; row < state.account.end_row(launch); ++row) {
    if (state.account.cycles(row, WarpState::kSelected) > state.account.cycles(busiest, WarpState::kSelected)) busiest = row;
  }
  return busiest;
}

}  // namespace

uint64_t fingerprint(const Sm& sm) {
  const SmState& state = sm.state();
  uint64_t print = state.events.size();
  for (const auto& sub_core : state.sub_cores) print = std::rotl(print, 17) * 0x9e3779b97f4a7c15ULL ^ sub_core.fingerprint();
  return print;
}

bool is_pristine(Sm& sm, Cycle at) {
  OwnFields own_fields;
  const auto key = [&](Sm& of) {
    Snapshot snapshot;
    StateVisitor visitor(snapshot, at, &own_fields);
    of.visit(visitor);
    return snapshot.key;
  };
  if (sm.spec().half_ports() && at % 2 != 0) return false;
  Sm fresh(sm.spec(), sm.state().launches);
  sm.reset_arbiters(at);
  sm.memory().set_rates(at, fresh.memory().memory().rates());  // the next launch gets its rates when it asks for memory
  return key(sm) == key(fresh);
}

bool on_last_trip(const Sm& sm, int launch, const std::vector<bool>& parameters) {
  const SmState& state = sm.state();
  for (const SubCore& sub_core : state.sub_cores) {
    for (int slot = 0; slot < sub_core.slots(); ++slot) {
      const Warp& warp = sub_core.warp(slot);
      if (!warp.resident || warp.exited || warp.launch != launch) continue;
      for (uint32_t depth = 0; depth < warp.op->depth; ++depth) {
        const int parameter = warp.program->loop_around(*warp.op, depth).trips.parameter;
        if (warp.trips_left[depth] == 1 && parameter >= 0 && parameters[parameter]) return true;
      }
    }
  }
  return false;
}

void exchange_classes(Sm& sm, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of) {
  SmState& state = sm.state();
  sm.receive(std::move(ctas));
  state.exchange_classes(class_of);
  if (sm.observation().timeline) sm.observation().timeline->exchange_classes(class_of);
}

void move_on(Sm& sm, const FastForward& skip, bool exact) {
  StateVisitor visitor(skip);
  Observation& observation = sm.observation();
  if (!observation.timeline) return sm.visit(visitor);
  const Cycle start = sm.state().now + 1;
  const std::vector<uint64_t> before = use_of(sm);
  sm.visit(visitor);
  observation.timeline->skipped({start, skip.cycles / skip.periods, skip.periods, exact, skip.placed}, before, use_of(sm));
  observation.next_sample = observation.timeline->next_sample();
}

void correct(Sm& sm, int launch, const Correction& correction) {
  SmState& state = sm.state();
  LaunchAccount& account = state.account.launch(launch);
  account.instructions += correction.instructions;
  state.account.set_estimated();
  state.account.spend(busiest_row(sm, launch), WarpState::kSelected, correction.instructions);
  for (const auto& [place, cycles] : correction.waits) state.account.spend(place.first, place.second, cycles);
  account.resident_warp_cycles += correction.resident_warp_cycles;
  account.requested_bytes += correction.requested_bytes;
  account.served_bytes += correction.served_bytes;
  account.l1_bytes += correction.l1_bytes;
  account.dram_bytes += correction.dram_bytes;
  state.progress[launch].done += correction.ctas;
}

}  // namespace warpfold::sim
