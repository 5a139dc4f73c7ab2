// Local memory: an array indexed by data, and registers that do not suffice.
extern "C" __global__ void __launch_bounds__(256) local_array(const int* x, int* modes, int values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int counts[16];
#pragma unroll
  for (int digit = 0; digit < 16; ++digit) counts[digit] = 0;
  for (int at = 0; at < values; ++at) ++counts[x[at * n + i] & 15];
  int mode = 0;
  for (int digit = 1; digit < 16; ++digit) {
    if (counts[digit] > counts[mode]) mode = digit;
  }
  modes[i] = mode;
}

constexpr int kSpilledWords = 48;

__host__ __device__ inline void register_spill_round(unsigned (&words)[kSpilledWords]) {
#pragma unroll
  for (int i = 0; i < kSpilledWords; ++i) {
    words[i] = words[i] * 1664525u + (words[(i * 7 + 5) % kSpilledWords] ^ words[(i * 11 + 23) % kSpilledWords]);
  }
}

extern "C" __global__ void __maxnreg__(32) register_spill(const unsigned* x, unsigned* y, int rounds) {
  const int threads = gridDim.x * blockDim.x;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned words[kSpilledWords];
#pragma unroll
  for (int i = 0; i < kSpilledWords; ++i) words[i] = x[i * threads + thread];
  for (int round = 0; round < rounds; ++round) register_spill_round(words);
  unsigned mixed = 0;
#pragma unroll
  for (int i = 0; i < kSpilledWords; ++i) mixed = mixed * 31 + words[i];
  y[thread] = mixed;
}
