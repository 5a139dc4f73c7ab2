#pragma once

#include <cstdint>
#include <vector>

#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// Key blocks of each causal tile in launch order. Within a section of `section` heads the longest tiles come first: each head's
// last tile, then each head's last but one, and so on (FlashAttention, SingleTileLPTScheduler and the Hopper library's scheduler
// from January 2025 on).
std::vector<uint64_t> longest_first(const AttentionTiles& tiles, uint64_t section);

// Number of heads whose keys and values fit in `bytes`, rounded down to a power of two; at least one.
uint64_t heads_within(const AttentionTiles& tiles, uint64_t bytes);

}  // namespace warpfold::workloads
