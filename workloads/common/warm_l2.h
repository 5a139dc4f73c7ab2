#pragma once

#include <cstdint>

#include "traces/kernel.h"

namespace warpfold::workloads {

// Lets the kernel start with its inputs in an L2 of `l2_bytes`, as far as they fit (Kernel.l2: WARM). The same share of every read
// stream's DRAM bytes then comes from L2. The DRAM shares that remain are multiples of 1/256, rounded up.
//
//   a kernel that reads 30 MB from DRAM, L2 of 50 MB: no read goes to DRAM
//   a kernel that reads 100 MB: half of each stream's reads still go to DRAM
//
// Repeated DRAM reads of the same bytes, made because L2 is too small for their reuse, count as bytes read. Writes do not change.
void warm_l2(traces::Kernel& kernel, uint64_t l2_bytes);

}  // namespace warpfold::workloads
