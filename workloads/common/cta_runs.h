#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::workloads {

// So many CTAs with these values of the kernel's parameters at the end of its grid. A class that has the values is taken again,
// whatever its name.
void add_cta_run(traces::Kernel& kernel, const std::string& name, const std::vector<uint64_t>& values, uint64_t ctas);

}  // namespace warpfold::workloads
