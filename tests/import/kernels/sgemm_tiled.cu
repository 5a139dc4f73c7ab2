// C = A B in FP32: tiles of 64 x 64, 16 deep, in shared memory; 4 x 4 sums a thread.
constexpr int kSgemmTile = 64, kSgemmDepth = 16;

extern "C" __global__ void __launch_bounds__(256)
    sgemm_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n, int k) {
  __shared__ __align__(16) float a_tile[kSgemmDepth][kSgemmTile + 4];
  __shared__ __align__(16) float b_tile[kSgemmDepth][kSgemmTile];
  const int thread = threadIdx.x;
  const int tx = thread % 16, ty = thread / 16;
  const int row = blockIdx.y * kSgemmTile, column = blockIdx.x * kSgemmTile;
  float sums[4][4] = {};
  for (int first = 0; first < k; first += kSgemmDepth) {
    const float4 of_a = *reinterpret_cast<const float4*>(&a[(row + thread / 4) * k + first + thread % 4 * 4]);
    const float4 of_b = *reinterpret_cast<const float4*>(&b[(first + thread / 16) * n + column + thread % 16 * 4]);
    a_tile[thread % 4 * 4 + 0][thread / 4] = of_a.x;
    a_tile[thread % 4 * 4 + 1][thread / 4] = of_a.y;
    a_tile[thread % 4 * 4 + 2][thread / 4] = of_a.z;
    a_tile[thread % 4 * 4 + 3][thread / 4] = of_a.w;
    *reinterpret_cast<float4*>(&b_tile[thread / 16][thread % 16 * 4]) = of_b;
    __syncthreads();
#pragma unroll
    for (int step = 0; step < kSgemmDepth; ++step) {
      alignas(16) float rows[4], columns[4];
      *reinterpret_cast<float4*>(rows) = *reinterpret_cast<const float4*>(&a_tile[step][ty * 4]);
      *reinterpret_cast<float4*>(columns) = *reinterpret_cast<const float4*>(&b_tile[step][tx * 4]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += rows[i] * columns[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<float4*>(&c[(row + ty * 4 + i) * n + column + tx * 4]) =
        make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
  }
}
