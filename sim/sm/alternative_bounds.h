// Reservations or quotas that the launches might have had instead: whether they would have changed anything. State:
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

// Bounds to compare with from now on; [which][launch].
void compare_with(Sm& sm, const std::vector<std::vector<PlacementBounds>>& alternatives);
bool same_under(const Sm& sm, size_t which);
uint64_t absent_under(const Sm& sm, size_t which, int launch, int culprit, Contended resource);

// ---- called by placement and absence

// The launch's next CTA may be placed now, or not: the same under each alternative?
void compare_placement(Sm& sm, bool placed, int launch, Cycle now);
void settle_alternative_absences(Sm& sm, Cycle now);
void assess_alternative_absences(Sm& sm, Cycle now);
void visit_alternatives(Sm& sm, StateVisitor& visitor);

}  // namespace warpfold::sim
