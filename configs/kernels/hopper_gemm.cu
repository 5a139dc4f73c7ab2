// C[m,n] = A[m,k] B[n,k]^T in bf16 on Hopper: a warp of the first warpgroup fills a ring of four stages by TMA, two consumer
// warpgroups multiply 64 x 256 each with wgmma, and hand the tile over through shared memory and TMA. One CTA a tile of 128 x 256.
// Its listings beside it are imported by docs/import.md:
//   nvcc -O3 -std=c++17 -arch=sm_90a -cubin -o hopper_gemm.cubin hopper_gemm.cu
// Clusters of CTAs, CLUSTER of them below each other, share their tile of B by multicast:
//   nvcc -O3 -std=c++17 -arch=sm_90a -DCLUSTER=2 -cubin ...             each loads an equal part of it for all (_pairs)
//   nvcc -O3 -std=c++17 -arch=sm_90a -DCLUSTER=2 -DLEADER -cubin ...    the first loads it for all (tests/import/data)
#include <cstdint>

#ifndef CLUSTER
#define CLUSTER 1
#endif
#ifdef LEADER
constexpr bool kLeader = true;
#else
constexpr bool kLeader = false;
#endif
constexpr int kCluster = CLUSTER;
constexpr int kTileM = 128, kTileN = 256, kTileK = 64, kStages = 4;
constexpr uint32_t kABytes = kTileM * kTileK * 2, kBBytes = kTileN * kTileK * 2;
constexpr uint32_t kBuffers = kStages * (kABytes + kBBytes);  // where the buffers of results begin
constexpr uint32_t kBarriers = kBuffers + 2 * 2 * 4096;       // behind two of 64 rows x 64 bytes for each consumer
constexpr int kAccumulators = kTileN / 2;                     // a thread
constexpr int kPartN = kLeader ? kTileN : kTileN / kCluster;  // columns of B that a CTA loads at a time

struct alignas(64) TensorMap {
  uint64_t words[16];
};  // as CUtensorMap

__device__ __forceinline__ void initialise(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n .reg .pred done;\n wait_again_%=:\n"
      " mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @!done bra wait_again_%=;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// At the same mbarrier of CTA `rank` of the cluster.
__device__ __forceinline__ void arrive_at(uint32_t barrier, uint32_t rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(barrier), "r"(rank));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}

__device__ __forceinline__ uint32_t rank_in_cluster() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// To all CTAs of the cluster, each to the same place and mbarrier.
__device__ __forceinline__ void load_for_all(uint32_t to, const TensorMap* map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
      "[%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(static_cast<uint16_t>((1 << kCluster) - 1))
      : "memory");
}

__device__ __forceinline__ void load(uint32_t to, const TensorMap* map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void store(const TensorMap* map, int x, int y, uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;" ::"l"(map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}

__device__ __forceinline__ bool elected() {
  uint32_t yes;
  asm volatile("{\n .reg .pred yes;\n elect.sync _|yes, 0xffffffff;\n selp.u32 %0, 1, 0, yes;\n}" : "=r"(yes));
  return yes != 0;
}

// K-major, rows of 128 bytes swizzled.
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return uint64_t{address >> 4 & 0x3fff} | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 62;
}

#define EIGHT(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SIXTY_FOUR(d, i)                                                                                                  \
  EIGHT(d, i), EIGHT(d, i + 8), EIGHT(d, i + 16), EIGHT(d, i + 24), EIGHT(d, i + 32), EIGHT(d, i + 40), EIGHT(d, i + 48), \
      EIGHT(d, i + 56)

__device__ __forceinline__ void multiply(float (&d)[kAccumulators], uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n .reg .pred adds;\n setp.ne.b32 adds, %130, 0;\n wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,"
      "%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,"
      "%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,"
      "%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, adds, 1, 1, 0, 0;\n}"
      : SIXTY_FOUR(d, 0), SIXTY_FOUR(d, 64)
      : "l"(a), "l"(b), "r"(adds));
}

__device__ __forceinline__ uint32_t packed(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ void group_barrier(int group) { asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory"); }

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
      load_for_all(to + part * kPartN * kTileK * 2, b, block * kTileK, blockIdx.x * kTileN + part * kPartN, full + 8 * stage);
    } else if (part == 0) {
      load_for_all(to, b, block * kTileK, blockIdx.x * kTileN, full + 8 * stage);
    }
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
  // A CTA stays until its last stages are given back: the other ones signal its mbarriers.
  for (int i = 0; kCluster > 1 && i < kStages; ++i) {
    wait(empty + 8 * stage, parity);
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
}

__device__ __forceinline__ void products(float (&d)[kAccumulators], uint32_t a, uint32_t b, int adds) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int step = 0; step < kTileK / 16; ++step) multiply(d, descriptor(a + 32 * step), descriptor(b + 32 * step), adds | step);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void hand_over(float (&d)[kAccumulators], const TensorMap* c, uint32_t shared, int group, int warp,
                                          int lane) {
  const int y = blockIdx.y * kTileM + 64 * group + 16 * warp;
#pragma unroll
  for (int step = 0; step < kTileN / 32; ++step) {
    const uint32_t buffer = shared + kBuffers + (2 * group + step % 2) * 4096 + warp * 1024;
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    group_barrier(group);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* of = d + 16 * step + 8 * half;
      const uint32_t row = lane % 16, chunk = (2 * half + lane / 16) ^ (row / 2 & 3);  // rows of 64 bytes swizzled
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(buffer + 64 * row + 16 * chunk),
                   "r"(packed(of[0], of[1])), "r"(packed(of[2], of[3])), "r"(packed(of[4], of[5])), "r"(packed(of[6], of[7]))
                   : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    group_barrier(group);
    if (elected()) store(c, blockIdx.x * kTileN + 32 * step, y, buffer);
  }
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
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
  hand_over(d, c, shared, group, warp, lane);
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
