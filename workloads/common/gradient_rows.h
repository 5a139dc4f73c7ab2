#pragma once

#include <cstdint>

#include "configs/scenario.pb.h"
#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// A tile of one of the arrays that the kernels before and after a backward pass process, with eight warps per CTA.
struct GradientRows {
  const isa::Architecture* architecture;
  configs::ElementType type = configs::BF16;
  uint32_t tile_rows = 128;
  uint32_t head_dim = 128;

  uint32_t tile_bytes() const { return tile_rows * head_dim * 2; }  // 16-bit elements
};

// Adds the kernel that runs before the backward pass of FlashAttention-3 and -4, with `tiles` tiles of queries. It computes dot(O,
// dO) for each row, converts the row's log-sum-exp to base 2, and clears the FP32 sums of dQ.
void add_gradient_preparation(traces::Kernel& kernel, const GradientRows& rows, uint64_t tiles);
// Adds the kernel that runs after the backward pass: it loads the FP32 sums of dQ by TMA, scales them and converts them to 16 bits.
void add_gradient_conversion(traces::Kernel& kernel, const GradientRows& rows, uint64_t tiles);

}  // namespace warpfold::workloads
