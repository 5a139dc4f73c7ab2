// y = A x of a sparse matrix in rows (CSR): a thread a row, or a warp a row.
extern "C" __global__ void __launch_bounds__(256)
    spmv_thread(const int* __restrict__ begins, const int* __restrict__ columns, const float* __restrict__ values,
                const float* __restrict__ x, float* __restrict__ y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

extern "C" __global__ void __launch_bounds__(256)
    spmv_warp(const int* __restrict__ begins, const int* __restrict__ columns, const float* __restrict__ values,
              const float* __restrict__ x, float* __restrict__ y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  const int end = begins[row + 1];
  for (int i = begins[row] + lane; i < end; i += 32) sum += values[i] * x[columns[i]];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0) y[row] = sum;
}
