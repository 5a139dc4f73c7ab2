#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/kernel.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// Streams of a backward pass whose CTAs have a block of keys each, by index in its kernel. Rows: log-sum-exp and dot(O, dO), a
// number each for a query.
enum GradientStream : int16_t {
  kStreamQueries = 0,
  kStreamOutputGradient = 1,
  kStreamRows = 2,
  kStreamKeys = 3,
  kStreamValues = 4,
  kStreamQueryGradient = 5,
  kStreamKeyGradient = 6,
  kStreamValueGradient = 7,
};

// Query blocks are read by every key block that meets them, and dQ is added to as often; from and to DRAM they go once as long as
// those of the heads that run at a time stay in L2 (Q, dO in 16 bits, dQ in 32). Heads that share keys read them one after the
// other. `key_blocks`: of one head, the query blocks that each meets; `concurrent`: CTAs that run at a time.
std::vector<traces::MemoryStream> gradient_streams(const AttentionTiles& tiles, uint32_t tile_queries,
                                                   std::span<const QueryTile> key_blocks, uint64_t concurrent, uint64_t l2_bytes);

}  // namespace warpfold::workloads
