#pragma once

#include <cstdint>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// A GEMM in FP32 on the FMA pipe with every default filled in. Each thread of a CTA holds thread_m x thread_n sums in registers.
// For each of the 8 columns of a slice's k-tile, it loads thread_m + thread_n operands from shared memory, 16 bytes per load, one
// column ahead of the FFMAs that use them.
//
// Sources of this shape:
//   maxas    NervanaSystems/maxas, wiki page SGEMM: 8 x 8 sums of a thread, k-tiles of 8, LDS.128 into two sets of registers, a
//            barrier per k-tile, registers of sums and operands in different banks
//   cutlass  NVIDIA/cutlass @03447b6, python/cutlass_library/generator.py, GenerateSM50_Simt and GenerateSM80_Simt_f32: tiles, k of
//            8, two stages before cp.async and 4 or 5 with it, alignment of one element, so that a copy moves 4 bytes of a thread
//   names    kernels in public profiles (sitar-lab/NeuSight @6945927): ampere_sgemm_128x32_sliced1x4 with 256 threads,
//            tilesize128x128x8_stage3_warpsize2x2x1_ffma with 128
struct SimtGemmPlan {
  uint64_t m = 0, n = 0, k = 0;
  uint64_t products = 1;  // products of a batched GEMM
  uint64_t parts = 1;     // parts of k, one CTA each
  uint32_t tile_m = 128, tile_n = 128;
  uint32_t threads = 256;
  uint32_t slices = 1;  // slices of a k-tile; each belongs to threads / slices threads
  uint32_t stages = 2;
  uint32_t thread_m = 8, thread_n = 8;
  bool async = false;  // copies by cp.async; otherwise through registers
  bool along_m = true;
  uint32_t swizzle = 8;                   // assumed: as for mma.sync
  uint32_t a_repeats = 1, b_repeats = 1;  // copies of an element in the operand; DRAM delivers one

  static constexpr uint32_t kSliceDepth = 8;  // columns of k [maxas, cutlass]
  static constexpr uint32_t kWordBytes = 4;

  uint32_t warps() const { return threads / 32; }
  uint32_t sums() const { return thread_m * thread_n; }  // per thread
  uint32_t tile_k() const { return kSliceDepth * slices; }
  uint64_t tiles_m() const { return (m + tile_m - 1) / tile_m; }
  uint64_t tiles_n() const { return (n + tile_n - 1) / tile_n; }
  uint64_t part_k() const { return (k + parts - 1) / parts; }
  uint64_t k_tiles() const { return (part_k() + tile_k() - 1) / tile_k(); }
  uint64_t ctas() const { return tiles_m() * tiles_n() * parts * products; }
  uint32_t a_copies() const { return tile_m * tile_k() / threads; }  // words per thread and k-tile
  uint32_t b_copies() const { return tile_n * tile_k() / threads; }
  uint32_t stage_bytes() const { return (tile_m + tile_n) * tile_k() * kWordBytes; }
  // Bytes of the stages, or of the slices' sums in the epilogue if those need more.
  uint32_t shared_bytes() const;
  // The share of a tile's rows, columns and k that lies within the matrices.
  double filled_m() const { return static_cast<double>(m) / static_cast<double>(tiles_m() * tile_m); }
  double filled_n() const { return static_cast<double>(n) / static_cast<double>(tiles_n() * tile_n); }
  double filled_k() const { return static_cast<double>(part_k()) / static_cast<double>(k_tiles() * tile_k()); }
};

// Fails for an empty shape, and if threads and slices give a thread other than 16, 32, 64 or 128 sums. Defaults: a tile of 128 x
// 128, and the threads of cuBLAS's kernel with the same tile [names]. `async`: the GPU has cp.async.
Expected<SimtGemmPlan> plan_simt_gemm(const configs::AmpereGemm& gemm, bool async);

}  // namespace warpfold::workloads
