#pragma once

#include <cstdint>
#include <vector>

#include "traces/kernel.h"
#include "workloads/common/gradient_streams.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_4/backward_plan.h"

namespace warpfold::workloads {

namespace attention4 {

// The parts of the backward kernel that its roles refer to by index.
struct BackwardRings {
  static constexpr int16_t kQueryFull = 0;  // Q has arrived, as the right operand of S
  static constexpr int16_t kQueryEmpty = 1;
  static constexpr int16_t kLogSumFull = 2;
  static constexpr int16_t kLogSumEmpty = 3;
  static constexpr int16_t kGradientFull = 4;  // dO
  static constexpr int16_t kGradientEmpty = 5;
  static constexpr int16_t kRowDotFull = 6;  // dot(O, dO)
  static constexpr int16_t kRowDotEmpty = 7;
  static constexpr int16_t kScores = 8;                // S is in tensor memory
  static constexpr int16_t kProbabilities = 9;         // P is
  static constexpr int16_t kProbabilityGradient = 10;  // dP is
  static constexpr int16_t kScoreGradient = 11;        // dS is in shared memory; of a pair, and the next S in registers
  static constexpr int16_t kScoreGradientEmpty = 12;   // and has been multiplied
  static constexpr int16_t kQueryGradient = 13;        // dQ is in tensor memory
  static constexpr int16_t kQueryGradientEmpty = 14;   // and in registers
  static constexpr int16_t kValueGradient = 15;        // dV is complete
  static constexpr int16_t kKeyGradient = 16;
  // Of a pair.
  static constexpr int16_t kTurnedQueryFull = 17;  // Q as the right operand of dK
  static constexpr int16_t kTurnedQueryEmpty = 18;
  static constexpr int16_t kTurnedKeys = 19;           // K as the right operand of dQ
  static constexpr int16_t kStoredScoreGradient = 20;  // dS is in tensor memory
  static constexpr int16_t kExchange = 21;             // the other CTA's half of dS has arrived
  static constexpr int16_t kExchanged = 22;            // and the multiply warp knows
  // Of own columns.
  static constexpr int16_t kScoresRead = 23;         // S is in registers
  static constexpr int16_t kProbabilitiesRead = 24;  // P has been multiplied
  static constexpr int16_t kCount = 25;
};
// Places of a warp in rings. Rings with one stage that are waited at as often as each other share one.
struct BackwardCursors {
  static constexpr int16_t kQuery = 0;         // block whose Q or log-sum-exp is loaded or waited for
  static constexpr int16_t kQueryRelease = 1;  // block whose room is given back
  static constexpr int16_t kThis = 2;          // block
  static constexpr int16_t kNext = 3;          // block, where its products run ahead
};
// Trip counts of a CTA: blocks of queries, and those behind the first.
struct BackwardParameters {
  static constexpr int32_t kBlocks = 0;
  static constexpr int32_t kMore = 1;
};
struct BackwardBarriers {
  static constexpr int16_t kCompute = 1;
  static constexpr int16_t kReduce = 2;
  static int16_t epilogue(uint32_t group) { return static_cast<int16_t>(3 + group); }
};
// Behind those of gradient_streams.h.
constexpr int16_t kStreamCounters = 8;  // that order the additions to dQ

// What a compute warp does besides: the first of a warpgroup stores dK and dV, the first of all sends half of dS to the other CTA.
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

// dV and dK of a warpgroup, from tensor memory by way of shared memory.
void add_key_gradients(Code& code, const FlashAttention4BackwardPlan& plan, ComputeWarp warp);

}  // namespace attention4

Expected<traces::Kernel> make_flash_attention_4_backward(const configs::FlashAttention4& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
