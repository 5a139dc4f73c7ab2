#pragma once

#include <cstdint>

namespace warpfold::workloads {

// Inputs of the rule that decides into how many parts keys are split.
struct SplitQuestion {
  uint64_t tiles = 0;          // over all heads and sequences
  uint64_t sms = 0;            // CTAs that run at a time
  uint64_t key_blocks = 0;     // per tile
  uint64_t query_tiles = 0;    // per head
  uint64_t kv_head_bytes = 0;  // keys and values
  bool causal = false;
  bool only_shorter = false;  // FlashAttention-2: consider a number of parts only if it makes the longest part shorter
};
// Returns the number of parts by the library's rule, as its repository describes it: Dao-AILab/flash-attention,
// num_splits_heuristic in hopper/heuristics.h; for FlashAttention-2 csrc/flash_attn/flash_api.cpp.
uint32_t splits_by_rule(const SplitQuestion& question);

}  // namespace warpfold::workloads
