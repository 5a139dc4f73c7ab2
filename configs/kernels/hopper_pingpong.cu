// C[m,n] = A[m,k] B[n,k]^T in bf16 on Hopper, ping-pong: two consumer warpgroups take turns at the tensor cores, each with a tile
// of 64 x 256 of its own; while one multiplies, the other hands its tile over. As in CUTLASS's KernelTmaWarpSpecializedPingpong,
// CTAs are persistent, a warp fills a ring of four stages by TMA in the order of the tiles, and mbarriers say whose turn it is, for
// the products and for the way out. Its listing beside it is imported by docs/import.md:
//   nvcc -O3 -std=c++17 -arch=sm_90a -cubin -o hopper_pingpong.cubin hopper_pingpong.cu
#include "hopper.cuh"

constexpr int kTileM = 64, kStages = 4;
constexpr uint32_t kABytes = kTileM * kTileK * 2, kBBytes = kTileN * kTileK * 2;
constexpr uint32_t kBuffers = kStages * (kABytes + kBBytes);   // where the buffers of results begin
constexpr uint32_t kBarriers = kBuffers + 2 * 2 * 4096;        // behind two of 64 rows x 64 bytes for each consumer
constexpr uint32_t kEmpty = 8 * kStages, kTurns = 2 * kEmpty;  // behind the mbarriers of full stages

// Where in the ring a role is.
struct Place {
  uint32_t stage, parity;
  __device__ __forceinline__ void step() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
  __device__ __forceinline__ void skip(uint32_t stages) {
    parity ^= (stage + stages) / kStages & 1;
    stage = (stage + stages) % kStages;
  }
};

__device__ __forceinline__ void produce(const TensorMap* a, const TensorMap* b, uint32_t shared, int k_blocks, int columns,
                                        int tiles) {
  const uint32_t full = shared + kBarriers, empty = full + kEmpty;
  Place place{0, 1};
#pragma unroll 1
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int x = (tile & ((1 << columns) - 1)) * kTileN, y = (tile >> columns) * kTileM;
#pragma unroll 1
    for (int block = 0; block < k_blocks; ++block) {
      wait(empty + 8 * place.stage, place.parity);
      expect(full + 8 * place.stage, kABytes + kBBytes);
      load(shared + place.stage * kABytes, a, block * kTileK, y, full + 8 * place.stage);
      load(shared + kStages * kABytes + place.stage * kBBytes, b, block * kTileK, x, full + 8 * place.stage);
      place.step();
    }
  }
}

__device__ __forceinline__ void consume(const TensorMap* c, uint32_t shared, int k_blocks, int columns, int tiles, int group,
                                        int warp, int lane) {
  const uint32_t full = shared + kBarriers, empty = full + kEmpty;
  const uint32_t products_turn = full + kTurns, way_out_turn = products_turn + 16;
  float d[kAccumulators];
  uint32_t turn = group ^ 1;  // the first group's first turn is there
  Place place{0, 0};
  if (group == 1) place.skip(k_blocks);
#pragma unroll 1
  for (int tile = blockIdx.x + group * gridDim.x; tile < tiles; tile += 2 * gridDim.x) {
    wait(products_turn + 8 * group, turn);
    uint32_t last = 0;
#pragma unroll 1
    for (int block = 0; block < k_blocks; ++block) {
      wait(full + 8 * place.stage, place.parity);
      products(d, shared + place.stage * kABytes, shared + kStages * kABytes + place.stage * kBBytes, block);
      if (block > 0) {
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (elected()) arrive(empty + 8 * last);
      }
      last = place.stage;
      place.step();
    }
    arrive(products_turn + 8 * (group ^ 1));
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (elected()) arrive(empty + 8 * last);
    place.skip(k_blocks);  // the other group's tile
    wait(way_out_turn + 8 * group, turn);
    const int x = (tile & ((1 << columns) - 1)) * kTileN, y = (tile >> columns) * kTileM + 16 * warp;
#pragma unroll
    for (int step = 0; step < kTileN / 32; ++step) {
      const uint32_t buffer = shared + kBuffers + (2 * group + step % 2) * 4096 + warp * 1024;
      hand_over(d + 16 * step, c, x + 32 * step, y, buffer, group, lane);
    }
    arrive(way_out_turn + 8 * (group ^ 1));
    turn ^= 1;
  }
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(384, 1)
    hopper_pingpong(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
                    int k_blocks, int columns, int tiles) {
  extern __shared__ __align__(1024) uint8_t memory[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      initialise(shared + kBarriers + 8 * stage, 1);
      initialise(shared + kBarriers + kEmpty + 8 * stage, 4);  // an arrival of each warp of the consumer that read it
    }
    for (int turn = 0; turn < 4; ++turn) initialise(shared + kBarriers + kTurns + 8 * turn, 128);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp < 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 0 && elected()) produce(&a, &b, shared, k_blocks, columns, tiles);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume(&c, shared, k_blocks, columns, tiles, warp / 4 - 1, warp % 4, lane);
  }
}
