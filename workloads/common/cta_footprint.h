#pragma once

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// Whether warpgroups of the kernel move registers between them (setmaxnreg): the registers of its launch are what they divide.
bool moves_registers(const traces::Kernel& kernel);

// What the kernel's CTA occupies becomes what `footprint` states. Fails at the field where the program cannot run with it.
Expected<void> apply_footprint(const configs::Footprint& footprint, traces::Kernel& kernel);

}  // namespace warpfold::workloads
