// Marsaglia's xorwow: a state of six words a thread, read, advanced and written back; uniform numbers a grid apart from each other.
#include <cstdint>

__host__ __device__ inline uint32_t xorwow_next(uint32_t (&state)[6]) {
  const uint32_t mixed = state[0] ^ state[0] >> 2;
  for (int i = 0; i < 4; ++i) state[i] = state[i + 1];
  state[4] = state[4] ^ state[4] << 4 ^ mixed ^ mixed << 1;
  state[5] += 362437;
  return state[4] + state[5];
}

extern "C" __global__ void __launch_bounds__(256) xorwow(uint32_t* states, float* uniform, int numbers) {
  const int threads = gridDim.x * blockDim.x;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t state[6];
#pragma unroll
  for (int i = 0; i < 6; ++i) state[i] = states[i * threads + thread];
  for (int i = 0; i < numbers; ++i) uniform[i * threads + thread] = xorwow_next(state) * 2.3283064e-10f;
#pragma unroll
  for (int i = 0; i < 6; ++i) states[i * threads + thread] = state[i];
}
