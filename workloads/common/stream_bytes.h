#pragma once

#include <cstdint>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::workloads {

// By stream: bytes that the launch asks for.
std::vector<double> requested_bytes(const traces::Kernel& kernel);
// Of them, the share that comes from DRAM or goes there.
double dram_share(const traces::MemoryStream& stream);
// `of_parts` of `parts` from here on.
void set_dram_share(traces::MemoryStream& stream, uint64_t of_parts, uint64_t parts);

}  // namespace warpfold::workloads
