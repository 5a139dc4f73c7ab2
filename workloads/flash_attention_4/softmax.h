#pragma once

#include <cstdint>
#include <string>

#include "workloads/common/fused_dropout.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {

// Registers of a softmax thread, which has a row of the tile.
struct Registers {
  static constexpr uint32_t kScale = 4;    // what the row's earlier results shrink by; with the one behind it a pair
  static constexpr uint32_t kSum = 6;      // of the probabilities so far; a pair
  static constexpr uint32_t kMaximum = 1;  // largest score so far
  static constexpr uint32_t kBias = 2;     // scaled maximum, negative, twice
  static constexpr uint32_t kWork = 8;     // eight of them
  static uint32_t score(uint32_t i) { return 16 + i; }
  // Two fragments of P at a time: one is made while the other is stored.
  static uint32_t probability(uint32_t fragment) { return score(FlashAttention4Plan::kTileKeys) + 16 * (fragment % 2); }
  // A Philox call, or a block's stored bits and two words made of them; then the thread's counter and its threshold.
  static constexpr uint32_t kDropout = 16 + FlashAttention4Plan::kTileKeys + 32;
  static constexpr uint32_t kCounter = kDropout + FusedDropout::kRegisters;
  static constexpr uint32_t kThreshold = kCounter + 1;
};

// Dropout of a block (dropout.cc): the load of its stored bits; of a fragment of packed probabilities by stored bits or 8 random
// bits each; two scores, of 32 random bits each, as operands that are packed.
struct KeptPair {
  std::string low, high;
};
void add_mask_load(Code& code, const FlashAttention4Plan& plan);
void add_dropout_of_fragment(Code& code, const FlashAttention4Plan& plan, uint32_t fragment);
KeptPair add_dropout_of_pair(Code& code, const FlashAttention4Plan& plan, uint32_t pair);

// The scores of a block, in registers, become probabilities, in registers and in tensor memory: fragments `begin` to `end`, with
// the first one the scales of all.
void add_exponentials(Code& code, const FlashAttention4Plan& plan, uint32_t begin, uint32_t end);
void add_row_sum(Code& code);

}  // namespace warpfold::workloads::attention4
