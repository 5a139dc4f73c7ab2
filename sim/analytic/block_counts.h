#pragma once

#include <cstdint>

namespace warpfold::sim {

// Instructions that one warp of compiled code issues for a unit of work, by pipe.
struct CodeCounts {
  double instructions;
  double alu;
  double fp32;           // FFMA, FMUL, FADD
  double multiply;       // IMAD and its forms with a 32-bit result, VIADD
  double wide_multiply;  // IMAD.WIDE
  double mufu;
  double register_words;  // 32-bit registers read by all instructions
};

// Counts come from steady-state loops of code that nvcc 13.0 (V13.0.88) generates for sm_90a, as disassembled by
// nvdisasm 12.5. Conditional blocks count as taken; spin-wait paths do not count.

// FlashAttention-3 forward (commit 0251105a), head dimension 128, FP16, 128 x 128 tile. The unit of work is a block of
// 64 queries x 128 keys, computed by the four warps of a consumer warpgroup, one per sub-core; the counts are of one of
// these warps. FP8 issues half of the 16 wgmma and converts more; that code was not compiled.
struct AttentionCounts {
  CodeCounts plain;
  CodeCounts dropping;  // also reads and applies one stored bit per element
};
inline constexpr AttentionCounts kFlashAttention3{{470, 109, 198, 9, 0, 66, 788.0}, {569, 181, 198, 26, 1, 66, 949.0}};

// FlashAttention-2 forward (same commit, for sm_90), head dimension 128, FP16. The counts are of one of four warps for
// 128 queries x 64 keys, which is the same number of scores. Its 256 HMMA account for 2496 of the register reads.
inline constexpr AttentionCounts kFlashAttention2{{947, 194, 268, 22, 2, 68, 3595.0}, {998, 236, 268, 35, 2, 68, 3713.0}};

// Philox4x32 with 32-bit thresholds and one stored bit per element. The unit of work is one call in each thread of a
// warp, four elements per thread. The words of the counter change from call to call, so the compiler cannot move a
// round out of the loop.
struct PhiloxCounts {
  uint32_t rounds;
  CodeCounts call;
};
inline constexpr PhiloxCounts kPhilox[] = {
    {3, {28.125, 15.375, 0, 5.25, 6, 0, 30.73}},
    {5, {36.125, 19.375, 0, 5.25, 10, 0, 42.75}},
    {7, {44.125, 23.375, 0, 5.25, 14, 0, 54.77}},
    {10, {56.125, 29.375, 0, 5.25, 20, 0, 72.75}},
};

}  // namespace warpfold::sim
