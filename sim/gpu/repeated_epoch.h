#pragma once

#include <optional>
#include <vector>

#include "sim/gpu/epochs.h"
#include "sim/gpu/simulate.h"

namespace warpfold::sim {

// A part of `epoch` that does what `before` did, of which `outcome` is, where all that comes later in `epoch` waits for its end:
// the same kernels but for their names, waited for by the same.
std::optional<Epoch> begins_like(const std::vector<Launch>& launches, const Epoch& epoch, const Epoch& before,
                                 const Outcome& outcome, bool serialise);

}  // namespace warpfold::sim
