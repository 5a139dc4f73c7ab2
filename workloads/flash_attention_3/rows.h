#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/flash_attention_3/plan.h"

namespace warpfold::workloads {

// Row of the thread's two that a score is of.
uint32_t row_of_score(uint32_t score);
// A thread's scores in the order in which two chains, one a row, go through them: the second row's starts when the first one has
// had `alone` of its scores. Chained results can be used after four cycles, so that an instruction takes four cycles alone, two
// beside the other.
std::vector<uint32_t> row_chains(uint32_t scores, uint32_t alone);

// The instructions that turn a row's scores into its largest one and what that means for the blocks before, each as text, in the
// order in which a row has them.
namespace rows {

std::string keep_old(uint32_t row);  // the largest score so far
std::string larger(const FlashAttention3Plan& plan, uint32_t score, std::string_view other);
std::string exchange(uint32_t row, std::string_view distance);  // with one of the four threads that share the row
std::string larger_of_exchanged(uint32_t row);
std::string shift(uint32_t row);          // of the row's scaled scores
std::string growth(uint32_t row);         // of the maximum
std::string scaled_growth(uint32_t row);  // times the softmax scale
std::string shrinking(uint32_t row);      // exp2 of that: what the earlier blocks' results shrink by

// The scores' exponents.
std::string scale(const FlashAttention3Plan& plan, uint32_t score);

}  // namespace rows
}  // namespace warpfold::workloads
