// C = A B^T in BF16 by tcgen05.mma with sums in tensor memory (sm_100a, sm_103a, sm_110a): tiles of 128 x 128, 64 deep, one buffer.
#include <cuda_bf16.h>

#include <cstdint>

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM110_ALL)
namespace tcgen05 {

// Rows of 128 bytes along k in the 128-byte swizzle, groups of eight rows 1,024 bytes apart.
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return uint64_t{address >> 4 & 0x3fff} | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 46 | uint64_t{2} << 61;
}

constexpr uint32_t kInstruction = 1 << 4 | 1 << 7 | 1 << 10 | 128 / 8 << 17 | 128 / 16 << 24;  // FP32 += BF16 x BF16, n = m = 128

__device__ __forceinline__ void multiply(uint32_t sums, uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n .reg .pred adds;\n setp.ne.b32 adds, %4, 0;\n tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, adds;\n}" ::"r"(sums),
      "l"(a), "l"(b), "r"(kInstruction), "r"(adds)
      : "memory");
}

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n .reg .pred done;\n wait_again_%=:\n"
      " mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @!done bra wait_again_%=;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void copy_rows(uint8_t* to, const __nv_bfloat16* from, int k) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = threadIdx.x / 8 + 16 * i, chunk = threadIdx.x % 8;
    *reinterpret_cast<uint4*>(to + 128 * row + 16 * (chunk ^ row % 8)) =
        *reinterpret_cast<const uint4*>(from + row * k + 8 * chunk);
  }
}

#define TCGEN05_8(d, i) \
  "=r"(d[i]), "=r"(d[i + 1]), "=r"(d[i + 2]), "=r"(d[i + 3]), "=r"(d[i + 4]), "=r"(d[i + 5]), "=r"(d[i + 6]), "=r"(d[i + 7])

__device__ __forceinline__ void load_sums(uint32_t (&d)[32], uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,"
      "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, [%32];"
      : TCGEN05_8(d, 0), TCGEN05_8(d, 8), TCGEN05_8(d, 16), TCGEN05_8(d, 24)
      : "r"(address));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

}  // namespace tcgen05

extern "C" __global__ void __launch_bounds__(128)
    tcgen05_mma(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ c, int n, int k) {
  using namespace tcgen05;
  __shared__ __align__(1024) uint8_t a_tile[128 * 128];
  __shared__ __align__(1024) uint8_t b_tile[128 * 128];
  __shared__ uint64_t done;
  __shared__ uint32_t columns;
  const int warp = threadIdx.x / 32;
  const uint32_t barrier = static_cast<uint32_t>(__cvta_generic_to_shared(&done));
  if (warp == 0) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(
                     static_cast<uint32_t>(__cvta_generic_to_shared(&columns)))
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const uint32_t sums = columns;
  const uint32_t a_shared = static_cast<uint32_t>(__cvta_generic_to_shared(a_tile));
  const uint32_t b_shared = static_cast<uint32_t>(__cvta_generic_to_shared(b_tile));
  uint32_t parity = 0;
  for (int first = 0; first < k; first += 64) {
    copy_rows(a_tile, a + blockIdx.y * 128 * k + first, k);
    copy_rows(b_tile, b + blockIdx.x * 128 * k + first, k);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        multiply(sums, descriptor(a_shared + 32 * step), descriptor(b_shared + 32 * step), first | step);
      }
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
    }
    wait(barrier, parity);
    parity ^= 1;
  }
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  float* row = c + (blockIdx.y * 128 + threadIdx.x) * n + blockIdx.x * 128;
#pragma unroll
  for (int column = 0; column < 128; column += 32) {
    uint32_t words[32];
    load_sums(words, sums + (32 * warp << 16) + column);
#pragma unroll
    for (int i = 0; i < 32; i += 4)
      *reinterpret_cast<uint4*>(row + column + i) = make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]);
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(sums));
}
#endif
