#pragma once

#include "configs/gpu.pb.h"

namespace warpfold::cli {

// FLOP a clock of all SMs' tensor cores: 16-bit operands with FP32 sums, by the widest product that the architecture has
// (tcgen05.mma, wgmma, mma.sync), with the GPU's what-if factor. 0 where the architecture has no opcode table, or multiplies no
// matrices.
double tensor_flop_per_clk(const configs::Gpu& gpu);

}  // namespace warpfold::cli
