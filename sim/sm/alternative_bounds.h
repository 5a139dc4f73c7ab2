// Alternative bounds: whether other reservations or quotas of the launches would have changed the run. State:
// SmState::alternatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/account/account.h"
#include "sim/engine/state_visitor.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

class Sm;

// Compares the run with these bounds from now on; [alternative][launch].
void compare_with(Sm& sm, const std::vector<std::vector<PlacementBounds>>& alternatives);
// No placement of a CTA has differed under alternative `which` so far.
bool same_under(const Sm& sm, size_t which);
// Warp-cycles that the launch missed for lack of `resource`, charged to launch `culprit`, under alternative `which`.
uint64_t absent_under(const Sm& sm, size_t which, int launch, int culprit, Contended resource);

// ---- for cta_slots.cc, sm_absence.cc and Sm::visit

// Counts a difference for each alternative whose bounds decide otherwise. `placed`: the decision whether the launch may
// place its next CTA now.
void compare_placement(Sm& sm, bool placed, int launch, Cycle now);
void settle_alternative_absences(Sm& sm, Cycle now);
void assess_alternative_absences(Sm& sm, Cycle now);
void visit_alternatives(Sm& sm, StateVisitor& visitor);

}  // namespace warpfold::sim
