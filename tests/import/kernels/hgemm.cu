// C = A B^T with FP16 operands and FP32 sums by mma.sync: a CTA of eight warps takes a tile of 128 x 128, 32 deep, a warp 64 x 32.
#include <cuda_fp16.h>

#include <cstdint>

constexpr int kHgemmTile = 128, kHgemmDepth = 32, kHgemmPitch = kHgemmDepth + 8;  // the pitch avoids bank conflicts of ldmatrix

__device__ __forceinline__ void load_fragments(uint32_t (&r)[4], const __half* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(at))));
}

__device__ __forceinline__ void multiply_fragments(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

// The warp's share of a tile: 4 x 4 products of 16 x 8, twice 16 deep.
__device__ __forceinline__ void multiply_tile(float (&sums)[4][4][4], const __half* a_tile, const __half* b_tile, int lane) {
#pragma unroll
  for (int step = 0; step < kHgemmDepth; step += 16) {
    uint32_t a[4][4], b[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) load_fragments(a[i], a_tile + (16 * i + lane % 16) * kHgemmPitch + step + lane / 16 * 8);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      load_fragments(b[j], b_tile + (16 * j + lane % 8 + lane / 16 * 8) * kHgemmPitch + step + lane / 8 % 2 * 8);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply_fragments(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
}

__device__ __forceinline__ void store_sums(const float (&sums)[4][4][4], float* c, int row, int column, int n, int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float* at = c + (row + 16 * i + lane / 4) * n + column + 8 * j + lane % 4 * 2;
      *reinterpret_cast<float2*>(at) = make_float2(sums[i][j][0], sums[i][j][1]);
      *reinterpret_cast<float2*>(at + 8 * n) = make_float2(sums[i][j][2], sums[i][j][3]);
    }
  }
}

// The next tile waits in registers while the present one is multiplied.
extern "C" __global__ void __launch_bounds__(256)
    hgemm_mma(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c, int n, int k) {
  __shared__ __align__(16) __half a_tile[kHgemmTile * kHgemmPitch];
  __shared__ __align__(16) __half b_tile[kHgemmTile * kHgemmPitch];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = threadIdx.x / 4, chunk = threadIdx.x % 4 * 8;
  const __half* from_a = a + (blockIdx.y * kHgemmTile + row) * k + chunk;
  const __half* from_b = b + (blockIdx.x * kHgemmTile + row) * k + chunk;
  float sums[4][4][4] = {};
  uint4 next[4];
  for (int first = 0; first <= k; first += kHgemmDepth) {
    const bool more = first < k;
    if (more) {
      next[0] = *reinterpret_cast<const uint4*>(from_a + first);
      next[1] = *reinterpret_cast<const uint4*>(from_a + 64 * k + first);
      next[2] = *reinterpret_cast<const uint4*>(from_b + first);
      next[3] = *reinterpret_cast<const uint4*>(from_b + 64 * k + first);
    }
    if (first > 0) multiply_tile(sums, a_tile + warp / 4 * 64 * kHgemmPitch, b_tile + warp % 4 * 32 * kHgemmPitch, lane);
    __syncthreads();
    if (more) {
      *reinterpret_cast<uint4*>(a_tile + row * kHgemmPitch + chunk) = next[0];
      *reinterpret_cast<uint4*>(a_tile + (row + 64) * kHgemmPitch + chunk) = next[1];
      *reinterpret_cast<uint4*>(b_tile + row * kHgemmPitch + chunk) = next[2];
      *reinterpret_cast<uint4*>(b_tile + (row + 64) * kHgemmPitch + chunk) = next[3];
    }
    __syncthreads();
  }
  store_sums(sums, c, blockIdx.y * kHgemmTile + warp / 4 * 64, blockIdx.x * kHgemmTile + warp % 4 * 32, n, lane);
}

// Two buffers filled by cp.async, from sm_80 on.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ __forceinline__ void copy_async(__half* to, const __half* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
}

extern "C" __global__ void __launch_bounds__(256)
    hgemm_async(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c, int n, int k) {
  __shared__ __align__(16) __half a_tiles[2][kHgemmTile * kHgemmPitch];
  __shared__ __align__(16) __half b_tiles[2][kHgemmTile * kHgemmPitch];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = threadIdx.x / 4, chunk = threadIdx.x % 4 * 8;
  const __half* from_a = a + (blockIdx.y * kHgemmTile + row) * k + chunk;
  const __half* from_b = b + (blockIdx.x * kHgemmTile + row) * k + chunk;
  const auto fetch = [&](int buffer, int first) {
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      const int to = (row + 64 * half_tile) * kHgemmPitch + chunk;
      copy_async(a_tiles[buffer] + to, from_a + 64 * half_tile * k + first);
      copy_async(b_tiles[buffer] + to, from_b + 64 * half_tile * k + first);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float sums[4][4][4] = {};
  fetch(0, 0);
  for (int first = 0, buffer = 0; first < k; first += kHgemmDepth, buffer ^= 1) {
    if (first + kHgemmDepth < k) {
      fetch(buffer ^ 1, first + kHgemmDepth);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    multiply_tile(sums, a_tiles[buffer] + warp / 4 * 64 * kHgemmPitch, b_tiles[buffer] + warp % 4 * 32 * kHgemmPitch, lane);
    __syncthreads();
  }
  store_sums(sums, c, blockIdx.y * kHgemmTile + warp / 4 * 64, blockIdx.x * kHgemmTile + warp % 4 * 32, n, lane);
}
#endif
