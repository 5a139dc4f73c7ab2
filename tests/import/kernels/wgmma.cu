// C = A B^T in BF16 with FP32 sums by wgmma (sm_90a): tiles 64 deep, rows of 128 bytes in the 128-byte swizzle.
#include <cuda_bf16.h>

#include <cstdint>

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
namespace wgmma {

constexpr int kTileN = 128, kTileK = 64, kSums = kTileN / 2;  // sums a thread, of 64 x 128 a warpgroup
constexpr uint32_t kRowsBytes = 64 * kTileK * 2;              // 64 rows of a tile
constexpr uint32_t kBBytes = 2 * kRowsBytes;

__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return uint64_t{address >> 4 & 0x3fff} | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 62;
}

#define WGMMA_8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

// The first product of a tile overwrites the sums, where `adds` is 0.
__device__ __forceinline__ void multiply(float (&d)[kSums], uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n .reg .pred adds;\n setp.ne.b32 adds, %66, 0;\n wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,"
      "%62,%63}, %64, %65, adds, 1, 1, 0, 0;\n}"
      : WGMMA_8(d, 0), WGMMA_8(d, 8), WGMMA_8(d, 16), WGMMA_8(d, 24), WGMMA_8(d, 32), WGMMA_8(d, 40), WGMMA_8(d, 48), WGMMA_8(d, 56)
      : "l"(a), "l"(b), "r"(adds));
}

// Issues the products of one tile as one group.
__device__ __forceinline__ void multiply_tile(float (&d)[kSums], uint32_t a, uint32_t b, int adds) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int step = 0; step < kTileK / 16; ++step) multiply(d, descriptor(a + 32 * step), descriptor(b + 32 * step), adds | step);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void store(const float (&d)[kSums], float* c, int row, int column, int n, int warp, int lane) {
  float* at = c + (row + 16 * warp + lane / 4) * n + column + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < kTileN / 8; ++j) {
    *reinterpret_cast<float2*>(at + 8 * j) = make_float2(d[4 * j], d[4 * j + 1]);
    *reinterpret_cast<float2*>(at + 8 * n + 8 * j) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}

__device__ __forceinline__ void initialise(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
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

// Contiguous bytes, without a tensor map.
__device__ __forceinline__ void copy_bulk(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
               "r"(bytes), "r"(barrier)
               : "memory");
}

// Rows of a matrix into the swizzle, 16 bytes a copy, by 128 threads.
template <int kRows>
__device__ __forceinline__ void copy_rows(uint32_t to, const __nv_bfloat16* from, int k) {
#pragma unroll
  for (int i = 0; i < kRows / 16; ++i) {
    const int row = threadIdx.x / 8 + 16 * i, chunk = threadIdx.x % 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 128 * row + 16 * (chunk ^ row % 8)),
                 "l"(from + row * k + 8 * chunk)
                 : "memory");
  }
}

}  // namespace wgmma

// No producer: the warpgroup that multiplies fills three stages by cp.async. A tile is 64 x 128.
extern "C" __global__ void __launch_bounds__(128)
    wgmma_async(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ c, int n, int k) {
  using namespace wgmma;
  constexpr uint32_t kStageBytes = kRowsBytes + kBBytes;
  extern __shared__ __align__(1024) uint8_t wgmma_memory[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(wgmma_memory));
  const __nv_bfloat16* from_a = a + blockIdx.y * 64 * k;
  const __nv_bfloat16* from_b = b + blockIdx.x * kTileN * k;
  const int blocks = k / kTileK;
  const auto fetch = [&](int block) {
    if (block < blocks) {
      const uint32_t to = shared + block % 3 * kStageBytes;
      copy_rows<64>(to, from_a + block * kTileK, k);
      copy_rows<kTileN>(to + kRowsBytes, from_b + block * kTileK, k);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float d[kSums];
  fetch(0);
  fetch(1);
  for (int block = 0; block < blocks; ++block) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    fetch(block + 2);
    const uint32_t from = shared + block % 3 * kStageBytes;
    multiply_tile(d, from, from + kRowsBytes, block);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  store(d, c, blockIdx.y * 64, blockIdx.x * kTileN, n, threadIdx.x / 32, threadIdx.x % 32);
}

// A warp fills four stages by bulk copies, one warpgroup multiplies. Tiles of A (64 x 64) and B (128 x 64) are contiguous in
// memory, in the order of the swizzle, those of a row of tiles behind each other.
extern "C" __global__ void __launch_bounds__(160)
    wgmma_bulk(const uint8_t* __restrict__ a, const uint8_t* __restrict__ b, float* __restrict__ c, int n, int k) {
  using namespace wgmma;
  constexpr int kStages = 4;
  constexpr uint32_t kStageBytes = kRowsBytes + kBBytes;
  extern __shared__ __align__(1024) uint8_t wgmma_memory[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(wgmma_memory));
  const uint32_t full = shared + kStages * kStageBytes, empty = full + 8 * kStages;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int blocks = k / kTileK;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      initialise(full + 8 * stage, 1);
      initialise(empty + 8 * stage, 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  uint32_t stage = 0, parity = 0;
  if (warp == 4) {
    if (lane != 0) return;
    const uint8_t* from_a = a + static_cast<size_t>(blockIdx.y) * blocks * kRowsBytes;
    const uint8_t* from_b = b + static_cast<size_t>(blockIdx.x) * blocks * kBBytes;
    for (int block = 0; block < blocks; ++block) {
      wait(empty + 8 * stage, parity ^ 1);
      expect(full + 8 * stage, kStageBytes);
      copy_bulk(shared + stage * kStageBytes, from_a + block * kRowsBytes, kRowsBytes, full + 8 * stage);
      copy_bulk(shared + stage * kStageBytes + kRowsBytes, from_b + block * kBBytes, kBBytes, full + 8 * stage);
      if (++stage == kStages) stage = 0, parity ^= 1;
    }
    return;
  }
  float d[kSums];
  for (int block = 0; block < blocks; ++block) {
    wait(full + 8 * stage, parity);
    const uint32_t from = shared + stage * kStageBytes;
    multiply_tile(d, from, from + kRowsBytes, block);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (lane == 0) arrive(empty + 8 * stage);
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
  store(d, c, blockIdx.y * 64, blockIdx.x * kTileN, n, warp, lane);
}

// Two warpgroups multiply, a third one's first thread fills four stages by bulk copies; setmaxnreg moves registers to the former.
// A tile is 128 x 128; a stage is handed back when the products of the next one are issued.
extern "C" __global__ void __launch_bounds__(384, 1)
    wgmma_pair(const uint8_t* __restrict__ a, const uint8_t* __restrict__ b, float* __restrict__ c, int n, int k) {
  using namespace wgmma;
  constexpr int kStages = 4;
  constexpr uint32_t kStageBytes = 2 * kRowsBytes + kBBytes;
  extern __shared__ __align__(1024) uint8_t wgmma_memory[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(wgmma_memory));
  const uint32_t full = shared + kStages * kStageBytes, empty = full + 8 * kStages;
  const int blocks = k / kTileK;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      initialise(full + 8 * stage, 1);
      initialise(empty + 8 * stage, 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  uint32_t stage = 0, parity = 0;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      const uint8_t* from_a = a + static_cast<size_t>(2 * blockIdx.y) * blocks * kRowsBytes;
      const uint8_t* from_b = b + static_cast<size_t>(blockIdx.x) * blocks * kBBytes;
      for (int block = 0; block < blocks; ++block) {
        const uint32_t to = shared + stage * kStageBytes;
        wait(empty + 8 * stage, parity ^ 1);
        expect(full + 8 * stage, kStageBytes);
        copy_bulk(to, from_a + block * kRowsBytes, kRowsBytes, full + 8 * stage);
        copy_bulk(to + kRowsBytes, from_a + (blocks + block) * kRowsBytes, kRowsBytes, full + 8 * stage);
        copy_bulk(to + 2 * kRowsBytes, from_b + block * kBBytes, kBBytes, full + 8 * stage);
        if (++stage == kStages) stage = 0, parity ^= 1;
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[kSums];
    uint32_t last = 0;
    for (int block = 0; block < blocks; ++block) {
      wait(full + 8 * stage, parity);
      const uint32_t from = shared + stage * kStageBytes;
      multiply_tile(d, from + (group - 1) * kRowsBytes, from + 2 * kRowsBytes, block);
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (block > 0) {
        asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
        if (threadIdx.x % 128 == 0) arrive(empty + 8 * last);
      }
      last = stage;
      if (++stage == kStages) stage = 0, parity ^= 1;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    store(d, c, blockIdx.y * 128 + (group - 1) * 64, blockIdx.x * kTileN, n, threadIdx.x / 32 % 4, threadIdx.x % 32);
  }
}
#endif
