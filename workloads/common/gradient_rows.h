#pragma once

#include <cstdint>

#include "configs/scenario.pb.h"
#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// A tile of one of the arrays that the kernels round a backward pass go through, eight warps a CTA.
struct GradientRows {
  const isa::Architecture* architecture;
  configs::ElementType type = configs::BF16;
  uint32_t tile_rows = 128;
  uint32_t head_dim = 128;

  uint32_t tile_bytes() const { return tile_rows * head_dim * 2; }  // in 16 bits
};

// FlashAttention-3's and -4's kernel before the backward pass, `tiles` tiles of queries: dot(O, dO) for each row, its log-sum-exp
// in base 2, and dQ's FP32 sums cleared.
void add_gradient_preparation(traces::Kernel& kernel, const GradientRows& rows, uint64_t tiles);
// And the one behind it: dQ from FP32, by TMA, to 16 bits, scaled.
void add_gradient_conversion(traces::Kernel& kernel, const GradientRows& rows, uint64_t tiles);

}  // namespace warpfold::workloads
