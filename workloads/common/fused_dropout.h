#pragma once

#include <cstdint>
#include <string>

#include "workloads/common/program.h"

namespace warpfold::workloads {

// Registers and rounds of the Philox calls inside an attention kernel; each call yields 128 random bits. The instructions per call
// are those counted when dropout was added to FlashAttention-3 (workloads/flash_attention_3/dropout.cc).
//
//   base      0-3 the words   4-7 two products   8, 9 keys, or 8-10 counters   10, 11 thresholds' results
struct FusedDropout {
  uint32_t rounds = 7;
  uint32_t base = 0;           // first of twelve registers
  std::string counter = "R2";  // the thread's counter
  std::string threshold = "R1";

  static constexpr uint32_t kRegisters = 12;
  static constexpr uint32_t kScoresOfCall = 16;  // one Philox call makes 128 bits, 8 per score
  std::string word(uint32_t index) const { return general(base + index % 4); }
};

// Share of `count` instructions, counted for four calls, that belongs to call `call`. The shares of four calls add up to `count`.
uint32_t part_of_calls(uint32_t count, uint32_t call);

// Add the rounds of one call. The first variant computes the round keys anew in each call, as counted at 8 bits per score; the
// second keeps the keys in uniform registers, as the 32-bit Philox kernel does.
void add_rounds_with_keys(Code& code, const FusedDropout& dropout, uint32_t call);
void add_rounds_with_kept_keys(Code& code, const FusedDropout& dropout, uint32_t call);

// Converts the bytes of the random words to halves, compares them with the threshold, and applies the mask to packed probabilities
// in eight registers from `first` on.
void add_byte_thresholds(Code& code, const FusedDropout& dropout, uint32_t call, uint32_t first);

}  // namespace warpfold::workloads
