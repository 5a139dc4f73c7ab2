#pragma once

#include <cstdint>

#include "traces/kernel.h"

namespace warpfold::workloads {

// L2 of `l2_bytes` holds as much of what the kernel reads as fits when it begins (Kernel.l2: WARM). Of what each read stream has
// from DRAM, that share is served by L2 instead, the same of every stream; shares that are left are in 256ths, rounded up.
//
//   a kernel that reads 30 MB from DRAM, L2 of 50 MB: no read goes to DRAM
//   100 MB: half of each stream's reads from DRAM are left
//
// What it reads from DRAM again, because L2 is too small for its reuse, counts as what it reads; writes stay as they are.
void warm_l2(traces::Kernel& kernel, uint64_t l2_bytes);

}  // namespace warpfold::workloads
