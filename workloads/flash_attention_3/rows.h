#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/flash_attention_3/plan.h"

namespace warpfold::workloads {

// The row of a score, of the thread's two rows.
uint32_t row_of_score(uint32_t score);
// Returns a thread's scores in the order in which two chains of instructions, one per row, process them. The second chain starts
// after the first has processed `alone` scores. A chained result is ready after four cycles, so an instruction takes four cycles in
// a single chain and two beside the other chain.
std::vector<uint32_t> row_chains(uint32_t scores, uint32_t alone);

// Instructions, as text, that compute a row's maximum and the rescaling factor for earlier blocks, in their order within a row.
namespace rows {

std::string keep_old(uint32_t row);  // copies the maximum of the earlier blocks
std::string larger(const FlashAttention3Plan& plan, uint32_t score, std::string_view other);
std::string exchange(uint32_t row, std::string_view distance);  // exchanges with one of the four threads that share the row
std::string larger_of_exchanged(uint32_t row);
std::string shift(uint32_t row);          // the shift of the row's scaled scores
std::string growth(uint32_t row);         // growth of the maximum
std::string scaled_growth(uint32_t row);  // growth times the softmax scale
std::string shrinking(uint32_t row);      // exp2 of the scaled growth: the factor that rescales the earlier blocks' results

// The exponent of a score.
std::string scale(const FlashAttention3Plan& plan, uint32_t score);

}  // namespace rows
}  // namespace warpfold::workloads
