// Fused passes of training around LayerNorm, which store what the backward pass reads: bias, dropout with its mask, residual and
// LayerNorm; LayerNorm's backward pass with the gradient of the residual connection, and of the dropout in front of it; gradients
// of its weights; and the backward passes of dropout and GELU with the gradient of the bias in front of them.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o training_norm.cubin training_norm.cu
//   nvdisasm -c -hex training_norm.cubin | tr -s " " > training_norm_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kThreads = 256;
constexpr int kVector = kElements<bf16>;

struct Dropout {
  uint64_t seed;
  unsigned threshold;
  float keep_scale;
};

// A CTA has a row; its vectors stay in registers.
template <int kVectors>
__device__ __forceinline__ void layer_norm(const bf16* x, const bf16* residual, const bf16* input_bias, const bf16* weight,
                                           const bf16* bias, bf16* out, bf16* sum, uint8_t* bits, float* mean, float* rstd,
                                           int columns, float epsilon, Dropout dropout) {
  __shared__ float partial[2][kThreads / kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  Values<bf16> held[kVectors];
  float total = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kThreads + threadIdx.x) * kVector;
    held[v] = {};
    if (column >= columns) continue;
    Values<bf16> a = values(load(x + begin + column));
    const Values<bf16> b = values(load(input_bias + column)), r = values(load(residual + begin + column));
    const unsigned keep = keep_bits<bf16>((begin + column) / kVector, dropout.seed, dropout.threshold);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      a.at[i] = r.at[i] + ((keep >> i & 1) != 0 ? (a.at[i] + b.at[i]) * dropout.keep_scale : 0);
      total += a.at[i];
    }
    bits[(begin + column) / kVector] = keep;
    store(sum + begin + column, a);
    held[v] = a;
  }
  const float per_column = __fdividef(1.0F, columns);
  const float centre = over_row<Sum, kThreads>(total, partial[0]) * per_column;
  float squares = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if ((v * kThreads + threadIdx.x) * kVector >= columns) continue;
#pragma unroll
    for (int i = 0; i < kVector; ++i) squares = fmaf(held[v].at[i] - centre, held[v].at[i] - centre, squares);
  }
  const float scale = rsqrtf(over_row<Sum, kThreads>(squares, partial[1]) * per_column + epsilon);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = centre;
    rstd[blockIdx.x] = scale;
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kThreads + threadIdx.x) * kVector;
    if (column >= columns) continue;
    const Values<bf16> w = values(load(weight + column)), b = values(load(bias + column));
    Values<bf16> a = held[v];
#pragma unroll
    for (int i = 0; i < kVector; ++i) a.at[i] = fmaf((a.at[i] - centre) * scale, w.at[i], b.at[i]);
    store(out + begin + column, a);
  }
}

template <int kVectors, bool kDropout>
__device__ __forceinline__ void layer_norm_backward(const bf16* x, const bf16* gradient, const bf16* weight, const float* mean,
                                                    const float* rstd, const bf16* skipped, const uint8_t* bits, bf16* out,
                                                    bf16* dropped, int columns, float keep_scale) {
  __shared__ float partial[2][kThreads / kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  const float centre = mean[blockIdx.x], scale = rstd[blockIdx.x];
  Vector<bf16> inputs[kVectors], gradients[kVectors], around[kVectors];
  float along = 0, total = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kThreads + threadIdx.x) * kVector;
    inputs[v] = gradients[v] = around[v] = {};
    if (column >= columns) continue;
    inputs[v] = load(x + begin + column);
    gradients[v] = load(gradient + begin + column);
    around[v] = load(skipped + begin + column);
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kThreads + threadIdx.x) * kVector;
    if (column >= columns) continue;
    const Values<bf16> a = values(inputs[v]), g = values(gradients[v]), w = values(load(weight + column));
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const float weighted = g.at[i] * w.at[i];
      along = fmaf(weighted, (a.at[i] - centre) * scale, along);
      total += weighted;
    }
  }
  const float per_column = __fdividef(1.0F, columns);
  along = over_row<Sum, kThreads>(along, partial[0]) * per_column;
  total = over_row<Sum, kThreads>(total, partial[1]) * per_column;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kThreads + threadIdx.x) * kVector;
    if (column >= columns) continue;
    Values<bf16> a = values(inputs[v]);
    const Values<bf16> g = values(gradients[v]), w = values(load(weight + column)), r = values(around[v]);
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      a.at[i] = fmaf(g.at[i] * w.at[i] - (a.at[i] - centre) * scale * along - total, scale, r.at[i]);
    store(out + begin + column, a);
    if (!kDropout) continue;
    const unsigned keep = bits[(begin + column) / kVector];
#pragma unroll
    for (int i = 0; i < kVector; ++i) a.at[i] = (keep >> i & 1) != 0 ? a.at[i] * keep_scale : 0;
    store(dropped + begin + column, a);
  }
}

// A CTA has 256 columns, a warp's lane eight of them, and goes down a part of the rows, a row a warp.
struct ColumnSums {
  float of[kVector] = {};

  __device__ __forceinline__ void store_part(float* parts, int column, int columns) {
    __shared__ float partial[kThreads / kWarp][kWarp * kVector];
#pragma unroll
    for (int i = 0; i < kVector; ++i) partial[threadIdx.y][threadIdx.x * kVector + i] = of[i];
    __syncthreads();
    const int own = threadIdx.y * kWarp + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int y = 0; y < kThreads / kWarp; ++y) sum += partial[y][own];
    const int at = blockIdx.x * kWarp * kVector + own;
    if (at < columns) parts[static_cast<int64_t>(blockIdx.y) * columns + at] = sum;
  }
};

__device__ __forceinline__ int lane_column() { return (blockIdx.x * kWarp + threadIdx.x) * kVector; }
__device__ __forceinline__ int first_row() { return blockIdx.y * (kThreads / kWarp) + threadIdx.y; }
__device__ __forceinline__ int row_step() { return gridDim.y * (kThreads / kWarp); }

__device__ __forceinline__ void dropout_backward_bias(const bf16* gradient, const uint8_t* bits, bf16* out, float* parts, int rows,
                                                      int columns, float keep_scale) {
  const int column = lane_column();
  ColumnSums sums;
  if (column < columns) {
#pragma unroll 2
    for (int row = first_row(); row < rows; row += row_step()) {
      const int64_t at = static_cast<int64_t>(row) * columns + column;
      Values<bf16> a = values(load(gradient + at));
      const unsigned keep = bits[at / kVector];
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        a.at[i] = (keep >> i & 1) != 0 ? a.at[i] * keep_scale : 0;
        sums.of[i] += a.at[i];
      }
      store(out + at, a);
    }
  }
  sums.store_part(parts, column, columns);
}

__device__ __forceinline__ void gelu_backward_bias(const bf16* gradient, const bf16* x, bf16* out, float* parts, int rows,
                                                   int columns) {
  const int column = lane_column();
  ColumnSums sums;
  if (column < columns) {
#pragma unroll 2
    for (int row = first_row(); row < rows; row += row_step()) {
      const int64_t at = static_cast<int64_t>(row) * columns + column;
      Values<bf16> a = values(load(x + at));
      const Values<bf16> g = values(load(gradient + at));
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        const float in = a.at[i];
        float t;
        asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(0.7978845608F * (in + 0.044715F * in * in * in)));
        a.at[i] = g.at[i] * (0.5F * (1 + t) + 0.5F * in * (1 - t * t) * 0.7978845608F * (1 + 3 * 0.044715F * in * in));
        sums.of[i] += a.at[i];
      }
      store(out + at, a);
    }
  }
  sums.store_part(parts, column, columns);
}

__device__ __forceinline__ void layer_norm_backward_weight(const bf16* x, const bf16* gradient, const float* mean,
                                                           const float* rstd, float* weight_parts, float* bias_parts, int rows,
                                                           int columns) {
  const int column = lane_column();
  ColumnSums of_weight, of_bias;
  if (column < columns) {
#pragma unroll 2
    for (int row = first_row(); row < rows; row += row_step()) {
      const int64_t at = static_cast<int64_t>(row) * columns + column;
      const Values<bf16> a = values(load(x + at)), g = values(load(gradient + at));
      const float centre = mean[row], scale = rstd[row];
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        of_weight.of[i] = fmaf(g.at[i], (a.at[i] - centre) * scale, of_weight.of[i]);
        of_bias.of[i] += g.at[i];
      }
    }
  }
  of_weight.store_part(weight_parts, column, columns);
  __syncthreads();
  of_bias.store_part(bias_parts, column, columns);
}

}  // namespace operators

using namespace operators;

#define KERNEL extern "C" __global__ void __launch_bounds__(kThreads)
#define LAYER_NORM(VECTORS)                                                                                                    \
  KERNEL bias_dropout_residual_layer_norm_stored_bf16_256x##VECTORS(                                                           \
      const bf16* x, const bf16* residual, const bf16* input_bias, const bf16* weight, const bf16* bias, bf16* out, bf16* sum, \
      uint8_t* bits, float* mean, float* rstd, int rows, int columns, float epsilon, unsigned threshold, float keep_scale,     \
      uint64_t seed) {                                                                                                         \
    layer_norm<VECTORS>(x, residual, input_bias, weight, bias, out, sum, bits, mean, rstd, columns, epsilon,                   \
                        {seed, threshold, keep_scale});                                                                        \
  }                                                                                                                            \
  KERNEL layer_norm_backward_residual_bf16_256x##VECTORS(const bf16* x, const bf16* gradient, const bf16* weight,              \
                                                         const float* mean, const float* rstd, const bf16* skipped, bf16* out, \
                                                         int rows, int columns) {                                              \
    layer_norm_backward<VECTORS, false>(x, gradient, weight, mean, rstd, skipped, nullptr, out, nullptr, columns, 1);          \
  }                                                                                                                            \
  KERNEL layer_norm_backward_residual_dropout_bf16_256x##VECTORS(                                                              \
      const bf16* x, const bf16* gradient, const bf16* weight, const float* mean, const float* rstd, const bf16* skipped,      \
      const uint8_t* bits, bf16* out, bf16* dropped, int rows, int columns, float keep_scale) {                                \
    layer_norm_backward<VECTORS, true>(x, gradient, weight, mean, rstd, skipped, bits, out, dropped, columns, keep_scale);     \
  }
LAYER_NORM(1)
LAYER_NORM(2)
LAYER_NORM(4)
LAYER_NORM(8)

KERNEL dropout_backward_bias_bf16(const bf16* gradient, const uint8_t* bits, bf16* out, float* parts, int rows, int columns,
                                  float keep_scale) {
  dropout_backward_bias(gradient, bits, out, parts, rows, columns, keep_scale);
}
KERNEL gelu_backward_bias_bf16(const bf16* gradient, const bf16* x, bf16* out, float* parts, int rows, int columns) {
  gelu_backward_bias(gradient, x, out, parts, rows, columns);
}
KERNEL layer_norm_backward_weight_bf16(const bf16* x, const bf16* gradient, const float* mean, const float* rstd,
                                       float* weight_parts, float* bias_parts, int rows, int columns) {
  layer_norm_backward_weight(x, gradient, mean, rstd, weight_parts, bias_parts, rows, columns);
}
