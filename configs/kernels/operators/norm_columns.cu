// RMSNorm, LayerNorm and softmax of columns: the elements that are reduced lie a row apart, as where tokens are the innermost
// dimension. A CTA has 64 columns, two to a thread of a warp, and goes through the rows sixteen at a time: once for the sums, and,
// mostly from L2, once for the results.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o norm_columns.cubin norm_columns.cu
//   nvdisasm -c -hex norm_columns.cubin | tr -s " " > norm_columns_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kAtATime = 16;  // rows, one to a warp

struct Pair {
  float low;
  float high;
};

__device__ __forceinline__ Pair pair_at(const bf16* from) {
  const unsigned word = *reinterpret_cast<const unsigned*>(from);
  return {__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000)};
}
__device__ __forceinline__ void store_pair(bf16* to, Pair what) {
  *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(what.low, what.high);
}

// Over the warps of a CTA, for each column.
template <typename Operation>
__device__ __forceinline__ Pair over_warps(Pair value, Pair (*partial)[kWarp]) {
  __syncthreads();
  partial[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  Pair all = partial[0][threadIdx.x];
#pragma unroll
  for (int warp = 1; warp < kAtATime; ++warp) {
    const Pair other = partial[warp][threadIdx.x];
    all = {Operation::of(all.low, other.low), Operation::of(all.high, other.high)};
  }
  return all;
}

__device__ __forceinline__ int column_of_thread() { return (blockIdx.x * kWarp + threadIdx.x) * 2; }

}  // namespace operators

using namespace operators;

// `length`: rows of the array, which are summed over; `columns`: tokens.
extern "C" __global__ void __launch_bounds__(512)
    rms_norm_columns_bf16(const bf16* x, const bf16* weight, bf16* out, float* rstd, int length, int columns, float epsilon) {
  __shared__ Pair partial[kAtATime][kWarp];
  const int column = column_of_thread();
  if (column >= columns) return;
  Pair squares{0, 0};
#pragma unroll 8
  for (int row = threadIdx.y; row < length; row += kAtATime) {
    const Pair a = pair_at(x + static_cast<int64_t>(row) * columns + column);
    squares = {fmaf(a.low, a.low, squares.low), fmaf(a.high, a.high, squares.high)};
  }
  const Pair sum = over_warps<Sum>(squares, partial);
  const Pair scale{rsqrtf(__fdividef(sum.low, length) + epsilon), rsqrtf(__fdividef(sum.high, length) + epsilon)};
  if (threadIdx.y == 0) *reinterpret_cast<float2*>(rstd + column) = {scale.low, scale.high};
#pragma unroll 8
  for (int row = threadIdx.y; row < length; row += kAtATime) {
    const int64_t at = static_cast<int64_t>(row) * columns + column;
    const Pair a = pair_at(x + at);
    const float w = __bfloat162float(weight[row]);
    store_pair(out + at, {a.low * scale.low * w, a.high * scale.high * w});
  }
}

extern "C" __global__ void __launch_bounds__(512)
    layer_norm_columns_bf16(const bf16* x, const bf16* weight, const bf16* bias, bf16* out, float* mean, float* rstd, int length,
                            int columns, float epsilon) {
  __shared__ Pair partial[kAtATime][kWarp];
  const int column = column_of_thread();
  if (column >= columns) return;
  Pair sums{0, 0};
  Pair squares{0, 0};
#pragma unroll 8
  for (int row = threadIdx.y; row < length; row += kAtATime) {
    const Pair a = pair_at(x + static_cast<int64_t>(row) * columns + column);
    sums = {sums.low + a.low, sums.high + a.high};
    squares = {fmaf(a.low, a.low, squares.low), fmaf(a.high, a.high, squares.high)};
  }
  const Pair sum = over_warps<Sum>(sums, partial);
  const Pair square = over_warps<Sum>(squares, partial);
  const Pair middle{__fdividef(sum.low, length), __fdividef(sum.high, length)};
  const Pair scale{rsqrtf(__fdividef(square.low, length) - middle.low * middle.low + epsilon),
                   rsqrtf(__fdividef(square.high, length) - middle.high * middle.high + epsilon)};
  if (threadIdx.y == 0) {
    *reinterpret_cast<float2*>(mean + column) = {middle.low, middle.high};
    *reinterpret_cast<float2*>(rstd + column) = {scale.low, scale.high};
  }
#pragma unroll 1
  for (int row = threadIdx.y; row < length; row += kAtATime) {
    const int64_t at = static_cast<int64_t>(row) * columns + column;
    const Pair a = pair_at(x + at);
    const float w = __bfloat162float(weight[row]);
    const float b = __bfloat162float(bias[row]);
    store_pair(out + at, {(a.low - middle.low) * scale.low * w + b, (a.high - middle.high) * scale.high * w + b});
  }
}

extern "C" __global__ void __launch_bounds__(512) softmax_columns_bf16(const bf16* x, bf16* out, int length, int columns) {
  __shared__ Pair partial[kAtATime][kWarp];
  const int column = column_of_thread();
  if (column >= columns) return;
  Pair largest{Largest::kNeutral, Largest::kNeutral};
  Pair sums{0, 0};
#pragma unroll 8
  for (int row = threadIdx.y; row < length; row += kAtATime) {
    const Pair a = pair_at(x + static_cast<int64_t>(row) * columns + column);
    const Pair now{fmaxf(largest.low, a.low), fmaxf(largest.high, a.high)};
    sums = {sums.low * __expf(largest.low - now.low) + __expf(a.low - now.low),
            sums.high * __expf(largest.high - now.high) + __expf(a.high - now.high)};
    largest = now;
  }
  const Pair most = over_warps<Largest>(largest, partial);
  const Pair sum =
      over_warps<Sum>({sums.low * __expf(largest.low - most.low), sums.high * __expf(largest.high - most.high)}, partial);
  const Pair scale{__fdividef(1.0F, sum.low), __fdividef(1.0F, sum.high)};
#pragma unroll 8
  for (int row = threadIdx.y; row < length; row += kAtATime) {
    const int64_t at = static_cast<int64_t>(row) * columns + column;
    const Pair a = pair_at(x + at);
    store_pair(out + at, {__expf(a.low - most.low) * scale.low, __expf(a.high - most.high) * scale.high});
  }
}
