#pragma once

#include <cstdint>
#include <vector>

#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// Causal tiles by the key blocks of each, the longest first, within sections of `section` heads: the last tile of each head, the
// one before of each, and so on (FlashAttention, SingleTileLPTScheduler and the Hopper library's scheduler from January 2025 on).
std::vector<uint64_t> longest_first(const AttentionTiles& tiles, uint64_t section);

// Heads whose keys and values are `bytes` together, rounded down to a power of two; at least one.
uint64_t heads_within(const AttentionTiles& tiles, uint64_t bytes);

}  // namespace warpfold::workloads
