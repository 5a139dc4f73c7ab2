#pragma once

#include <cstdint>

namespace warpfold::sim {

// What one warp of compiled code issues for a piece of work, by pipe.
struct CodeCounts {
  double instructions;
  double alu;
  double fp32;           // FFMA, FMUL, FADD
  double multiply;       // IMAD and its forms that write 32 bits, VIADD
  double wide_multiply;  // IMAD.WIDE
  double mufu;
  double register_words;  // 32-bit registers that all instructions read
};

// Counted in the steady-state loops of code that nvcc 13.0 (V13.0.88) generates for sm_90a, as nvdisasm 12.5 prints it; conditional
// blocks count as taken, spin-wait paths not at all.

// FlashAttention-3 forward (commit 0251105a), head dimension 128, FP16, 128 x 128 tile: one warp of a consumer warpgroup for a
// block of 64 queries x 128 keys, so that four of them, one on each sub-core, make the block. FP8 has half as many wgmma of its 16
// and converts more; that was not compiled.
struct AttentionCounts {
  CodeCounts plain;
  CodeCounts dropping;  // with one stored bit an element read and applied
};
inline constexpr AttentionCounts kFlashAttention3{{470, 109, 198, 9, 0, 66, 788.0}, {569, 181, 198, 26, 1, 66, 949.0}};

// FlashAttention-2 forward (the same commit, for sm_90), head dimension 128, FP16: one of four warps for 128 queries x 64 keys, as
// many scores. Its 256 HMMA read 2496 of the registers.
inline constexpr AttentionCounts kFlashAttention2{{947, 194, 268, 22, 2, 68, 3595.0}, {998, 236, 268, 35, 2, 68, 3713.0}};

// Philox4x32 with 32-bit thresholds, one stored bit an element: one warp for one call of each thread, four elements a thread. The
// counter's words change from call to call, so that no round can be moved out of the loop.
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
