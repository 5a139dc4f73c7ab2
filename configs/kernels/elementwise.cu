// y = s x + y over 128-bit accesses, as the elementwise workload's TRIAD moves it; the last CTA is ragged where n asks for it.

extern "C" __global__ void __launch_bounds__(256) scale_add(const float4* x, const float4* y, float4* out, float s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = x[i];
  const float4 b = y[i];
  out[i] = {fmaf(b.x, s, a.x), fmaf(b.y, s, a.y), fmaf(b.z, s, a.z), fmaf(b.w, s, a.w)};
}

// Rows of a matrix, a warp each: a loop, shuffles, a branch on the thread, an integer division.
extern "C" __global__ void __launch_bounds__(128) row_sums(const float* x, float* sums, int rows, int columns, int heads) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (warp >= rows) return;
  const float* row = x + static_cast<long long>(warp / heads * heads + warp % heads) * columns;
  float sum = 0;
#pragma unroll 1
  for (int i = lane; i < columns; i += 32) sum += row[i];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0) sums[warp] = sum;
}
