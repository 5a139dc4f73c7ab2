// C[m,n] = A[m,k] B[n,k]^T in bf16 on Hopper: a warp of the first warpgroup fills a ring of four stages by TMA, two consumer
// warpgroups multiply 64 x 256 each with wgmma, and hand the tile over through shared memory and TMA. One CTA a tile of 128 x 256.
// Its listings beside it are imported by docs/import.md:
//   nvcc -O3 -std=c++17 -arch=sm_90a -cubin -o hopper_gemm.cubin hopper_gemm.cu
// Clusters of CTAs, CLUSTER of them below each other, share their tile of B by multicast:
//   nvcc -O3 -std=c++17 -arch=sm_90a -DCLUSTER=2 -cubin ...             each loads an equal part of it for all (_pairs)
//   nvcc -O3 -std=c++17 -arch=sm_90a -DCLUSTER=2 -DLEADER -cubin ...    the first loads it for all (tests/import/data)
#include "hopper.cuh"

#ifndef CLUSTER
#define CLUSTER 1
#endif
#ifdef LEADER
constexpr bool kLeader = true;
#else
constexpr bool kLeader = false;
#endif
constexpr int kCluster = CLUSTER;
constexpr int kTileM = 128, kStages = 4;
constexpr uint32_t kABytes = kTileM * kTileK * 2, kBBytes = kTileN * kTileK * 2;
constexpr uint32_t kBuffers = kStages * (kABytes + kBBytes);  // where the buffers of results begin
constexpr uint32_t kBarriers = kBuffers + 2 * 2 * 4096;       // behind two of 64 rows x 64 bytes for each consumer
constexpr int kPartN = kLeader ? kTileN : kTileN / kCluster;  // columns of B that a CTA loads at a time
constexpr uint16_t kReceivers = (1 << kCluster) - 1;

__device__ __forceinline__ void produce(const TensorMap* a, const TensorMap* b, uint32_t shared, int k_blocks) {
  const uint32_t full = shared + kBarriers, empty = full + 8 * kStages;
  const int part = kCluster > 1 ? rank_in_cluster() : 0;
  uint32_t stage = 0, parity = 1;
#pragma unroll 1
  for (int block = 0; block < k_blocks; ++block) {
    wait(empty + 8 * stage, parity);
    expect(full + 8 * stage, kABytes + kBBytes);
    load(shared + stage * kABytes, a, block * kTileK, blockIdx.y * kTileM, full + 8 * stage);
    const uint32_t to = shared + kStages * kABytes + stage * kBBytes;
    if (kCluster == 1) {
      load(to, b, block * kTileK, blockIdx.x * kTileN, full + 8 * stage);
    } else if (!kLeader) {
      load_for_all(to + part * kPartN * kTileK * 2, b, block * kTileK, blockIdx.x * kTileN + part * kPartN, full + 8 * stage,
                   kReceivers);
    } else if (part == 0) {
      load_for_all(to, b, block * kTileK, blockIdx.x * kTileN, full + 8 * stage, kReceivers);
    }
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
  // A CTA stays until its last stages are given back: the other ones signal its mbarriers.
  for (int i = 0; kCluster > 1 && i < kStages; ++i) {
    wait(empty + 8 * stage, parity);
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
}

// A stage is filled again when all CTAs have read it: a lane arrives at each of them.
__device__ __forceinline__ void release(uint32_t barrier, int lane) {
  if (kCluster == 1) {
    if (elected()) arrive(barrier);
  } else if (lane < kCluster) {
    arrive_at(barrier, lane);
  }
}

__device__ __forceinline__ void consume(const TensorMap* c, uint32_t shared, int k_blocks, int group, int warp, int lane) {
  const uint32_t full = shared + kBarriers, empty = full + 8 * kStages;
  float d[kAccumulators];
  uint32_t stage = 0, parity = 0, last = 0;
#pragma unroll 1
  for (int block = 0; block < k_blocks; ++block) {
    wait(full + 8 * stage, parity);
    products(d, shared + stage * kABytes + group * 8192, shared + kStages * kABytes + stage * kBBytes, block);
    if (block > 0) {
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      release(empty + 8 * last, lane);
    }
    last = stage;
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  if (kCluster > 1) release(empty + 8 * last, lane);
  const int y = blockIdx.y * kTileM + 64 * group + 16 * warp;
#pragma unroll
  for (int step = 0; step < kTileN / 32; ++step) {
    const uint32_t buffer = shared + kBuffers + (2 * group + step % 2) * 4096 + warp * 1024;
    hand_over(d + 16 * step, c, blockIdx.x * kTileN + 32 * step, y, buffer, group, lane);
  }
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

extern "C" __global__ void
#if CLUSTER > 1
__cluster_dims__(1, CLUSTER, 1)
#endif
    __launch_bounds__(384, 1) hopper_gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                                          const __grid_constant__ TensorMap c, int k_blocks) {
  extern __shared__ __align__(1024) uint8_t memory[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      initialise(shared + kBarriers + 8 * stage, 1);
      initialise(shared + kBarriers + 8 * (kStages + stage), 8 * kCluster);  // an arrival of each consumer warp
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (kCluster > 1) {
    meet_cluster();
  } else {
    __syncthreads();
  }
  if (warp < 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 0 && elected()) produce(&a, &b, shared, k_blocks);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume(&c, shared, k_blocks, warp / 4 - 1, warp % 4, lane);
  }
}
