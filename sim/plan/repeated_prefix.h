#pragma once

#include <optional>
#include <vector>

#include "sim/plan/epochs.h"
#include "sim/plan/outcome.h"

namespace warpfold::sim {

// The launches of `epoch` that do what those of `before` did, of which `outcome` is, where all later launches of `epoch` wait for
// their end: the same kernels but for their names, waited for by the same.
std::optional<Epoch> repeated_prefix(const std::vector<Launch>& launches, const Epoch& epoch, const Epoch& before,
                                     const Outcome& outcome, bool serialise);

}  // namespace warpfold::sim
