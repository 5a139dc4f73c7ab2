#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "configs/diagnostic.h"
#include "sim/analytic/composition.h"
#include "sim/analytic/limiters.h"

namespace warpfold::configs {
class Gpu;
}

namespace warpfold::sim {

// The forward pass of one transformer block with dropout on attention, as the paper sets it up (Ma, Liu and Krashinsky, arXiv
// 2410.07531): FP8, attention not causal; communication, LayerNorm and conversions left out.
struct BlockShape {
  uint64_t sequence = 8192;
  uint64_t embedding = 8192;
  uint64_t head_dim = 128;  // the only one whose attention was counted
  uint64_t batch = 1;
  uint32_t rounds = 7;  // of Philox: 3, 5, 7, 10

  uint64_t heads() const { return embedding / head_dim; }
};

// Whose compiled code attention's instructions are counted in: FlashAttention-3 multiplies by wgmma out of shared memory,
// FlashAttention-2 by mma.sync out of registers.
enum class AttentionCode { kFlashAttention3, kFlashAttention2 };

// How the machine and its code are looked at.
struct BlockMachine {
  // Cycles that a 32 x 32 -> 64 bit multiply (two a Philox round) holds its pipe; 0: the opcode table's, 4. A model that counts
  // every instruction at the pipe's documented rate, 64 integer multiplies a clock and SM, takes 2.
  double wide_multiply_cycles = 0;
  AttentionCode attention = AttentionCode::kFlashAttention3;
};

// Limiters of the block's kernels, in cycles of the whole chip. Their resources are the paper's: mma, hbm_read, l2_read,
// register_read, issue, alu, fma_heavy, fma_lite, mufu. Only reads are counted: writes limit none of these kernels.
struct Block {
  static constexpr std::array<const char*, 4> kGemmNames{"qkv", "projection", "fc1", "fc2"};
  std::array<Limiters, 4> gemms;
  Limiters rng;
  Limiters attention;           // without dropout
  Limiters dropping_attention;  // reads stored bits
  Limiters fused_attention;     // dropping attention and random numbers in one instruction stream

  // The chain of all four GEMMs, random numbers and attention.
  ChainTimes times() const;
  // With `gemm` alone beside the random numbers.
  ChainTimes times(size_t gemm) const;
};

// Fails for shapes that are not whole tiles, for rounds and head dimensions without counts and for GPUs other than sm_90, whose
// compiled code was counted.
Expected<Block> make_block(const configs::Gpu& gpu, const BlockShape& shape, const BlockMachine& machine = {});

}  // namespace warpfold::sim
