#pragma once

#include "configs/diagnostic.h"
#include "sim/gpu/simulate.h"
#include "sim/sm/kernel_image.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// Fails if the launch's bounds let no CTA start. `need`: resources of one CTA. Errors: a reservation or a quota that is
// smaller than one CTA; a range of SMs that the GPU does not have.
Expected<void> check_bounds(const Spec& spec, const Launch& launch, const Footprint& need);

}  // namespace warpfold::sim
