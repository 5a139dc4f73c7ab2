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

// Forward pass of one transformer block with dropout on attention, set up as in the paper (Ma, Liu and Krashinsky,
// arXiv 2410.07531): FP8, attention without causal mask; communication, LayerNorm and conversions left out.
struct BlockShape {
  uint64_t sequence = 8192;
  uint64_t embedding = 8192;
  uint64_t head_dim = 128;  // the only head dimension with counted code
  uint64_t batch = 1;
  uint32_t rounds = 7;  // Philox rounds: 3, 5, 7 or 10

  uint64_t heads() const { return embedding / head_dim; }
};

// Source of attention's instruction counts. FlashAttention-3 multiplies with wgmma from shared memory, FlashAttention-2
// with mma.sync from registers.
enum class AttentionCode { kFlashAttention3, kFlashAttention2 };

// Assumptions about the machine and the code that runs on it.
struct BlockMachine {
  // Cycles that a 32 x 32 -> 64 bit multiply (two per Philox round) occupies its pipe. 0: the interval of the opcode
  // table, which is 4. A model that counts every instruction at the documented rate of the pipe, 64 integer multiplies
  // per clock and SM, uses 2.
  double wide_multiply_cycles = 0;
  AttentionCode attention = AttentionCode::kFlashAttention3;
};

// Limiters of the block's kernels, in cycles of the whole chip. They have the resources of the paper: mma, hbm_read,
// l2_read, register_read, issue, alu, fma_heavy, fma_lite, mufu. Only reads are counted, because writes limit none of
// these kernels.
struct Block {
  static constexpr std::array<const char*, 4> kGemmNames{"qkv", "projection", "fc1", "fc2"};
  std::array<Limiters, 4> gemms;
  Limiters rng;
  Limiters attention;           // without dropout
  Limiters dropping_attention;  // with dropout by stored bits
  Limiters fused_attention;     // with dropout, and with the random numbers generated in the same instruction stream

  // Times of the chain of all four GEMMs, random numbers and attention.
  ChainTimes times() const;
  // Times of the chain if only GEMM number `gemm` runs beside the random numbers.
  ChainTimes times(size_t gemm) const;
};

// Fails if sequence or embedding are not whole tiles, if the rounds or the head dimension have no counts, and for GPUs
// other than sm_90, the architecture of the counted code.
Expected<Block> make_block(const configs::Gpu& gpu, const BlockShape& shape, const BlockMachine& machine = {});

}  // namespace warpfold::sim
