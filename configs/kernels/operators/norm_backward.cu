// Backward passes of RMSNorm and LayerNorm: a fixed number of CTAs (of short rows: warps) go round the rows, as Liger's and Quack's
// kernels do, each with its part of the gradients of weight and bias in registers; column_sums (reduce.cu) adds the parts.
// `_256x2`: as in norm.cu.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o norm_backward.cubin norm_backward.cu
//   nvdisasm -c -hex norm_backward.cubin | tr -s " " > norm_backward_sm_80.sass
#include "operators.cuh"

namespace operators {

template <typename T, int kThreads, int kVectors, bool kLayerNorm>
__device__ __forceinline__ void norm_backward(const T* x, const T* gradient, const T* weight, const float* mean, const float* rstd,
                                              T* out, float* weight_parts, float* bias_parts, int rows, int columns) {
  __shared__ float partial[2][2][kThreads > kWarp ? kThreads / kWarp : 1];
  constexpr int kHeld = kElements<T> * kVectors;
  const int workers = kThreads <= kWarp ? gridDim.x * blockDim.y : gridDim.x;
  Held<T, kThreads, kVectors> w;
  w.load_row(weight, columns);
  float of_weight[kHeld] = {}, of_bias[kHeld] = {};
  const float per_column = __fdividef(1.0F, columns);
  int turn = 0;
  // Rows of up to two vectors a thread are fetched while the one before is worked on.
  constexpr bool kAhead = kVectors <= 2;
  Held<T, kThreads, kVectors> next_input, next_dy;
  const auto fetch = [&](int row) {
    next_input.load_row(x + static_cast<int64_t>(row) * columns, columns);
    next_dy.load_row(gradient + static_cast<int64_t>(row) * columns, columns);
  };
  const int first = row_of_thread<kThreads>();
  if (kAhead && first < rows) fetch(first);
#pragma unroll 1
  for (int row = first; row < rows; row += workers, turn ^= 1) {
    const int64_t begin = static_cast<int64_t>(row) * columns;
    if (!kAhead) fetch(row);
    const Held<T, kThreads, kVectors> input = next_input, dy = next_dy;
    if (kAhead && row + workers < rows) fetch(row + workers);
    const float centre = kLayerNorm ? mean[row] : 0;
    const float scale = rstd[row];
    float along = 0, total = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Values<T> a = values(input.vector[v]), g = values(dy.vector[v]), b = values(w.vector[v]);
#pragma unroll
      for (int i = 0; i < kElements<T>; ++i) {
        const float normal = (a.at[i] - centre) * scale;
        const float weighted = g.at[i] * b.at[i];
        along = fmaf(weighted, normal, along);
        if (kLayerNorm) total += weighted;
        of_weight[v * kElements<T> + i] = fmaf(g.at[i], normal, of_weight[v * kElements<T> + i]);
        if (kLayerNorm) of_bias[v * kElements<T> + i] += g.at[i];
      }
    }
    along = over_row<Sum, kThreads>(along, partial[turn][0]) * per_column;
    if (kLayerNorm) total = over_row<Sum, kThreads>(total, partial[turn][1]) * per_column;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = input.column_of(v);
      if (column >= columns) continue;
      Values<T> a = values(input.vector[v]);
      const Values<T> g = values(dy.vector[v]), b = values(w.vector[v]);
#pragma unroll
      for (int i = 0; i < kElements<T>; ++i) {
        const float normal = (a.at[i] - centre) * scale;
        a.at[i] = (g.at[i] * b.at[i] - normal * along - total) * scale;
      }
      store(out + begin + column, a);
    }
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = w.column_of(v);
    if (column >= columns) continue;
#pragma unroll
    for (int i = 0; i < kElements<T>; i += 4) {
      const int64_t at = static_cast<int64_t>(row_of_thread<kThreads>()) * columns + column + i;
      const float* const part = of_weight + v * kElements<T> + i;
      *reinterpret_cast<float4*>(weight_parts + at) = make_float4(part[0], part[1], part[2], part[3]);
      if (!kLayerNorm) continue;
      const float* const second = of_bias + v * kElements<T> + i;
      *reinterpret_cast<float4*>(bias_parts + at) = make_float4(second[0], second[1], second[2], second[3]);
    }
  }
}

// PyTorch's gradient of the input (layer_norm_grad_input_kernel_vectorized): 128 threads a row, four elements at a time, twice.
__device__ __forceinline__ float4 four(const bf16* from) {
  const uint2 bits = *reinterpret_cast<const uint2*>(from);
  return make_float4(__uint_as_float(bits.x << 16), __uint_as_float(bits.x & 0xffff0000), __uint_as_float(bits.y << 16),
                     __uint_as_float(bits.y & 0xffff0000));
}
__device__ __forceinline__ void input_gradient_by_fours(const bf16* x, const bf16* gradient, const bf16* weight, const float* rstd,
                                                        bf16* out, int columns) {
  constexpr int kThreads = 128, kFour = 4;
  __shared__ float partial[kThreads / kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  const float scale = rstd[blockIdx.x];
  float along = 0;
#pragma unroll 1
  for (int column = threadIdx.x * kFour; column < columns; column += kThreads * kFour) {
    const float4 a = four(x + begin + column), g = four(gradient + begin + column), w = four(weight + column);
    along = fmaf(g.x * w.x, a.x * scale,
                 fmaf(g.y * w.y, a.y * scale, fmaf(g.z * w.z, a.z * scale, fmaf(g.w * w.w, a.w * scale, along))));
  }
  along = over_row<Sum, kThreads>(along, partial) * __fdividef(1.0F, columns);
#pragma unroll 1
  for (int column = threadIdx.x * kFour; column < columns; column += kThreads * kFour) {
    const float4 a = four(x + begin + column), g = four(gradient + begin + column), w = four(weight + column);
    const auto each = [&](float input, float dy, float gain) { return (dy * gain - input * scale * along) * scale; };
    const __nv_bfloat162 low = __floats2bfloat162_rn(each(a.x, g.x, w.x), each(a.y, g.y, w.y));
    const __nv_bfloat162 high = __floats2bfloat162_rn(each(a.z, g.z, w.z), each(a.w, g.w, w.w));
    *reinterpret_cast<uint2*>(out + begin + column) =
        make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high));
  }
}

// PyTorch's gradient of the weights (GammaBetaBackwardCUDAKernelTemplate): a warp across 32 columns, an element a lane, eight rows
// in flight; blockIdx.y has a part of the rows.
__device__ __forceinline__ void weight_gradient(const bf16* x, const bf16* gradient, const float* rstd, float* parts, int rows,
                                                int columns) {
  constexpr int kWarps = 32, kRows = 8;
  __shared__ float partial[kWarps][kWarp];
  const int column = blockIdx.x * kWarp + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int row = (blockIdx.y * kWarps + threadIdx.y) * kRows; row < rows; row += gridDim.y * kWarps * kRows) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int64_t at = static_cast<int64_t>(row + i) * columns + column;
      sum = fmaf(static_cast<float>(x[at]) * rstd[row + i], static_cast<float>(gradient[at]), sum);
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return;
#pragma unroll
  for (int y = 1; y < kWarps; ++y) sum += partial[y][threadIdx.x];
  parts[static_cast<int64_t>(blockIdx.y) * columns + column] = sum;
}

}  // namespace operators

using namespace operators;

extern "C" __global__ void __launch_bounds__(128) rms_norm_backward_input(const bf16* x, const bf16* gradient, const bf16* weight,
                                                                          const float* rstd, bf16* out, int rows, int columns) {
  input_gradient_by_fours(x, gradient, weight, rstd, out, columns);
}
extern "C" __global__ void __launch_bounds__(1024)
    rms_norm_backward_weight(const bf16* x, const bf16* gradient, const float* rstd, float* weight_parts, int rows, int columns) {
  weight_gradient(x, gradient, rstd, weight_parts, rows, columns);
}

#define RMS_NORM_BACKWARD(T, THREADS, VECTORS)                                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                        \
      rms_norm_backward_##T##_##THREADS##x##VECTORS(const T* x, const T* gradient, const T* weight, const float* rstd, T* out, \
                                                    float* weight_parts, int rows, int columns, int ctas) {                    \
    norm_backward<T, THREADS, VECTORS, false>(x, gradient, weight, nullptr, rstd, out, weight_parts, nullptr, rows, columns);  \
  }
#define LAYER_NORM_BACKWARD(T, THREADS, VECTORS)                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256) layer_norm_backward_##T##_##THREADS##x##VECTORS( \
      const T* x, const T* gradient, const T* weight, const float* mean, const float* rstd, T* out, float* weight_parts,      \
      float* bias_parts, int rows, int columns, int ctas) {                                                                   \
    norm_backward<T, THREADS, VECTORS, true>(x, gradient, weight, mean, rstd, out, weight_parts, bias_parts, rows, columns);  \
  }

RMS_NORM_BACKWARD(bf16, 16, 1)
RMS_NORM_BACKWARD(bf16, 32, 4)
RMS_NORM_BACKWARD(bf16, 256, 2)
RMS_NORM_BACKWARD(bf16, 512, 2)
RMS_NORM_BACKWARD(bf16, 512, 4)
RMS_NORM_BACKWARD(fp32, 256, 4)
RMS_NORM_BACKWARD(fp32, 512, 4)
LAYER_NORM_BACKWARD(bf16, 256, 2)
LAYER_NORM_BACKWARD(bf16, 512, 2)
LAYER_NORM_BACKWARD(fp32, 256, 4)
