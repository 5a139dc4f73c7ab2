#pragma once

#include "traces/kernel.h"
#include "workloads/common/gradient_streams.h"
#include "workloads/common/program.h"
#include "workloads/flash_attention_3/backward_plan.h"
#include "workloads/flash_attention_3/rings.h"

namespace warpfold::workloads {

// Rings, cursors, barriers and parameters of the backward pass, by the index that its roles use.
struct BackwardRings {
  static constexpr int16_t kKeys = 0;       // K and V have arrived
  static constexpr int16_t kQueryFull = 1;  // Q and its rows' log-sum-exp have arrived
  static constexpr int16_t kQueryEmpty = 2;
  static constexpr int16_t kGradientFull = 3;  // dO and its rows' dot(O, dO) have arrived
  static constexpr int16_t kGradientEmpty = 4;
};
struct BackwardCursors {
  static constexpr int16_t kQueryLoad = 0;
  static constexpr int16_t kGradientLoad = 1;
  static constexpr int16_t kQuery = 2;
  static constexpr int16_t kGradient = 3;
};
struct BackwardBarriers {
  static constexpr int16_t kKeysRead = 6;             // K and V have been read, so that dK and dV may overwrite them
  static constexpr int16_t kQueryGradientEmpty = 12;  // dQ's room in shared memory has been read
  static constexpr int16_t kQueryGradientFull = 13;
};
// Trip counts of a CTA: all blocks of queries, all blocks after the first, blocks that the diagonal cuts, and whole blocks.
struct BackwardParameters {
  static constexpr int32_t kBlocks = 0;
  static constexpr int32_t kMore = 1;
  static constexpr int32_t kMasked = 2;
  static constexpr int32_t kFull = 3;
};

// Threads at the barriers of dQ's room: its writer and the consumers.
constexpr uint16_t kQueryGradientThreads = FlashAttention3BackwardPlan::kConsumerThreads + 32;

std::vector<traces::Node> backward_producer_body(const FlashAttention3BackwardPlan& plan);
std::vector<traces::Node> backward_writer_body(const FlashAttention3BackwardPlan& plan);
std::vector<traces::Node> backward_idle_body(const FlashAttention3BackwardPlan& plan);
std::vector<traces::Node> backward_consumer_body(const FlashAttention3BackwardPlan& plan, uint32_t group);

Expected<traces::Kernel> make_flash_attention_3_backward(const configs::FlashAttention3& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
