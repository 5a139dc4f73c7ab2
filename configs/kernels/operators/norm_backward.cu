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
#pragma unroll 1
  for (int row = row_of_thread<kThreads>(); row < rows; row += workers, turn ^= 1) {
    const int64_t begin = static_cast<int64_t>(row) * columns;
    Held<T, kThreads, kVectors> input, dy;
    input.load_row(x + begin, columns);
    dy.load_row(gradient + begin, columns);
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

}  // namespace operators

using namespace operators;

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
