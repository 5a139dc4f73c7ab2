#pragma once

#include <optional>
#include <vector>

#include "sim/plan/epochs.h"
#include "sim/plan/outcome.h"

namespace warpfold::sim {

// Returns the launches at the start of `epoch` that repeat those of the earlier epoch `before`: the same kernels,
// whatever their names, with the same dependences. All other launches of `epoch` must wait for the end of these. None
// if there is no such prefix. `outcome`: that of `before`.
std::optional<Epoch> repeated_prefix(const std::vector<Launch>& launches, const Epoch& epoch, const Epoch& before,
                                     const Outcome& outcome, bool serialise);

}  // namespace warpfold::sim
