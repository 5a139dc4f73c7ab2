#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::workloads {

// Appends `ctas` CTAs with these values of the kernel's parameters to its grid. An existing CTA class with equal values is reused,
// whatever its name.
void add_cta_run(traces::Kernel& kernel, const std::string& name, const std::vector<uint64_t>& values, uint64_t ctas);

}  // namespace warpfold::workloads
