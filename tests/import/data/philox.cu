// Keep bits of a dropout mask by Philox4x32, as the philox workload has them: a word of 32 bits a thread and pass.
//   nvcc -std=c++17 -O3 --use_fast_math -arch=sm_80 -cubin philox.cu && nvdisasm -c -hex philox.cubin

#include <cuda_fp16.h>

#include <cstdint>

template <int kRounds>
__device__ uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t left = uint64_t{0xD2511F53} * counter.x;
    const uint64_t right = uint64_t{0xCD9E8D57} * counter.z;
    counter = {static_cast<uint32_t>(right >> 32) ^ counter.y ^ key.x, static_cast<uint32_t>(right),
               static_cast<uint32_t>(left >> 32) ^ counter.w ^ key.y, static_cast<uint32_t>(left)};
    key = {key.x + 0x9E3779B9, key.y + 0xBB67AE85};
  }
  return counter;
}

// The mask has `words` words; the grid strides over it.
extern "C" __global__ void __launch_bounds__(128) philox_7(uint32_t* mask, uint2 key, uint32_t threshold, int words) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  for (int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); at < words; at += stride) {
    uint32_t keep = 0;
#pragma unroll
    for (uint32_t call = 0; call < 2; ++call) {
      const uint4 random = philox<7>({static_cast<uint32_t>(at) * 2 + call, 0, static_cast<uint32_t>(at), call}, key);
      const uint32_t bits[4] = {random.x, random.y, random.z, random.w};
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const uint32_t less = __vcmpleu4(bits[word], threshold);
        keep |= (less & 0x01010101) << (call * 4 + word);
      }
    }
    mask[at] = keep;
  }
}
