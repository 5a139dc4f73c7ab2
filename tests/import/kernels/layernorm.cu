// Layer normalisation of rows of 2,048 numbers, a CTA each; the row stays in registers.
__device__ __forceinline__ float layernorm_sum(float value, float* of_warp) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int warp = 0; warp < 8; ++warp) sum += of_warp[warp];
  return sum;
}

extern "C" __global__ void __launch_bounds__(256)
    layernorm(const float4* __restrict__ x, const float4* __restrict__ gain, const float4* __restrict__ bias,
              float4* __restrict__ y, float epsilon) {
  __shared__ float of_warp[8];
  const float4* row = x + blockIdx.x * 512;
  float4 v[2];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    v[i] = row[i * 256 + threadIdx.x];
    sum += v[i].x + v[i].y + v[i].z + v[i].w;
  }
  const float mean = layernorm_sum(sum, of_warp) / 2048;
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    v[i] = make_float4(v[i].x - mean, v[i].y - mean, v[i].z - mean, v[i].w - mean);
    squares += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
  }
  const float scale = rsqrtf(layernorm_sum(squares, of_warp) / 2048 + epsilon);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int column = i * 256 + threadIdx.x;
    const float4 g = gain[column], b = bias[column];
    y[blockIdx.x * 512 + column] =
        make_float4(v[i].x * scale * g.x + b.x, v[i].y * scale * g.y + b.y, v[i].z * scale * g.z + b.z, v[i].w * scale * g.w + b.w);
  }
}
