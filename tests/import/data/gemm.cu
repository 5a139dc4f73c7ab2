// C[m, n] = A[m, k] B[n, k]^T in half precision by mma.sync: tiles of 128 x 128 by four warps of 64 x 64, k in steps of 32 through
// three stages of cp.async, as the ampere_gemm workload has it.
//   nvcc -std=c++17 -O3 --use_fast_math -arch=sm_80 -cubin gemm.cu && nvdisasm -c -hex gemm.cubin

#include <cuda_fp16.h>

#include <cstdint>

#include "../../../workloads/ampere_gemm/sass/mma_steps.cuh"

constexpr int kTile = 128;
constexpr int kStages = 3;
constexpr int kStageBytes = 2 * kTile * 32 * 2;  // A and B, 32 deep

// A row of 32 halves is four pieces of 16 bytes; piece c of row r stands at c xor (r / 2 mod 4), so that neither cp.async nor LDSM
// meets a bank conflict.
__device__ inline uint32_t piece(uint32_t row, uint32_t column) { return (row * 4 + (column ^ (row / 2 % 4))) * 16; }

extern "C" __global__ void __launch_bounds__(128)
    gemm_128x128x32(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  extern __shared__ __align__(128) unsigned char bytes[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(bytes));
  const uint32_t thread = threadIdx.x;
  const uint32_t lane = thread % 32;
  const uint32_t warp_m = thread / 32 % 2 * 64;
  const uint32_t warp_n = thread / 64 * 64;
  const __half* from_a = a + (static_cast<size_t>(blockIdx.x) * kTile + thread / 4) * k + thread % 4 * 8;
  const __half* from_b = b + (static_cast<size_t>(blockIdx.y) * kTile + thread / 4) * k + thread % 4 * 8;
  const uint32_t to = piece(thread / 4, thread % 4);
  const int steps = k / 32;
  const auto fetch = [&](int step) {
    if (step < steps) {
      const uint32_t stage = shared + step % kStages * kStageBytes;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        copy(stage + to + i * 2048, from_a + static_cast<size_t>(i) * 32 * k);
        copy(stage + kStageBytes / 2 + to + i * 2048, from_b + static_cast<size_t>(i) * 32 * k);
      }
      from_a += 32;
      from_b += 32;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float d[4][8][4] = {};
  uint32_t of_a[2][4][4];
  uint32_t of_b[2][4][4];
  const auto load = [&](int step, int part) {
    const uint32_t stage = shared + step % kStages * kStageBytes;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      load_matrices(of_a[part][i], stage + piece(warp_m + i * 16 + lane % 16, part * 2 + lane / 16));
      load_matrices(of_b[part][i],
                    stage + kStageBytes / 2 + piece(warp_n + i * 16 + lane % 8 + lane / 16 * 8, part * 2 + lane / 8 % 2));
    }
  };
  const auto multiply_part = [&](int part) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) multiply(d[i][j], of_a[part][i], of_b[part][j / 2][j % 2 * 2], of_b[part][j / 2][j % 2 * 2 + 1]);
    }
  };
  const auto wait = [] {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
  };
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  wait();
  load(0, 0);
  // The first half of a step is loaded while the second half of the one before is multiplied.
  for (int step = 0; step < steps; ++step) {
    load(step, 1);
    fetch(step + kStages - 1);
    multiply_part(0);
    wait();
    load(step + 1, 0);
    multiply_part(1);
  }
  const size_t row = static_cast<size_t>(blockIdx.x) * kTile + warp_m + lane / 4;
  const size_t column = static_cast<size_t>(blockIdx.y) * kTile + warp_n + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      *reinterpret_cast<__half2*>(c + (row + i * 16) * n + column + j * 8) = __floats2half2_rn(d[i][j][0], d[i][j][1]);
      *reinterpret_cast<__half2*>(c + (row + i * 16 + 8) * n + column + j * 8) = __floats2half2_rn(d[i][j][2], d[i][j][3]);
    }
  }
}
