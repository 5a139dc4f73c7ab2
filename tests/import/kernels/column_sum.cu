// Sums of columns over a chunk of rows, a thread a column.
extern "C" __global__ void __launch_bounds__(256) column_sum(const float* x, float* sums, int columns, int rows_of_chunk) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const float* at = x + static_cast<size_t>(blockIdx.y) * rows_of_chunk * columns + column;
  float sum = 0;
  for (int row = 0; row < rows_of_chunk; ++row) sum += at[static_cast<size_t>(row) * columns];
  sums[blockIdx.y * columns + column] = sum;
}
