#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"
#include "workloads/flash_attention_3/plan.h"

namespace warpfold::workloads {

// The kernel behind a split one: for each row the parts' log-sum-exps give a weight for each part, and O is their weighted sum.
// 256 threads a CTA; 8 rows of 128 columns each (16 of 64 at head_dim 64), a thread 4 columns of a row. Parts come by cp.async
// through four buffers (hopper/flash_fwd_combine_kernel.h, flash_fwd_combine_launch_template.h). They are read from L2, but for
// what of them has left it since it was written.
Expected<traces::Kernel> make_attention_combine(const configs::FlashAttention3& attention, const FlashAttention3Plan& plan,
                                                const configs::Gpu& gpu);

}  // namespace warpfold::workloads
