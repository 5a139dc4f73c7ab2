// Digits of eight bits of 4,096 keys a CTA, counted in shared memory: the first pass of a radix sort.
extern "C" __global__ void __launch_bounds__(256) radix_histogram(const unsigned* keys, unsigned* counts, int shift) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  const unsigned* at = keys + blockIdx.x * 4096 + threadIdx.x;
#pragma unroll 4
  for (int i = 0; i < 16; ++i) atomicAdd(&bins[at[i * 256] >> shift & 255], 1u);
  __syncthreads();
  counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
