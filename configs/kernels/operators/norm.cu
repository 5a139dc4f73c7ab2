// RMSNorm, LayerNorm, and both with what is usually in front of them: a row is held in registers between its reduction and its
// result. `_256x2`: 256 threads a row, two 16-byte vectors a thread, a CTA a row, as Triton's kernels have it; with 32 threads a
// row it is a warp's, and a CTA has several (block.y).
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o norm.cubin norm.cu
//   nvdisasm -c -hex norm.cubin | tr -s " " > norm_sm_80.sass
#include "operators.cuh"

namespace operators {

template <typename T, int kThreads, int kVectors, bool kResidual>
__device__ __forceinline__ void rms_norm(const T* x, const T* residual, const T* weight, T* out, T* sum, float* rstd, int rows,
                                         int columns, float epsilon) {
  __shared__ float partial[kWarp];
  const int row = row_of_thread<kThreads>();
  if (row >= rows) return;
  const int64_t begin = static_cast<int64_t>(row) * columns;
  Held<T, kThreads, kVectors> held;
  held.load_row(x + begin, columns);
  if (kResidual) {
    Held<T, kThreads, kVectors> added;
    added.load_row(residual + begin, columns);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      Values<T> a = values(held.vector[v]);
      const Values<T> b = values(added.vector[v]);
#pragma unroll
      for (int i = 0; i < kElements<T>; ++i) a.at[i] += b.at[i];
      held.vector[v] = packed(a);
      if (held.column_of(v) < columns) store(sum + begin + held.column_of(v), a);
    }
  }
  float squares = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Values<T> a = values(held.vector[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) squares = fmaf(a.at[i], a.at[i], squares);
  }
  const float scale = rsqrtf(__fdividef(over_row<Sum, kThreads>(squares, partial), columns) + epsilon);
  if (threadIdx.x == 0) rstd[row] = scale;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = held.column_of(v);
    if (column >= columns) continue;
    Values<T> a = values(held.vector[v]);
    const Values<T> w = values(load(weight + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) a.at[i] *= scale * w.at[i];
    store(out + begin + column, a);
  }
}

// A row that is read twice: for its reduction, and, mostly from L1 or L2, for its result.
template <typename T, int kThreads>
__device__ __forceinline__ void rms_norm_two_pass(const T* x, const T* weight, T* out, float* rstd, int columns, float epsilon) {
  __shared__ float partial[kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  float squares = 0;
#pragma unroll 4
  for (int column = threadIdx.x * kElements<T>; column < columns; column += kThreads * kElements<T>) {
    const Values<T> a = values(load(x + begin + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) squares = fmaf(a.at[i], a.at[i], squares);
  }
  const float scale = rsqrtf(__fdividef(over_row<Sum, kThreads>(squares, partial), columns) + epsilon);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
#pragma unroll 2
  for (int column = threadIdx.x * kElements<T>; column < columns; column += kThreads * kElements<T>) {
    Values<T> a = values(load(x + begin + column));
    const Values<T> w = values(load(weight + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) a.at[i] *= scale * w.at[i];
    store(out + begin + column, a);
  }
}

// PyTorch's vectorised LayerNorm (vectorized_layer_norm_kernel): 128 threads a row, four elements at a time, no two of them in
// flight for a thread; the row is read once for its moments and once more for the result.
template <bool kLayerNorm>
__device__ __forceinline__ void norm_by_fours(const bf16* x, const bf16* weight, const bf16* bias, bf16* out, float* mean,
                                              float* rstd, int columns, float epsilon) {
  constexpr int kThreads = 128, kFour = 4;
  __shared__ float partial[2][kThreads / kWarp];
  const auto four = [](const bf16* from) {
    const uint2 bits = *reinterpret_cast<const uint2*>(from);
    return make_float4(__uint_as_float(bits.x << 16), __uint_as_float(bits.x & 0xffff0000), __uint_as_float(bits.y << 16),
                       __uint_as_float(bits.y & 0xffff0000));
  };
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  float total = 0, squares = 0;
#pragma unroll 1
  for (int column = threadIdx.x * kFour; column < columns; column += kThreads * kFour) {
    const float4 a = four(x + begin + column);
    if (kLayerNorm) total += a.x + a.y + a.z + a.w;
    squares = fmaf(a.x, a.x, fmaf(a.y, a.y, fmaf(a.z, a.z, fmaf(a.w, a.w, squares))));
  }
  const float inverse = __fdividef(1.0F, columns);
  const float centre = kLayerNorm ? over_row<Sum, kThreads>(total, partial[0]) * inverse : 0;
  const float scale = rsqrtf(over_row<Sum, kThreads>(squares, partial[1]) * inverse - centre * centre + epsilon);
  if (threadIdx.x == 0) {
    rstd[blockIdx.x] = scale;
    if (kLayerNorm) mean[blockIdx.x] = centre;
  }
#pragma unroll 1
  for (int column = threadIdx.x * kFour; column < columns; column += kThreads * kFour) {
    const float4 a = four(x + begin + column);
    const float4 w = four(weight + column);
    float4 b = make_float4(0, 0, 0, 0);
    if (kLayerNorm) b = four(bias + column);
    const __nv_bfloat162 low =
        __floats2bfloat162_rn(fmaf((a.x - centre) * scale, w.x, b.x), fmaf((a.y - centre) * scale, w.y, b.y));
    const __nv_bfloat162 high =
        __floats2bfloat162_rn(fmaf((a.z - centre) * scale, w.z, b.z), fmaf((a.w - centre) * scale, w.w, b.w));
    *reinterpret_cast<uint2*>(out + begin + column) =
        make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high));
  }
}

// What is added to x before LayerNorm: nothing, or a residual and a bias behind dropout.
enum class Before { kNothing, kBiasDropoutResidual };
// What becomes of the normalised row: weight and bias of a layer, or AdaLN's scale and shift of the row's image.
enum class After { kAffine, kModulate };

struct LayerNormInputs {
  uint64_t seed;
  unsigned threshold;
  float keep_scale;
  float epsilon;
  int rows, columns;  // AdaLN: rows of an image, blockIdx.y
};

template <typename T, int kThreads, int kVectors, Before kBefore, After kAfter>
__device__ __forceinline__ void layer_norm(const T* x, const T* residual, const T* input_bias, const T* weight, const T* bias,
                                           T* out, T* sum, float* mean_out, float* rstd, LayerNormInputs in) {
  __shared__ float partial[2][kWarp];
  const int row = row_of_thread<kThreads>();
  if (row >= in.rows) return;
  const int image = kAfter == After::kModulate ? blockIdx.y : 0;
  const int64_t begin = (static_cast<int64_t>(image) * in.rows + row) * in.columns;
  Held<T, kThreads, kVectors> held;
  held.load_row(x + begin, in.columns);
  if (kBefore == Before::kBiasDropoutResidual) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = held.column_of(v);
      if (column >= in.columns) continue;
      Values<T> a = values(held.vector[v]);
      const Values<T> b = values(load(input_bias + column));
      const Values<T> r = values(load(residual + begin + column));
      const unsigned keep = keep_bits<T>((begin + column) / kElements<T>, in.seed, in.threshold);
#pragma unroll
      for (int i = 0; i < kElements<T>; ++i) a.at[i] = r.at[i] + ((keep >> i & 1) != 0 ? (a.at[i] + b.at[i]) * in.keep_scale : 0);
      held.vector[v] = packed(a);
      store(sum + begin + column, a);
    }
  }
  float total = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Values<T> a = values(held.vector[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) total += a.at[i];
  }
  const float mean = __fdividef(over_row<Sum, kThreads>(total, partial[0]), in.columns);
  float squares = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Values<T> a = values(held.vector[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) {
      const float centred = held.column_of(v) < in.columns ? a.at[i] - mean : 0;
      squares = fmaf(centred, centred, squares);
    }
  }
  const float scale = rsqrtf(__fdividef(over_row<Sum, kThreads>(squares, partial[1]), in.columns) + in.epsilon);
  if (threadIdx.x == 0 && kAfter == After::kAffine) {
    mean_out[row] = mean;
    rstd[row] = scale;
  }
  weight += static_cast<int64_t>(image) * in.columns;
  bias += static_cast<int64_t>(image) * in.columns;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = held.column_of(v);
    if (column >= in.columns) continue;
    Values<T> a = values(held.vector[v]);
    const Values<T> w = values(load(weight + column));
    const Values<T> b = values(load(bias + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) {
      const float normal = (a.at[i] - mean) * scale;
      a.at[i] = fmaf(normal, kAfter == After::kModulate ? 1 + w.at[i] : w.at[i], b.at[i]);
    }
    store(out + begin + column, a);
  }
}

}  // namespace operators

using namespace operators;

#define RMS_NORM(T, THREADS, VECTORS)                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256) rms_norm_##T##_##THREADS##x##VECTORS( \
      const T* x, const T* weight, T* out, float* rstd, int rows, int columns, float epsilon) {                    \
    rms_norm<T, THREADS, VECTORS, false>(x, nullptr, weight, out, nullptr, rstd, rows, columns, epsilon);          \
  }
#define RMS_NORM_TWO_PASS(T, THREADS)                                                                                             \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                           \
      rms_norm_two_pass_##T##_##THREADS(const T* x, const T* weight, T* out, float* rstd, int rows, int columns, float epsilon) { \
    rms_norm_two_pass<T, THREADS>(x, weight, out, rstd, columns, epsilon);                                                        \
  }
#define RESIDUAL_RMS_NORM(T, THREADS, VECTORS)                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256) residual_rms_norm_##T##_##THREADS##x##VECTORS( \
      const T* x, const T* residual, const T* weight, T* out, T* sum, float* rstd, int rows, int columns, float epsilon) {  \
    rms_norm<T, THREADS, VECTORS, true>(x, residual, weight, out, sum, rstd, rows, columns, epsilon);                       \
  }
extern "C" __global__ void __launch_bounds__(128)
    rms_norm_vectors_of_4(const bf16* x, const bf16* weight, bf16* out, float* rstd, int rows, int columns, float epsilon) {
  norm_by_fours<false>(x, weight, nullptr, out, nullptr, rstd, columns, epsilon);
}
extern "C" __global__ void __launch_bounds__(128)
    layer_norm_vectors_of_4(const bf16* x, const bf16* weight, const bf16* bias, bf16* out, float* mean, float* rstd, int rows,
                            int columns, float epsilon) {
  norm_by_fours<true>(x, weight, bias, out, mean, rstd, columns, epsilon);
}
#define LAYER_NORM(T, THREADS, VECTORS)                                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256) layer_norm_##T##_##THREADS##x##VECTORS(               \
      const T* x, const T* weight, const T* bias, T* out, float* mean, float* rstd, int rows, int columns, float epsilon) {        \
    layer_norm<T, THREADS, VECTORS, Before::kNothing, After::kAffine>(x, nullptr, nullptr, weight, bias, out, nullptr, mean, rstd, \
                                                                      {0, 0, 0, epsilon, rows, columns});                          \
  }
#define BIAS_DROPOUT_RESIDUAL_LAYER_NORM(T, THREADS, VECTORS)                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256)                                                 \
      bias_dropout_residual_layer_norm_##T##_##THREADS##x##VECTORS(                                                          \
          const T* x, const T* residual, const T* input_bias, const T* weight, const T* bias, T* out, T* sum, float* mean,   \
          float* rstd, int rows, int columns, float epsilon, unsigned threshold, float keep_scale, uint64_t seed) {          \
    layer_norm<T, THREADS, VECTORS, Before::kBiasDropoutResidual, After::kAffine>(                                           \
        x, residual, input_bias, weight, bias, out, sum, mean, rstd, {seed, threshold, keep_scale, epsilon, rows, columns}); \
  }
#define MODULATE(T, THREADS, VECTORS)                                                                                             \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256) modulate_##T##_##THREADS##x##VECTORS(                \
      const T* x, const T* scale, const T* shift, T* out, int rows, int columns, float epsilon) {                                 \
    layer_norm<T, THREADS, VECTORS, Before::kNothing, After::kModulate>(x, nullptr, nullptr, scale, shift, out, nullptr, nullptr, \
                                                                        nullptr, {0, 0, 0, epsilon, rows, columns});              \
  }

RMS_NORM(bf16, 16, 1)
RMS_NORM(bf16, 32, 1)
RMS_NORM(bf16, 32, 4)
RMS_NORM(bf16, 128, 1)
RMS_NORM(bf16, 256, 2)
RMS_NORM(bf16, 512, 2)
RMS_NORM(bf16, 512, 4)
RMS_NORM(bf16, 1024, 4)
RMS_NORM(fp16, 256, 2)
RMS_NORM(fp32, 256, 4)
RMS_NORM(fp32, 512, 4)
RMS_NORM_TWO_PASS(bf16, 512)
RMS_NORM_TWO_PASS(fp32, 512)
RESIDUAL_RMS_NORM(bf16, 256, 2)
RESIDUAL_RMS_NORM(bf16, 512, 2)
RESIDUAL_RMS_NORM(bf16, 512, 4)
RESIDUAL_RMS_NORM(fp32, 256, 4)
RESIDUAL_RMS_NORM(fp32, 512, 4)
RESIDUAL_RMS_NORM(fp32, 1024, 4)
LAYER_NORM(bf16, 32, 4)
LAYER_NORM(bf16, 256, 2)
LAYER_NORM(bf16, 512, 2)
LAYER_NORM(bf16, 512, 4)
LAYER_NORM(fp32, 256, 4)
LAYER_NORM(fp32, 512, 4)
LAYER_NORM(fp32, 1024, 4)
BIAS_DROPOUT_RESIDUAL_LAYER_NORM(bf16, 256, 2)
BIAS_DROPOUT_RESIDUAL_LAYER_NORM(bf16, 512, 4)
MODULATE(bf16, 256, 2)
MODULATE(bf16, 512, 4)
