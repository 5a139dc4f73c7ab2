#pragma once

#include <cstdint>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::workloads {

// Bytes that the launch requests of L2, by stream.
std::vector<double> requested_bytes(const traces::Kernel& kernel);
// Share of a stream's bytes that comes from DRAM or goes there.
double dram_share(const traces::MemoryStream& stream);
// Sets that share to `of_parts` / `parts`.
void set_dram_share(traces::MemoryStream& stream, uint64_t of_parts, uint64_t parts);

}  // namespace warpfold::workloads
