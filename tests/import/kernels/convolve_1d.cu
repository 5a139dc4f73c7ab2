// A filter of 17 taps in constant memory over a tile with its borders in shared memory; zero beyond the ends.
constexpr int kConvolveRadius = 8;
__constant__ float convolve_taps[2 * kConvolveRadius + 1];

extern "C" __global__ void __launch_bounds__(256) convolve_1d(const float* x, float* y, int n) {
  __shared__ float tile[256 + 2 * kConvolveRadius];
  const int first = blockIdx.x * 256 - kConvolveRadius;
  for (int i = threadIdx.x; i < 256 + 2 * kConvolveRadius; i += 256) {
    const int at = first + i;
    tile[i] = at >= 0 && at < n ? x[at] : 0;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int tap = 0; tap <= 2 * kConvolveRadius; ++tap) sum += convolve_taps[tap] * tile[threadIdx.x + tap];
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = sum;
}
