// C[m, n] = A[m, k] B[n, k]^T in half precision by mma.sync, k in steps of 32 or 64 through a ring of cp.async. The recordings
// beside this file are the main loops of 128 x 256, 256 x 64, 128 x 64 and 64 x 64. To make one: nvcc -std=c++17 -O3 --use_fast_math
// -arch=sm_80 -cubin mma_gemm.cu, nvdisasm -c -hex, `warpfold import` and `warpfold trace dump`; take the first loop of the dump.
#include <cuda_fp16.h>

#include <cstdint>

#include "mma_steps.cuh"

// Offset of a 16-byte piece in a stage, swizzled so that neither cp.async nor LDSM has bank conflicts. A row of 32 halves is four
// pieces, and piece c of row r lies at c xor (r / 2 mod 4). A row of 64 halves is eight pieces, and piece c lies at c xor (r mod
// 8).
template <int kDepth>
__device__ inline uint32_t piece(uint32_t row, uint32_t column) {
  if (kDepth == 64) return (row * 8 + (column ^ (row % 8))) * 16;
  return (row * 4 + (column ^ (row / 2 % 4))) * 16;
}

template <int kTileM, int kTileN, int kDepth, int kWarpM, int kWarpN, int kStages>
__device__ inline void gemm(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  constexpr int kWarpsM = kTileM / kWarpM;
  constexpr int kThreads = 32 * kWarpsM * (kTileN / kWarpN);
  constexpr int kStageBytes = (kTileM + kTileN) * kDepth * 2;
  constexpr int kPieces = kDepth / 8;
  constexpr int kRowsPerCopy = kThreads / kPieces;
  constexpr int kCopiesA = kTileM / kRowsPerCopy;
  constexpr int kCopiesB = kTileN / kRowsPerCopy;
  extern __shared__ __align__(128) unsigned char bytes[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(bytes));
  const uint32_t thread = threadIdx.x;
  const uint32_t lane = thread % 32;
  const uint32_t warp_m = thread / 32 % kWarpsM * kWarpM;
  const uint32_t warp_n = thread / 32 / kWarpsM * kWarpN;
  const __half* from_a = a + (static_cast<size_t>(blockIdx.x) * kTileM + thread / kPieces) * k + thread % kPieces * 8;
  const __half* from_b = b + (static_cast<size_t>(blockIdx.y) * kTileN + thread / kPieces) * k + thread % kPieces * 8;
  const uint32_t to = piece<kDepth>(thread / kPieces, thread % kPieces);
  const int steps = k / kDepth;
  constexpr int kParts = kDepth / 16;
  constexpr int kGroups = kParts - 1;
  // Issues the group-th share of a stage's copies.
  const auto fetch = [&](int step, int group) {
    if (step >= steps) return;
    const uint32_t stage = shared + step % kStages * kStageBytes;
#pragma unroll
    for (int i = 0; i < kCopiesA + kCopiesB; ++i) {
      if (i * kGroups / (kCopiesA + kCopiesB) != group) continue;
      if (i < kCopiesA) {
        copy(stage + to + i * kRowsPerCopy * kDepth * 2, from_a + static_cast<size_t>(i) * kRowsPerCopy * k);
      } else {
        copy(stage + kTileM * kDepth * 2 + to + (i - kCopiesA) * kRowsPerCopy * kDepth * 2,
             from_b + static_cast<size_t>(i - kCopiesA) * kRowsPerCopy * k);
      }
    }
    if (group + 1 < kGroups) return;
    from_a += kDepth;
    from_b += kDepth;
  };
  const auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };
  float d[kWarpM / 16][kWarpN / 8][4] = {};
  uint32_t of_a[2][kWarpM / 16][4];
  uint32_t of_b[2][kWarpN / 16][4];
  const auto load = [&](int step, int part) {
    const uint32_t stage = shared + step % kStages * kStageBytes;
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i)
      load_matrices(of_a[part % 2][i], stage + piece<kDepth>(warp_m + i * 16 + lane % 16, part * 2 + lane / 16));
#pragma unroll
    for (int i = 0; i < kWarpN / 16; ++i)
      load_matrices(of_b[part % 2][i], stage + kTileM * kDepth * 2 +
                                           piece<kDepth>(warp_n + i * 16 + lane % 8 + lane / 16 * 8, part * 2 + lane / 8 % 2));
  };
  const auto multiply_part = [&](int part) {
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
      for (int j = 0; j < kWarpN / 8; ++j)
        multiply(d[i][j], of_a[part % 2][i], of_b[part % 2][j / 2][j % 2 * 2], of_b[part % 2][j / 2][j % 2 * 2 + 1]);
    }
  };
  const auto wait = [] {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
  };
  for (int step = 0; step < kStages - 1; ++step) {
    for (int group = 0; group < kGroups; ++group) fetch(step, group);
    commit();
  }
  wait();
  load(0, 0);
  // While 16 of k are multiplied, the next 16 are loaded; copies for a later step lie between the products.
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int part = 0; part < kGroups; ++part) {
      load(step, part + 1);
      fetch(step + kStages - 1, part);
      multiply_part(part);
    }
    commit();
    wait();
    load(step + 1, 0);
    multiply_part(kGroups);
  }
  const size_t row = static_cast<size_t>(blockIdx.x) * kTileM + warp_m + lane / 4;
  const size_t column = static_cast<size_t>(blockIdx.y) * kTileN + warp_n + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < kWarpN / 8; ++j) {
      *reinterpret_cast<__half2*>(c + (row + i * 16) * n + column + j * 8) = __floats2half2_rn(d[i][j][0], d[i][j][1]);
      *reinterpret_cast<__half2*>(c + (row + i * 16 + 8) * n + column + j * 8) = __floats2half2_rn(d[i][j][2], d[i][j][3]);
    }
  }
}

#define KERNEL(tile_m, tile_n, depth, warp_m, warp_n, stages)                                                                \
  extern "C" __global__ void __launch_bounds__(32 * (tile_m / warp_m) * (tile_n / warp_n))                                   \
      mma_gemm_##tile_m##x##tile_n##x##depth##_s##stages(const __half* a, const __half* b, __half* c, int m, int n, int k) { \
    gemm<tile_m, tile_n, depth, warp_m, warp_n, stages>(a, b, c, m, n, k);                                                   \
  }

KERNEL(64, 64, 32, 32, 32, 10)
KERNEL(128, 64, 32, 64, 32, 6)
KERNEL(256, 64, 32, 64, 64, 4)
KERNEL(128, 256, 32, 64, 64, 3)
KERNEL(128, 256, 64, 64, 64, 3)
