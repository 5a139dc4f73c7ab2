// Normal deviates by Philox4x32-10 and Box-Muller, four a call, a grid apart from each other.
#include <cstdint>

struct PhiloxWords {
  uint32_t word[4];
};

__host__ __device__ inline PhiloxWords philox_10(PhiloxWords counter, uint32_t key0, uint32_t key1) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t left = uint64_t{0xD2511F53} * counter.word[0];
    const uint64_t right = uint64_t{0xCD9E8D57} * counter.word[2];
    counter = {{static_cast<uint32_t>(right >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(right),
                static_cast<uint32_t>(left >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(left)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

__device__ __forceinline__ float2 philox_box_muller(uint32_t a, uint32_t b) {
  const float u = a * 2.3283064e-10f + 1.1641532e-10f;
  const float angle = b * 1.4629180e-9f;
  const float radius = sqrtf(-2 * logf(u));
  float sine, cosine;
  sincosf(angle, &sine, &cosine);
  return make_float2(radius * cosine, radius * sine);
}

extern "C" __global__ void __launch_bounds__(256) philox_normal(float4* normals, uint64_t seed, int calls) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int call = 0; call < calls; ++call) {
    const PhiloxWords bits =
        philox_10({{static_cast<uint32_t>(call), 0, thread, 0}}, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
    const float2 a = philox_box_muller(bits.word[0], bits.word[1]), b = philox_box_muller(bits.word[2], bits.word[3]);
    normals[call * gridDim.x * blockDim.x + thread] = make_float4(a.x, a.y, b.x, b.y);
  }
}
