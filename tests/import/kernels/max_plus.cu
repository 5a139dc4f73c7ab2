// Max-plus product of square matrices: c[i][j] is the largest a[i][l] + b[l][j], at least a floor. DPX from sm_90 on.
extern "C" __global__ void __launch_bounds__(256) max_plus(const int* a, const int* b, int* c, int n, int floor) {
  __shared__ int a_tile[16][17], b_tile[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  int most = floor;
  for (int first = 0; first < n; first += 16) {
    a_tile[ty][tx] = a[row * n + first + tx];
    b_tile[ty][tx] = b[(first + ty) * n + column];
    __syncthreads();
#pragma unroll
    for (int l = 0; l < 16; ++l) most = __viaddmax_s32(a_tile[ty][l], b_tile[l][tx], most);
    __syncthreads();
  }
  c[row * n + column] = most;
}
