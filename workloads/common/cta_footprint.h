#pragma once

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// True if warpgroups of the kernel move registers among themselves (setmaxnreg). The registers of the launch are then fixed, since
// the warpgroups divide them.
bool moves_registers(const traces::Kernel& kernel);

// Replaces the registers and shared memory of the kernel's CTA by the values that `footprint` states. Fails, at the field, if the
// program cannot run with them.
Expected<void> apply_footprint(const configs::Footprint& footprint, traces::Kernel& kernel);

}  // namespace warpfold::workloads
