#pragma once

#include <cstdint>
#include <string>

#include "workloads/common/program.h"

namespace warpfold::workloads {

// Philox inside attention: registers and rounds of its calls, each 128 random bits. What a call takes was counted where dropout was
// added to FlashAttention-3 (workloads/flash_attention_3/dropout.cc).
//
//   base      0-3 the words   4-7 two products   8, 9 keys, or 8-10 counters   10, 11 thresholds' results
struct FusedDropout {
  uint32_t rounds = 7;
  uint32_t base = 0;           // the first of twelve registers
  std::string counter = "R2";  // of the thread
  std::string threshold = "R1";

  static constexpr uint32_t kRegisters = 12;
  static constexpr uint32_t kScoresOfCall = 16;  // with 8 bits each
  std::string word(uint32_t index) const { return general(base + index % 4); }
};

// The call-th call's part of what four calls take, so that the parts add up.
uint32_t part_of_calls(uint32_t count, uint32_t call);

// The rounds of a call: with keys that each call computes anew, as counted with 8 bits a score; or with keys in uniform registers,
// as the Philox kernel of 32 bits has them.
void add_rounds_with_keys(Code& code, const FusedDropout& dropout, uint32_t call);
void add_rounds_with_kept_keys(Code& code, const FusedDropout& dropout, uint32_t call);

// Bytes of the words to halves, compared and applied to packed probabilities, eight registers from `first` on.
void add_byte_thresholds(Code& code, const FusedDropout& dropout, uint32_t call, uint32_t first);

}  // namespace warpfold::workloads
