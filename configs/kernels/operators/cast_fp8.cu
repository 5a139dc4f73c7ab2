// BF16 to FP8 (e4m3) with the largest magnitude of what is cast: of the whole tensor, for the next step's scale, and of blocks of
// 128 along a row, whose scale is stored, as DeepSeek's training has it; the second one transposed as well.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_89 -cubin -o cast_fp8.cubin cast_fp8.cu
//   nvdisasm -c -hex cast_fp8.cubin | tr -s " " > cast_fp8_sm_89.sass
#include <cuda_fp8.h>

#include "operators.cuh"

namespace operators {

constexpr int kThreads = 256;
constexpr float kLargestFp8 = 448;

__device__ __forceinline__ uint2 cast(const Values<bf16>& a, float scale) {
  unsigned word[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned low =
        __nv_cvt_float2_to_fp8x2(make_float2(a.at[4 * i] * scale, a.at[4 * i + 1] * scale), __NV_SATFINITE, __NV_E4M3);
    const unsigned high =
        __nv_cvt_float2_to_fp8x2(make_float2(a.at[4 * i + 2] * scale, a.at[4 * i + 3] * scale), __NV_SATFINITE, __NV_E4M3);
    word[i] = low | high << 16;
  }
  return make_uint2(word[0], word[1]);
}

__device__ __forceinline__ float magnitude(const Values<bf16>& a) {
  float largest = 0;
#pragma unroll
  for (int i = 0; i < kElements<bf16>; ++i) largest = fmaxf(largest, fabsf(a.at[i]));
  return largest;
}

}  // namespace operators

using namespace operators;

// `scales` has the scale of this step; `amax` gets the largest magnitude as the bits of a float, which order as integers do.
extern "C" __global__ void __launch_bounds__(kThreads)
    cast_fp8_amax(const bf16* x, const float* scales, uint8_t* out, unsigned* amax, int64_t elements) {
  __shared__ float partial[kWarp];
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kElements<bf16>;
  float largest = 0;
  if (at < elements) {
    const Values<bf16> a = values(load(x + at));
    largest = magnitude(a);
    *reinterpret_cast<uint2*>(out + at) = cast(a, *scales);
  }
  largest = over_row<Largest, kThreads>(largest, partial);
  if (threadIdx.x == 0) atomicMax(amax, __float_as_uint(largest));
}

// 16 threads a block of 128.
extern "C" __global__ void __launch_bounds__(kThreads)
    cast_fp8_blocks(const bf16* x, uint8_t* out, float* scales, int rows, int columns) {
  constexpr int kABlock = 16;
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kElements<bf16>;
  if (at >= static_cast<int64_t>(rows) * columns) return;
  const Values<bf16> a = values(load(x + at));
  float largest = magnitude(a);
#pragma unroll
  for (int step = kABlock / 2; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, step));
  largest = fmaxf(largest, 1e-12F);
  if (threadIdx.x % kABlock == 0) scales[at / 128] = __fdividef(largest, kLargestFp8);
  *reinterpret_cast<uint2*>(out + at) = cast(a, __fdividef(kLargestFp8, largest));
}

// Blocks of 128 down a column, written along a row of the transposed matrix: tiles of 128 x 64 through shared memory.
extern "C" __global__ void __launch_bounds__(kThreads)
    cast_fp8_blocks_transposed(const bf16* x, uint8_t* out, float* scales, int rows, int columns) {
  constexpr int kRows = 128, kColumns = 64, kPitch = kRows + 4;
  __shared__ float partial[kThreads / 8][kColumns];
  __shared__ uint8_t tile[kColumns][kPitch];
  const int row0 = blockIdx.y * kRows, column0 = blockIdx.x * kColumns;
  const int part = threadIdx.x % 8 * 8, first = threadIdx.x / 8;
  Vector<bf16> held[kRows / 32];
  float largest[8] = {};
#pragma unroll
  for (int y = 0; y < kRows / 32; ++y) {
    held[y] = load(x + static_cast<int64_t>(row0 + y * 32 + first) * columns + column0 + part);
    const Values<bf16> a = values(held[y]);
#pragma unroll
    for (int i = 0; i < 8; ++i) largest[i] = fmaxf(largest[i], fabsf(a.at[i]));
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) partial[first][part + i] = largest[i];
  __syncthreads();
  if (threadIdx.x < kColumns) {
    float most = 1e-12F;
#pragma unroll
    for (int y = 0; y < kThreads / 8; ++y) most = fmaxf(most, partial[y][threadIdx.x]);
    partial[0][threadIdx.x] = __fdividef(kLargestFp8, most);
    scales[static_cast<int64_t>(column0 + threadIdx.x) * gridDim.y + blockIdx.y] = __fdividef(most, kLargestFp8);
  }
  __syncthreads();
#pragma unroll
  for (int y = 0; y < kRows / 32; ++y) {
    Values<bf16> a = values(held[y]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      tile[part + i][y * 32 + first] = __nv_cvt_float_to_fp8(a.at[i] * partial[0][part + i], __NV_SATFINITE, __NV_E4M3);
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.x / 32; y < kColumns; y += kThreads / 32) {
    *reinterpret_cast<unsigned*>(out + static_cast<int64_t>(column0 + y) * rows + row0 + threadIdx.x % 32 * 4) =
        *reinterpret_cast<const unsigned*>(&tile[y][threadIdx.x % 32 * 4]);
  }
}
