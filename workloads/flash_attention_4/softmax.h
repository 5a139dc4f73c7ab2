#pragma once

#include <cstdint>
#include <string>

#include "workloads/common/fused_dropout.h"
#include "workloads/flash_attention_4/roles.h"

namespace warpfold::workloads::attention4 {

// Registers of a softmax thread, which processes one row of the tile.
struct Registers {
  static constexpr uint32_t kScale = 4;    // factor that rescales the row's earlier results; a pair with the next register
  static constexpr uint32_t kSum = 6;      // sum of the probabilities so far; a pair
  static constexpr uint32_t kMaximum = 1;  // largest score so far
  static constexpr uint32_t kBias = 2;     // negated scaled maximum, twice
  static constexpr uint32_t kWork = 8;     // eight registers
  static uint32_t score(uint32_t i) { return 16 + i; }
  // Registers of two fragments of P: one is computed while the other is stored.
  static uint32_t probability(uint32_t fragment) { return score(FlashAttention4Plan::kTileKeys) + 16 * (fragment % 2); }
  // A Philox call; or a block's stored bits and two words made of them. The thread's counter and its threshold follow.
  static constexpr uint32_t kDropout = 16 + FlashAttention4Plan::kTileKeys + 32;
  static constexpr uint32_t kCounter = kDropout + FusedDropout::kRegisters;
  static constexpr uint32_t kThreshold = kCounter + 1;
};

// Dropout of a block (dropout.cc). add_mask_load loads its stored bits. add_dropout_of_fragment masks a fragment of packed
// probabilities by stored bits or by 8 random bits each. add_dropout_of_pair masks two scores by 32 random bits each and returns
// the registers to pack.
struct KeptPair {
  std::string low, high;
};
void add_mask_load(Code& code, const FlashAttention4Plan& plan);
void add_dropout_of_fragment(Code& code, const FlashAttention4Plan& plan, uint32_t fragment);
KeptPair add_dropout_of_pair(Code& code, const FlashAttention4Plan& plan, uint32_t pair);

// Converts a block's scores to probabilities, in registers and in tensor memory, for fragments `begin` to `end`. The call for the
// first fragment also scales the scores of all fragments.
void add_exponentials(Code& code, const FlashAttention4Plan& plan, uint32_t begin, uint32_t end);
void add_row_sum(Code& code);

}  // namespace warpfold::workloads::attention4
