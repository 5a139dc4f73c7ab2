#pragma once

#include "configs/diagnostic.h"
#include "sim/gpu/simulate.h"
#include "sim/sm/kernel_image.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// Fails where no CTA, which needs `need`, could start within the bounds that the launch is given: a reservation or a quota smaller
// than one CTA, SMs that the GPU has not.
Expected<void> check_bounds(const Spec& spec, const Launch& launch, const Footprint& need);

}  // namespace warpfold::sim
