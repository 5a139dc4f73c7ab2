#pragma once

#include <cstdint>

#include "configs/gpu.pb.h"
#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// The kernel behind one that splits keys: for each row the parts' log-sum-exps give a weight for each part, and O is their weighted
// sum. 16 bytes of a thread at a time: FlashAttention-3 has 256 threads a CTA, 8 rows of 128 columns (16 of 64), and four buffers
// that cp.async fills (hopper/flash_fwd_combine_kernel.h, flash_fwd_combine_launch_template.h); FlashAttention-2 has 128 threads
// (csrc/flash_attn/src/flash_fwd_launch_template.h), of which the same is assumed. Parts come from L2, but for what of them has
// left it since it was written.
struct AttentionCombine {
  uint64_t rows = 1;  // of all sequences and heads
  uint64_t parts = 1;
  uint32_t head_dim = 128;
  bool fp16 = false;
  uint32_t warps = 8;
};

// Of one part: a CTA that ends at once. The libraries launch none then.
traces::Kernel make_attention_combine(const AttentionCombine& shape, const isa::Architecture& architecture,
                                      const configs::Gpu& gpu);

}  // namespace warpfold::workloads
