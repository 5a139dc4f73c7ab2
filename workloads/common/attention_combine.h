#pragma once

#include <cstdint>

#include "configs/gpu.pb.h"
#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// The kernel that follows an attention kernel with split keys. Each row's log-sum-exps of all parts give each part a weight, and O
// is the weighted sum of the parts. A thread handles 16 bytes at a time. FlashAttention-3 uses 256 threads per CTA, tiles of 8 rows
// x 128 columns (or 16 x 64), and four buffers that cp.async fills (hopper/flash_fwd_combine_kernel.h,
// flash_fwd_combine_launch_template.h). FlashAttention-2 uses 128 threads (csrc/flash_attn/src/flash_fwd_launch_template.h);
// assumed: everything else as in FlashAttention-3. Parts are read from L2, except for the share that L2 has evicted since the
// attention kernel wrote it.
struct AttentionCombine {
  uint64_t rows = 1;  // over all sequences and heads
  uint64_t parts = 1;
  uint32_t head_dim = 128;
  bool fp16 = false;
  uint32_t warps = 8;
};

// With fewer than two parts the kernel is a single CTA that exits at once: the libraries launch no combine kernel in that case.
traces::Kernel make_attention_combine(const AttentionCombine& shape, const isa::Architecture& architecture,
                                      const configs::Gpu& gpu);

}  // namespace warpfold::workloads
