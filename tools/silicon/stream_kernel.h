#pragma once

#include <cstddef>

// Kernels that pass over arrays of 16-byte words, with enough loads per thread in flight to saturate memory.
namespace silicon {

constexpr int kStreamThreads = 512;
constexpr int kStreamAhead = 8;  // words per thread in flight

enum class Access { kRead, kWrite, kCopy, kTriad };

template <Access kAccess>
static __global__ void __launch_bounds__(1024)
    stream(const uint4* a, const uint4* b, uint4* c, std::size_t words, int passes, unsigned* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned all = 0;
  for (int p = 0; p < passes; ++p) {
    for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < words; i += stride * kStreamAhead) {
      uint4 x[kStreamAhead];
#pragma unroll
      for (int w = 0; w < kStreamAhead; ++w) {
        x[w] = make_uint4(1, 2, 3, static_cast<unsigned>(p));
        if (kAccess != Access::kWrite && i + w * stride < words)
          asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                       : "=r"(x[w].x), "=r"(x[w].y), "=r"(x[w].z), "=r"(x[w].w)
                       : "l"(a + i + w * stride));
      }
#pragma unroll
      for (int w = 0; w < kStreamAhead; ++w) {
        if (i + w * stride >= words) break;
        if constexpr (kAccess == Access::kTriad) {
          const uint4 y = b[i + w * stride];
          x[w] = make_uint4(x[w].x + 3 * y.x, x[w].y + 3 * y.y, x[w].z + 3 * y.z, x[w].w + 3 * y.w);
        }
        if constexpr (kAccess == Access::kRead) all ^= x[w].x ^ x[w].y ^ x[w].z ^ x[w].w;
        if constexpr (kAccess != Access::kRead) c[i + w * stride] = x[w];
      }
    }
  }
  if (all == 0x9e3779b9U) *sink = all;
}

// Reads an array again and again, without a pause between passes: for arrays that are small compared with the bytes in flight on
// the chip. `kTogether`: every CTA reads the whole array, in step; otherwise each CTA reads a part.
template <bool kTogether>
static __global__ void __launch_bounds__(1024)
    read_over_and_over(const uint4* array, unsigned words, unsigned each, unsigned* sink) {
  const unsigned stride = (kTogether ? 1 : gridDim.x) * blockDim.x;
  unsigned at = ((kTogether ? 0 : blockIdx.x * blockDim.x) + threadIdx.x) % words;
  unsigned all = 0;
  for (unsigned i = 0; i < each; i += kStreamAhead) {
    uint4 x[kStreamAhead];
#pragma unroll
    for (int w = 0; w < kStreamAhead; ++w) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[w].x), "=r"(x[w].y), "=r"(x[w].z), "=r"(x[w].w)
                   : "l"(array + at));
      at += stride;
      if (at >= words) at -= words;
    }
#pragma unroll
    for (int w = 0; w < kStreamAhead; ++w) all ^= x[w].x ^ x[w].y ^ x[w].z ^ x[w].w;
  }
  if (all == 0x9e3779b9U) *sink = all;
}

// Writes an array again and again; each CTA writes a part.
static __global__ void __launch_bounds__(1024) write_over_and_over(uint4* array, unsigned words, unsigned each) {
  const unsigned stride = gridDim.x * blockDim.x;
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) % words;
#pragma unroll 8
  for (unsigned i = 0; i < each; ++i) {
    array[at] = make_uint4(i, 2, 3, 4);
    at += stride;
    if (at >= words) at -= words;
  }
}

}  // namespace silicon
