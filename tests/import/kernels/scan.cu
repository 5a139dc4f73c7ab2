// Inclusive prefix sums of 256 values a CTA: each warp scans by shuffles, the first warp scans the sums of the warps.
__device__ __forceinline__ int scan_lanes(int value, int lane) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int left = __shfl_up_sync(0xffffffff, value, step);
    if (lane >= step) value += left;
  }
  return value;
}

extern "C" __global__ void __launch_bounds__(256) scan_warps(const int* x, int* prefix, int n) {
  __shared__ int of_warp[8];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int value = scan_lanes(i < n ? x[i] : 0, lane);
  if (lane == 31) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const int sum = scan_lanes(lane < 8 ? of_warp[lane] : 0, lane);
    if (lane < 8) of_warp[lane] = sum;
  }
  __syncthreads();
  if (warp > 0) value += of_warp[warp - 1];
  if (i < n) prefix[i] = value;
}

// Exclusive prefix sums of 512 values a CTA by Blelloch's sweeps up and down a tree in shared memory.
extern "C" __global__ void __launch_bounds__(256) scan_blelloch(const float* x, float* prefix) {
  __shared__ float tree[512];
  const int thread = threadIdx.x;
  const int first = blockIdx.x * 512;
  tree[2 * thread] = x[first + 2 * thread];
  tree[2 * thread + 1] = x[first + 2 * thread + 1];
  int stride = 1;
  for (int nodes = 256; nodes > 0; nodes /= 2) {
    __syncthreads();
    if (thread < nodes) tree[stride * (2 * thread + 2) - 1] += tree[stride * (2 * thread + 1) - 1];
    stride *= 2;
  }
  if (thread == 0) tree[511] = 0;
  for (int nodes = 1; nodes < 512; nodes *= 2) {
    stride /= 2;
    __syncthreads();
    if (thread < nodes) {
      const int left = stride * (2 * thread + 1) - 1, right = stride * (2 * thread + 2) - 1;
      const float sum = tree[left];
      tree[left] = tree[right];
      tree[right] += sum;
    }
  }
  __syncthreads();
  prefix[first + 2 * thread] = tree[2 * thread];
  prefix[first + 2 * thread + 1] = tree[2 * thread + 1];
}
