#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// Softmax attention with mma.sync, as FlashAttention-2 does it. Forward, a CTA holds a tile of queries and goes through the keys;
// backward, a block of keys and goes through the queries.
Expected<traces::Kernel> make_flash_attention_2(const configs::FlashAttention2& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
