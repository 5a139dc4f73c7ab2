#pragma once

#include <cuda.h>

#include "tools/silicon/gemm_kernel.h"

// The same product with bulk tensor copies: one warp loads, two warpgroups multiply, and no barrier joins all of them. Tiles,
// stages and shared memory are those of gemm_kernel; the warps issue a tenth of its instructions. A step covers 128 bytes of k per
// row: 64 elements of bf16 or 128 of fp8. `k` counts words of two bytes.
namespace silicon {

constexpr int kTmaGemmThreads = 288;  // two warpgroups and the loading warp

struct StageBarriers {
  unsigned long long full[kStages];   // the bytes have arrived
  unsigned long long empty[kStages];  // both warpgroups have left the stage
  unsigned tile[kStages];             // tile of each stage
};
constexpr unsigned kNoTile = ~0U;

__device__ inline unsigned shared_address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

__device__ inline void wait_for(const unsigned long long& barrier, unsigned parity) {
#if SILICON_WGMMA
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
#endif
}
// Arrives, and blocks the barrier's phase until the bytes of a stage have arrived.
__device__ inline void expect_stage(unsigned long long& barrier) {
#if SILICON_WGMMA
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(shared_address(&barrier)),
               "n"(kStageBytes)
               : "memory");
#endif
}
__device__ inline void arrive_at(unsigned long long& barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(&barrier)) : "memory");
}

// Loads a box of 64 words of k and 128 rows, in the 128-byte swizzle.
__device__ inline void load_box(unsigned to, const CUtensorMap& map, int k, int row, unsigned long long& full) {
#if SILICON_WGMMA
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(&map), "r"(k), "r"(row), "r"(shared_address(&full))
               : "memory");
#endif
}

// One thread: takes tiles and fills stages until no tile is left.
__device__ inline void load_tiles(StageBarriers& stages, unsigned shared, const CUtensorMap& a, const CUtensorMap& b,
                                  unsigned tiles_m, unsigned tiles_n, int steps, unsigned tiles, SmWork& own) {
  unsigned count = 0;  // stages filled so far
  while (true) {
    unsigned tile = atomicAdd(&own.next, 1U);
    if (tile >= tiles) tile = kNoTile;
    const TilePlace at = place_of(tile % (tiles_m * tiles_n), tiles_m, tiles_n);
    for (int step = 0; step < steps; ++step, ++count) {
      const unsigned s = count % kStages;
      wait_for(stages.empty[s], count / kStages % 2 ^ 1);
      stages.tile[s] = tile;
      if (tile == kNoTile) {
        arrive_at(stages.full[s]);
        return;
      }
      expect_stage(stages.full[s]);
      const unsigned to = shared + s * kStageBytes;
      load_box(to, a, step * kTileK, static_cast<int>(at.row * kTile), stages.full[s]);
      load_box(to + kStageBytes / 2, b, step * kTileK, static_cast<int>(at.column * kTile), stages.full[s]);
    }
  }
}

// Two warpgroups: multiply the filled stages, and store the tiles. A stage is released when the products of the next stage are
// under way.
template <Type kType>
__device__ inline void multiply_tiles(StageBarriers& stages, unsigned shared, __nv_bfloat16* c, int n, unsigned tiles_m,
                                      unsigned tiles_n, int steps, unsigned tiles, SmWork& own, SmWork* other) {
  const unsigned warpgroup = threadIdx.x / 128;
  const bool speaks = threadIdx.x % 128 == 0;
  const unsigned none[4] = {};
  unsigned count = 0;
  while (true) {
    wait_for(stages.full[count % kStages], count / kStages % 2);
    const unsigned tile = stages.tile[count % kStages];
    if (tile == kNoTile) return;
    float d[kTile / 2] = {};
    for (int step = 0; step < steps; ++step, ++count) {
      const unsigned s = count % kStages;
      wait_for(stages.full[s], count / kStages % 2);
      const std::uint64_t of_a = descriptor(shared + s * kStageBytes + warpgroup * 64 * 128);
      const std::uint64_t of_b = descriptor(shared + s * kStageBytes + kStageBytes / 2);
      wgmma_fence();
#pragma unroll
      for (int part = 0; part < kTileK / 16; ++part)
        Wgmma<kTile, Source::kShared, kType>::run(d, none, of_a + 2 * part, of_b + 2 * part);
      wgmma_commit();
      wgmma_wait<1>();
      if (step > 0 && speaks) arrive_at(stages.empty[(count - 1) % kStages]);
    }
    wgmma_wait<0>();
    if (speaks) arrive_at(stages.empty[(count - 1) % kStages]);
    const TilePlace at = place_of(tile % (tiles_m * tiles_n), tiles_m, tiles_n);
    store_tile(d, c + std::size_t{at.row} * kTile * n + at.column * kTile, n);
    asm volatile("bar.sync 1, 256;" ::: "memory");
    finish_piece(own, other, tiles);
  }
}

template <Type kType>
static __global__ void __launch_bounds__(kTmaGemmThreads, 1)
    gemm_tma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __nv_bfloat16* c, int m, int n,
                    int k, int repeats, SmRange sms, SmWork* own, SmWork* other) {
  if (!may_run(sms)) return;
  extern __shared__ unsigned char bytes[];
  const unsigned shared = (shared_address(bytes) + 1023U) & ~1023U;
  __shared__ StageBarriers stages;
  const long long start = clock64();
  const unsigned long long start_ns = nanoseconds();
  begin_work(*own, other);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&stages.full[s])) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(shared_address(&stages.empty[s])) : "memory");
    }
    publish_to_wgmma();
  }
  __syncthreads();
  const auto tiles_m = static_cast<unsigned>(m / kTile);
  const auto tiles_n = static_cast<unsigned>(n / kTile);
  const unsigned tiles = tiles_m * tiles_n * static_cast<unsigned>(repeats);
  if (threadIdx.x < 256) {
    multiply_tiles<kType>(stages, shared, c, n, tiles_m, tiles_n, k / kTileK, tiles, *own, other);
  } else if (threadIdx.x == 256) {
    load_tiles(stages, shared, a, b, tiles_m, tiles_n, k / kTileK, tiles, *own);
  }
  end_work(*own, start, start_ns);
}

}  // namespace silicon
