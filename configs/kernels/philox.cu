// Keep bits of a dropout mask by Philox4x32-7, 32 bits a thread and pass: the loop that the philox workload replays. Both words of
// the counter that are multiplied change from call to call, so that the compiler hoists no round out of the loop.
//   nvcc -std=c++17 -O3 -arch=sm_80 -cubin philox.cu && nvdisasm -c -hex philox.cubin

#include <cuda_fp16.h>

#include <cstdint>

template <int kRounds>
__device__ uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t left = uint64_t{0xD2511F53} * counter.x;
    const uint64_t right = uint64_t{0xCD9E8D57} * counter.z;
    counter = {static_cast<uint32_t>(right >> 32) ^ counter.y ^ (key.x + round * 0x9E3779B9u), static_cast<uint32_t>(right),
               static_cast<uint32_t>(left >> 32) ^ counter.w ^ (key.y + round * 0xBB67AE85u), static_cast<uint32_t>(left)};
  }
  return counter;
}

// All ones in each half where a byte, widened to a half, is at most the threshold: bytes 0 and 1, or 2 and 3.
__device__ uint32_t at_most(uint32_t bytes, uint32_t selector, __half2 threshold) {
  const uint32_t wide = __byte_perm(bytes, 0, selector);
  return __hle2_mask(*reinterpret_cast<const __half2*>(&wide), threshold);
}

__device__ uint32_t keep_bits(uint4 random, __half2 threshold) {
  const uint32_t words[4] = {random.x, random.y, random.z, random.w};
  uint32_t keep = 0;
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    keep |= at_most(words[word], 0x4140, threshold) & (0x00010001u << (2 * word));
    keep |= at_most(words[word], 0x4342, threshold) & (0x00020002u << (2 * word));
  }
  return (keep + (keep >> 8)) & 0xffff;
}

// A thread makes `passes` words, a grid apart from each other.
extern "C" __global__ void philox_7(uint32_t* mask, uint2 key, __half2 threshold, int passes) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  uint4 counter = {thread, thread / 64, thread, 0};
  mask += thread;
  for (int pass = 0; pass < passes; ++pass) {
    uint32_t keep = 0;
#pragma unroll
    for (int call = 0; call < 2; ++call) {
      keep |= keep_bits(philox<7>(counter, key), threshold) << (16 * call);
      counter.x += 5;
      counter.z += 7;
      counter.w += 1;
    }
    *mask = keep;
    mask += stride;
  }
}
