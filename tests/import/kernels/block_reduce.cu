// Sums over a grid: shuffles inside a warp, shared memory between the warps of a CTA. The host adds one sum a CTA.
__device__ __forceinline__ float block_reduce_warp(float sum) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  return sum;
}

extern "C" __global__ void __launch_bounds__(256) block_reduce(const float* x, float* sums, int n) {
  __shared__ float of_warp[8];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_reduce_warp(sum);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < 8 ? of_warp[lane] : 0;
    sum = block_reduce_warp(sum);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}
