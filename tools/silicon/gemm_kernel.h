#pragma once

#include <cuda_bf16.h>

#include <type_traits>

#include "tools/silicon/sm_work.h"
#include "tools/silicon/wgmma.h"

// Our own GEMM for sm_90a, so that its use of an SM is known: C[m,n] = A[m,k] B[n,k]^T, bf16, fp32 sums. Two warpgroups share a
// tile of 128 x 128, with k in steps of 64, cp.async into a ring of four stages, and wgmma m64n128k16 from shared memory. CTAs take
// tiles one by one. m, n multiples of 128, k of 64.
//
// Tiles proceed down a group of twelve rows of tiles before the next column. The 132 tiles that run at a time thus read 12 + 11
// panels of k. Full columns of 64 tiles would read 64 + 3 panels, which did not stay in L2.
namespace silicon {

constexpr int kGemmThreads = 256;
constexpr int kTile = 128;
constexpr int kTileK = 64;
constexpr int kStages = 4;
constexpr int kStageBytes = 2 * kTile * kTileK * 2;             // A and B
constexpr int kGemmSharedBytes = kStages * kStageBytes + 1024;  // including the bytes to align the start to 1024

// Copies 128 rows of 128 bytes into shared memory in the 128-byte swizzle: the 16-byte piece c of row r lies at piece c xor (r mod
// 8).
__device__ inline void load_tile(unsigned shared, const __nv_bfloat16* from, std::size_t row_elements) {
#pragma unroll
  for (int i = 0; i < kTile * 8 / kGemmThreads; ++i) {
    const int piece = i * kGemmThreads + static_cast<int>(threadIdx.x);
    const int row = piece / 8;
    const int column = piece % 8;
    const unsigned to = shared + static_cast<unsigned>(row * 128 + ((column ^ (row % 8)) * 16));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + row * row_elements + column * 8) : "memory");
  }
}

__device__ inline void commit_loads() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ inline void wait_loads() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
__device__ inline void multiply_tile(float (&d)[kTile / 2], unsigned shared, const __nv_bfloat16* a, const __nv_bfloat16* b,
                                     int k) {
  constexpr int kAhead = kStages - 2;  // a stage is refilled after both warpgroups have left it, two steps later
  const int steps = k / kTileK;
  const auto load = [&](int step) {
    const unsigned stage = shared + static_cast<unsigned>(step % kStages * kStageBytes);
    if (step < steps) {
      load_tile(stage, a + step * kTileK, static_cast<std::size_t>(k));
      load_tile(stage + kStageBytes / 2, b + step * kTileK, static_cast<std::size_t>(k));
    }
    commit_loads();  // empty groups at the end keep the count of groups right
  };
  for (int step = 0; step < kAhead; ++step) load(step);
  const unsigned warpgroup = threadIdx.x / 128;
  const unsigned none[4] = {};
  for (int step = 0; step < steps; ++step) {
    wait_loads<kAhead - 1>();
    publish_to_wgmma();
    __syncthreads();
    load(step + kAhead);
    const unsigned stage = shared + static_cast<unsigned>(step % kStages * kStageBytes);
    const std::uint64_t of_a = descriptor(stage + warpgroup * 64 * 128);
    const std::uint64_t of_b = descriptor(stage + kStageBytes / 2);
    wgmma_fence();
#pragma unroll
    for (int part = 0; part < kTileK / 16; ++part)  // 16 elements of k are 32 bytes, 2 of the descriptor's units
      Wgmma<kTile, Source::kShared, Type::kBf16>::run(d, none, of_a + 2 * part, of_b + 2 * part);
    wgmma_commit();
    wgmma_wait<1>();
  }
  wgmma_wait<0>();
  wait_loads<0>();
  __syncthreads();
}

// Thread t of a warpgroup holds rows t / 32 * 16 + t % 32 / 4 (and 8 further down), columns 8 j + 2 (t % 4) and the next.
__device__ inline void store_tile(const float (&d)[kTile / 2], __nv_bfloat16* c, int n) {
  const unsigned thread = threadIdx.x % 128;
  const unsigned row = threadIdx.x / 128 * 64 + thread / 32 * 16 + thread % 32 / 4;
  for (int j = 0; j < kTile / 8; ++j) {
    __nv_bfloat16* to = c + static_cast<std::size_t>(row) * n + 8 * j + 2 * (thread % 4);
    *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(d[4 * j], d[4 * j + 1]);
    *reinterpret_cast<__nv_bfloat162*>(to + std::size_t{8} * n) = __floats2bfloat162_rn(d[4 * j + 2], d[4 * j + 3]);
  }
}

struct TilePlace {
  unsigned row, column;  // unit: tiles
};
__device__ inline TilePlace place_of(unsigned tile, unsigned tiles_m, unsigned tiles_n) {
  constexpr unsigned kGroup = 12;
  const unsigned first = tile / (kGroup * tiles_n) * kGroup;
  const unsigned rows = min(kGroup, tiles_m - first);
  const unsigned in_group = tile % (kGroup * tiles_n);
  return {first + in_group % rows, in_group / rows};
}

// Computes the whole product `repeats` times, then stops the other kernel.
static __global__ void __launch_bounds__(kGemmThreads, 1)
    gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, int repeats, SmRange sms,
                SmWork* own, SmWork* other) {
  if (!may_run(sms)) return;
  extern __shared__ unsigned char bytes[];
  const unsigned shared = (static_cast<unsigned>(__cvta_generic_to_shared(bytes)) + 1023U) & ~1023U;
  __shared__ unsigned tile;
  const long long start = clock64();
  const unsigned long long start_ns = nanoseconds();
  begin_work(*own, other);
  const unsigned tiles_m = static_cast<unsigned>(m / kTile);
  const unsigned tiles_n = static_cast<unsigned>(n / kTile);
  const unsigned tiles = tiles_m * tiles_n * static_cast<unsigned>(repeats);
  while (true) {
    if (threadIdx.x == 0) tile = atomicAdd(&own->next, 1U);
    __syncthreads();
    const unsigned mine = tile;
    __syncthreads();
    if (mine >= tiles) break;
    const TilePlace at = place_of(mine % (tiles_m * tiles_n), tiles_m, tiles_n);
    const std::size_t row = at.row * kTile;
    const std::size_t column = at.column * kTile;
    float d[kTile / 2] = {};
    multiply_tile(d, shared, a + row * k, b + column * k, k);
    store_tile(d, c + row * n + column, n);
    __syncthreads();
    finish_piece(*own, other, tiles);
  }
  end_work(*own, start, start_ns);
}

}  // namespace silicon
