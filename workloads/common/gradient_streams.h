#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/kernel.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// Memory streams of a backward pass in which each CTA owns a block of keys; the value is the stream's index in its kernel. `rows`
// are the log-sum-exp and dot(O, dO): one number each per query.
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

// Every key block reads each query block that it meets, and adds to that block's dQ. DRAM sees each query block once if Q and dO
// (16 bits) and dQ (32 bits) of the heads that run at a time fit in L2; otherwise it sees every access. Heads that share keys read
// them one after the other. `key_blocks`: for each key block of one head, the query blocks that it meets; `concurrent`: CTAs that
// run at a time.
std::vector<traces::MemoryStream> gradient_streams(const AttentionTiles& tiles, uint32_t tile_queries,
                                                   std::span<const QueryTile> key_blocks, uint64_t concurrent, uint64_t l2_bytes);

}  // namespace warpfold::workloads
