#pragma once

#include <array>
#include <span>
#include <vector>

#include "traces/import/arithmetic.h"
#include "traces/import/executors.h"
#include "traces/import/warp.h"

// Declarations shared by the files execute_*.cc.
namespace warpfold::sass {

std::span<const Executor> integer_executors();
std::span<const Executor> bit_executors();
std::span<const Executor> move_executors();
std::span<const Executor> float_executors();
std::span<const Executor> async_executors();

bool is_predicate(const Source& source);
// Returns source number `position`, counted without predicates, or RZ if the text has fewer sources.
const Source& word_source(const Op& op, size_t position);
Bits inverted_bits(Bits bits);
// Writes `result` and its complement, each combined with `with` by AND, OR or XOR: ISETP.GE.AND P0, P1, R2, R3, P2.
void write_combined(Warp& warp, const Op& op, const Bits& result, const Bits& with, uint32_t mask);
// Returns the carry out of 64 bits of `result`, a product plus an addend (source 2).
Bits carry_of_sum(const Warp& warp, const Op& op, const Halves& result);

// Computes a result lane by lane, for operations that are not linear.
template <typename Function>
Word lane_by_lane(std::initializer_list<const Word*> sources, Function function) {
  Word result = tainted(sources);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((result.unknown >> lane & 1) == 0) result.lane[lane] = function(lane);
  }
  return result;
}

}  // namespace warpfold::sass
