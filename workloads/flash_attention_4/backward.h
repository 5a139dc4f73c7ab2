#pragma once

#include <cstdint>
#include <vector>

#include "traces/kernel.h"
#include "workloads/common/gradient_streams.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_4/backward_plan.h"

namespace warpfold::workloads {

namespace attention4 {

// Rings, cursors, parameters and barriers of the backward kernel, by the index that its roles use.
struct BackwardRings {
  static constexpr int16_t kQueryFull = 0;  // Q has arrived, as the right operand of S
  static constexpr int16_t kQueryEmpty = 1;
  static constexpr int16_t kLogSumFull = 2;
  static constexpr int16_t kLogSumEmpty = 3;
  static constexpr int16_t kGradientFull = 4;  // dO has arrived
  static constexpr int16_t kGradientEmpty = 5;
  static constexpr int16_t kRowDotFull = 6;  // dot(O, dO) has arrived
  static constexpr int16_t kRowDotEmpty = 7;
  static constexpr int16_t kScores = 8;                // S is in tensor memory
  static constexpr int16_t kProbabilities = 9;         // P is in tensor memory
  static constexpr int16_t kProbabilityGradient = 10;  // dP is in tensor memory
  static constexpr int16_t kScoreGradient = 11;  // dS is in shared memory; with a pair of CTAs also: the next S is in registers
  static constexpr int16_t kScoreGradientEmpty = 12;  // dS has been multiplied
  static constexpr int16_t kQueryGradient = 13;       // dQ is in tensor memory
  static constexpr int16_t kQueryGradientEmpty = 14;  // dQ is in registers
  static constexpr int16_t kValueGradient = 15;       // dV is complete
  static constexpr int16_t kKeyGradient = 16;
  // With a pair of CTAs.
  static constexpr int16_t kTransposedQueryFull = 17;  // Q as the right operand of dK
  static constexpr int16_t kTurnedQueryEmpty = 18;
  static constexpr int16_t kTurnedKeys = 19;           // K as the right operand of dQ
  static constexpr int16_t kStoredScoreGradient = 20;  // dS is in tensor memory
  static constexpr int16_t kExchange = 21;             // the other CTA's half of dS has arrived
  static constexpr int16_t kExchanged = 22;            // the multiply warp knows that it has arrived
  // With own_columns.
  static constexpr int16_t kScoresRead = 23;         // S is in registers
  static constexpr int16_t kProbabilitiesRead = 24;  // P has been multiplied
  static constexpr int16_t kCount = 25;
};
// Positions of a warp in rings. One-stage rings on which a warp waits equally often share a cursor.
struct BackwardCursors {
  static constexpr int16_t kQuery = 0;         // block whose Q or log-sum-exp is loaded or awaited
  static constexpr int16_t kQueryRelease = 1;  // block to release next
  static constexpr int16_t kThis = 2;          // current block
  static constexpr int16_t kNext = 3;          // next block, whose products run ahead
};
// Trip counts of a CTA: its blocks of queries, and those after the first.
struct BackwardParameters {
  static constexpr int32_t kBlocks = 0;
  static constexpr int32_t kMore = 1;
};
struct BackwardBarriers {
  static constexpr int16_t kCompute = 1;
  static constexpr int16_t kReduce = 2;
  static int16_t epilogue(uint32_t group) { return static_cast<int16_t>(3 + group); }
};
// Follows the streams of gradient_streams.h.
constexpr int16_t kStreamCounters = 8;  // counters that order the additions to dQ

// Additional work of a compute warp: the first warp of a warpgroup stores dK and dV; the first of all also sends half of dS to the
// other CTA.
struct ComputeWarp {
  uint32_t group = 0;
  bool first = false;
};

void add_backward_entry(Code& code, uint32_t registers);

std::vector<traces::Node> backward_reduce_body(const FlashAttention4BackwardPlan& plan, bool adds);
std::vector<traces::Node> backward_compute_body(const FlashAttention4BackwardPlan& plan, ComputeWarp warp);
std::vector<traces::Node> backward_multiply_body(const FlashAttention4BackwardPlan& plan);
std::vector<traces::Node> backward_load_body(const FlashAttention4BackwardPlan& plan);
std::vector<traces::Node> backward_relay_body(const FlashAttention4BackwardPlan& plan);
std::vector<traces::Node> backward_spare_body(const FlashAttention4BackwardPlan& plan);

// Moves dV and dK of a warpgroup from tensor memory through shared memory to memory.
void add_key_gradients(Code& code, const FlashAttention4BackwardPlan& plan, ComputeWarp warp);

}  // namespace attention4

Expected<traces::Kernel> make_flash_attention_4_backward(const configs::FlashAttention4& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
