#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// Softmax attention by mma.sync, as in FlashAttention-2. In the forward pass a CTA holds a tile of queries and loops over the keys;
// in the backward pass it holds a block of keys and loops over the queries.
Expected<traces::Kernel> make_flash_attention_2(const configs::FlashAttention2& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
