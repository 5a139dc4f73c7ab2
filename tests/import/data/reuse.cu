// Kernels whose loads and stores come back to what was touched before, for L1 and L2.
//   nvcc -std=c++17 -O3 -arch=sm_80 -cubin reuse.cu && nvdisasm -c -hex reuse.cubin

// y = 2 y + 1, each sector loaded and stored again.
extern "C" __global__ void __launch_bounds__(128) in_place(float4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 a = y[i];
  y[i] = {2 * a.x + 1, 2 * a.y + 1, 2 * a.z + 1, 2 * a.w + 1};
}

// The grid reads the array from its beginning to its end, again and again.
extern "C" __global__ void __launch_bounds__(128) read_again(const float* x, float* sums, int n, int passes) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int threads = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 1
    for (int i = thread; i < n; i += threads) sum += x[i];
  }
  sums[thread] = sum;
}

// y = A x, a warp for each row: all warps read the same x.
extern "C" __global__ void __launch_bounds__(128) matrix_vector(const float* a, const float* x, float* y, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  float sum = 0;
#pragma unroll 1
  for (int i = lane; i < columns; i += 32) sum += a[static_cast<long long>(row) * columns + i] * x[i];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0) y[row] = sum;
}

// A five-point stencil: a CTA goes down a strip of 128 columns, `rows` of them, and reads each row three times.
extern "C" __global__ void __launch_bounds__(128) stencil(const float* x, float* y, int pitch, int rows) {
  const int first = (blockIdx.y * rows + 1) * pitch + blockIdx.x * 128 + threadIdx.x + 1;
  const float* at = x + first;
  float* to = y + first;
#pragma unroll 1
  for (int row = 0; row < rows; ++row) {
    *to = at[0] * 4 - at[-1] - at[1] - at[-pitch] - at[pitch];
    at += pitch;
    to += pitch;
  }
}
