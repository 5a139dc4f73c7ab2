// Softmax of rows, a warp each, in three passes over a row.
extern "C" __global__ void __launch_bounds__(128) softmax_rows(const float* x, float* y, int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* from = x + static_cast<size_t>(row) * columns;
  float* to = y + static_cast<size_t>(row) * columns;
  float most = -INFINITY;
  for (int i = lane; i < columns; i += 32) most = fmaxf(most, from[i]);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += __expf(from[i] - most);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  const float scale = 1 / sum;
  for (int i = lane; i < columns; i += 32) to[i] = __expf(from[i] - most) * scale;
}
