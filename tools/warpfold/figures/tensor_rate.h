#pragma once

#include "configs/gpu.pb.h"

namespace warpfold::cli {

// Returns the FLOP per clock of all SMs' tensor cores for 16-bit operands with FP32 sums. Takes the widest product that the
// architecture has (tcgen05.mma, wgmma, mma.sync) and the GPU's what-if factor. 0 if the architecture has no opcode table, or no
// matrix product.
double tensor_flop_per_clk(const configs::Gpu& gpu);

}  // namespace warpfold::cli
