// FP32 to narrow formats and back: BF16, and FP8 where it is native (sm_89 and later).
#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" __global__ void __launch_bounds__(256) bf16_convert(const float2* x, __nv_bfloat162* narrow, float* errors, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const float2 value = x[i];
  const __nv_bfloat162 pair = __floats2bfloat162_rn(value.x, value.y);
  const float2 back = __bfloat1622float2(pair);
  narrow[i] = pair;
  errors[i] = fabsf(back.x - value.x) + fabsf(back.y - value.y);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
extern "C" __global__ void __launch_bounds__(256) fp8_convert(const float4* x, __nv_fp8x4_e4m3* narrow, float* sums, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const __nv_fp8x4_e4m3 bytes(x[i]);
  const float4 back = static_cast<float4>(bytes);
  narrow[i] = bytes;
  sums[i] = back.x + back.y + back.z + back.w;
}
#endif
