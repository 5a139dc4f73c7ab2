#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/engine/time.h"
#include "sim/plan/epochs.h"
#include "sim/plan/outcome.h"

namespace warpfold::sim {

// Reduces an outcome to the launches that ran (Outcome::ran).
Outcome restrict_to_ran(Outcome outcome);

// Joins the outcomes of epochs that run one after the other into one outcome of all launches. Each epoch but the last
// must have left the GPU idle; the next one begins `kernel_launch` cycles after its end. `launches`,
// `alternative_bounds`: their numbers. The capacities of resources are set later, from the total time
// (settle_resources).
Outcome in_sequence(size_t launches, const std::vector<Epoch>& epochs, const std::vector<std::shared_ptr<const Outcome>>& outcomes,
                    size_t alternative_bounds, Cycle kernel_launch);

}  // namespace warpfold::sim
