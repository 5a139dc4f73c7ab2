// Hashes by 64-bit products, their low and their high halves.
#include <cstdint>

extern "C" __global__ void __launch_bounds__(256) hash_64(const uint64_t* x, uint64_t* hashes, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint64_t hash = x[i];
  for (int round = 0; round < rounds; ++round) {
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    hash = (hash ^ hash >> 29) * 0xc4ceb9fe1a85ec53;
    hash ^= __umul64hi(hash, 0x9e3779b97f4a7c15) + round;
  }
  hashes[i] = hash;
}
