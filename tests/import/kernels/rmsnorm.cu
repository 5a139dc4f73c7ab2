// RMS normalisation of rows of BF16 numbers of any even length, a CTA each, in two passes.
#include <cuda_bf16.h>

extern "C" __global__ void __launch_bounds__(256)
    rmsnorm(const __nv_bfloat162* x, const __nv_bfloat162* gain, __nv_bfloat162* y, int pairs, float epsilon) {
  __shared__ float of_warp[8];
  __shared__ float of_row;
  const __nv_bfloat162* from = x + static_cast<size_t>(blockIdx.x) * pairs;
  __nv_bfloat162* to = y + static_cast<size_t>(blockIdx.x) * pairs;
  float squares = 0;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float2 v = __bfloat1622float2(from[i]);
    squares += v.x * v.x + v.y * v.y;
  }
  for (int step = 16; step > 0; step /= 2) squares += __shfl_down_sync(0xffffffff, squares, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) sum += of_warp[warp];
    of_row = rsqrtf(sum / (2 * pairs) + epsilon);
  }
  __syncthreads();
  const float scale = of_row;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float2 v = __bfloat1622float2(from[i]), g = __bfloat1622float2(gain[i]);
    to[i] = __floats2bfloat162_rn(v.x * scale * g.x, v.y * scale * g.y);
  }
}
