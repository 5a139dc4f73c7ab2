#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/engine/time.h"
#include "sim/plan/epochs.h"
#include "sim/plan/outcome.h"

namespace warpfold::sim {

// The outcome of those launches of a run that ran (Outcome::ran).
Outcome of_those_that_ran(Outcome outcome);

// Outcomes of epochs, each of which has left an idle GPU to the next, as one: of all `launches`, in their order. Epochs begin
// `kernel_launch` cycles after the end of the one before. Resources have yet to be set against the whole time (settle_resources).
Outcome in_sequence(size_t launches, const std::vector<Epoch>& epochs, const std::vector<std::shared_ptr<const Outcome>>& outcomes,
                    size_t alternative_bounds, Cycle kernel_launch);

}  // namespace warpfold::sim
