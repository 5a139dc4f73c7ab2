// Counts of byte values: each CTA counts in shared memory, then adds its bins to those of the grid.
extern "C" __global__ void __launch_bounds__(256) histogram_shared(const uchar4* x, unsigned* counts, int quads) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uchar4 bytes = x[i];
    atomicAdd(&bins[bytes.x], 1u);
    atomicAdd(&bins[bytes.y], 1u);
    atomicAdd(&bins[bytes.z], 1u);
    atomicAdd(&bins[bytes.w], 1u);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// Counts of 16-bit values in global memory.
extern "C" __global__ void __launch_bounds__(256) histogram_global(const unsigned* x, unsigned* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[x[i] & 0xffff], 1u);
}
