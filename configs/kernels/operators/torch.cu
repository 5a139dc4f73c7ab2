// PyTorch 2.11's kernels on an H100, by their names, grids, blocks and shared memory (docs/validation/operator_kernels.csv), each
// with the accesses, the order and the arithmetic of ATen's source as far as those names state it. No flag of fast arithmetic, as
// in PyTorch's build.
//
//   maps            vectorized_elementwise_kernel: 128 threads, eight elements a thread by vectors of 16 bytes
//   transpose       elementwise_kernel: the result in order, the argument by divisions; four elements a thread in BF16, two in FP32
//   norm            vectorized_layer_norm_kernel: 128 threads a row, four elements at a time, twice; LayerNorm by Welford's rule
//   softmax         softmax_warp_forward: a warp a row of up to 1,024, elements 32 apart in registers
//                   cunn_SoftMaxForwardReg: 1,024 threads, elements 1,024 apart in registers
//                   cunn_SoftMaxForward: 1,024 threads, vectors, three times
//   sums, maximum   reduce_kernel<512, 1>: a warp or a CTA a row, four elements at a time; reduce_kernel<128, 4>: four columns a
//                   thread, whose last CTA of a column (it adds the parts) is left out
//   dropout         fused_dropout_kernel_vec: so many CTAs of 256 threads as fit by threads, a vector and its mask a turn
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o torch.cubin torch.cu
//   nvdisasm -c -hex torch.cubin | tr -s " " > torch_sm_80.sass
#include "operators.cuh"

namespace operators {

template <typename T>
__device__ __forceinline__ T narrow(float value) {
  if constexpr (sizeof(T) == 2) {
    return __float2bfloat16(value);
  } else {
    return value;
  }
}

constexpr int kFour = 4;
template <typename T>
struct alignas(kFour * sizeof(T)) Four {
  T at[kFour];
};
template <typename T>
__device__ __forceinline__ Four<T> four(const T* from) {
  return *reinterpret_cast<const Four<T>*>(from);
}

// Maps: `kVectors` vectors a thread, all loaded before the first is stored.
constexpr int kMapThreads = 128, kOfThread = 8;
struct Relu {
  __device__ static float of(float x) { return x > 0 ? x : 0; }
};
struct Square {
  __device__ static float of(float x) { return x * x; }
};
struct Silu {
  __device__ static float of(float x) { return x / (1.0F + expf(-x)); }
};
struct Gelu {
  __device__ static float of(float x) { return x * 0.5F * (1.0F + erff(x * 0.70710678F)); }
};
struct Add {
  __device__ static float of(float x, float y) { return x + y; }
};
struct Multiply {
  __device__ static float of(float x, float y) { return x * y; }
};
template <typename T, typename Function, bool kTwo>
__device__ __forceinline__ void map(const T* x, const T* y, T* out, int64_t elements) {
  constexpr int kVectors = kOfThread / kElements<T>;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kMapThreads * kOfThread;
  if (first >= elements) return;
  Vector<T> a[kVectors], b[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int64_t at = first + (v * kMapThreads + threadIdx.x) * kElements<T>;
    a[v] = load(x + at);
    if (kTwo) b[v] = load(y + at);
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    Values<T> of = values(a[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) {
      if constexpr (kTwo) {
        of.at[i] = Function::of(of.at[i], values(b[v]).at[i]);
      } else {
        of.at[i] = Function::of(of.at[i]);
      }
    }
    store(out + first + (v * kMapThreads + threadIdx.x) * kElements<T>, of);
  }
}

// The result's element e is the argument's of row e mod rows, column e / rows: the quotient by multiplication, as IntDivider's.
struct Division {
  unsigned divisor, multiplier, shift;
};
template <typename T, int kOfEach>
__device__ __forceinline__ void transpose(const T* x, T* out, unsigned elements, unsigned columns, Division rows) {
  const unsigned first = blockIdx.x * kMapThreads * kOfEach + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kOfEach; ++i) {
    const unsigned at = first + i * kMapThreads;
    if (at >= elements) return;
    const unsigned column = (__umulhi(at, rows.multiplier) + at) >> rows.shift;
    const unsigned row = at - column * rows.divisor;
    out[at] = x[static_cast<int64_t>(row) * columns + column];
  }
}

// Norms. A row's moments by Welford's rule; RMSNorm has the sum of squares alone.
struct Moments {
  float mean, squares, count;
};
template <bool kLayer>
__device__ __forceinline__ Moments with(float x, Moments of) {
  if (!kLayer) return {0, of.squares + x * x, 0};
  const float delta = x - of.mean, count = of.count + 1;
  const float mean = of.mean + delta * (1.0F / count);
  return {mean, of.squares + delta * (x - mean), count};
}
template <bool kLayer>
__device__ __forceinline__ Moments together(Moments a, Moments b) {
  if (!kLayer) return {0, a.squares + b.squares, 0};
  const float delta = b.mean - a.mean, count = a.count + b.count;
  const float of_all = count > 0 ? __fdividef(1.0F, count) : 0, of_a = a.count * of_all, of_b = b.count * of_all;
  return {of_a * a.mean + of_b * b.mean, a.squares + b.squares + delta * delta * of_a * of_b * count, count};
}
template <typename T, bool kLayer>
__device__ __forceinline__ void norm(const T* x, const T* weight, const T* bias, T* out, float* mean_out, float* rstd, int columns,
                                     float epsilon) {
  constexpr int kWarps = 4, kThreads = kWarps * kWarp;
  __shared__ Moments partial[kWarps / 2];
  const int thread = threadIdx.y * kWarp + threadIdx.x;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  Moments of = {0, 0, 0};
  const int fours = columns / kFour;
  for (int at = thread; at < fours; at += kThreads) {
    const Four<T> a = four(x + begin + at * kFour);
#pragma unroll
    for (int i = 0; i < kFour; ++i) of = with<kLayer>(static_cast<float>(a.at[i]), of);
  }
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    Moments other = {0, __shfl_down_sync(kAllLanes, of.squares, step), 0};
    if (kLayer) other.mean = __shfl_down_sync(kAllLanes, of.mean, step);
    if (kLayer) other.count = __shfl_down_sync(kAllLanes, of.count, step);
    of = together<kLayer>(of, other);
  }
#pragma unroll
  for (int half = kWarps / 2; half > 0; half /= 2) {
    if (threadIdx.x == 0 && threadIdx.y >= half && threadIdx.y < 2 * half) partial[threadIdx.y - half] = of;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y < half) of = together<kLayer>(of, partial[threadIdx.y]);
    __syncthreads();
  }
  if (thread == 0) partial[0] = {of.mean, of.squares / columns, 0};
  __syncthreads();
  const float centre = partial[0].mean;
  const float scale = rsqrtf(partial[0].squares + epsilon);
  for (int at = thread; at < fours; at += kThreads) {
    const Four<T> a = four(x + begin + at * kFour), w = four(weight + at * kFour);
    Four<T> b, result;
    if (kLayer) b = four(bias + at * kFour);
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      const float normal = kLayer ? (static_cast<float>(a.at[i]) - centre) * scale : static_cast<float>(a.at[i]) * scale;
      result.at[i] = narrow<T>(static_cast<float>(w.at[i]) * normal + (kLayer ? static_cast<float>(b.at[i]) : 0));
    }
    *reinterpret_cast<Four<T>*>(out + begin + at * kFour) = result;
  }
  if (thread != 0) return;
  rstd[blockIdx.x] = scale;
  if (kLayer) mean_out[blockIdx.x] = centre;
}

// LayerNorm backward, the input's gradient: 128 threads a row, four elements at a time, twice.
__device__ __forceinline__ void layer_norm_input_gradient(const bf16* x, const bf16* gradient, const bf16* weight,
                                                          const float* mean, const float* rstd, bf16* out, int columns) {
  constexpr int kThreads = 128;
  __shared__ float partial[2][kThreads / kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  const float centre = mean[blockIdx.x], scale = rstd[blockIdx.x];
  float total = 0, along = 0;
  for (int at = threadIdx.x * kFour; at < columns; at += kThreads * kFour) {
    const Four<bf16> a = four(x + begin + at), g = four(gradient + begin + at), w = four(weight + at);
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      const float weighted = static_cast<float>(g.at[i]) * static_cast<float>(w.at[i]);
      total += weighted;
      along += weighted * (static_cast<float>(a.at[i]) - centre) * scale;
    }
  }
  total = over_row<Sum, kThreads>(total, partial[0]);
  along = over_row<Sum, kThreads>(along, partial[1]);
  const float each = 1.0F / columns * scale;
  for (int at = threadIdx.x * kFour; at < columns; at += kThreads * kFour) {
    const Four<bf16> a = four(x + begin + at), g = four(gradient + begin + at), w = four(weight + at);
    Four<bf16> result;
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      const float weighted = columns * static_cast<float>(w.at[i]) * static_cast<float>(g.at[i]);
      result.at[i] = __float2bfloat16((weighted - (static_cast<float>(a.at[i]) - centre) * scale * along - total) * each);
    }
    *reinterpret_cast<Four<bf16>*>(out + begin + at) = result;
  }
}

// LayerNorm backward, gradients of weight and bias (GammaBetaBackwardCUDAKernelTemplate): a warp across 32 columns, an element a
// lane, eight rows in flight, all rows in one CTA.
__device__ __forceinline__ void layer_norm_weight_gradient(const bf16* x, const bf16* gradient, const float* mean,
                                                           const float* rstd, bf16* of_weight, bf16* of_bias, int rows,
                                                           int columns) {
  constexpr int kWarps = 32, kRows = 8;
  __shared__ float partial[2][kWarps][kWarp + 1];
  const int column = blockIdx.x * kWarp + threadIdx.x;
  float weight = 0, bias = 0;
#pragma unroll 1
  for (int row = threadIdx.y * kRows; row < rows; row += kWarps * kRows) {
    const float own_mean = mean[row + threadIdx.x % kRows], own_rstd = rstd[row + threadIdx.x % kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int64_t at = static_cast<int64_t>(row + i) * columns + column;
      const float g = static_cast<float>(gradient[at]);
      const float centred = static_cast<float>(x[at]) - __shfl_sync(kAllLanes, own_mean, i);
      bias += g;
      weight += g * centred * __shfl_sync(kAllLanes, own_rstd, i);
    }
  }
  partial[0][threadIdx.y][threadIdx.x] = weight;
  partial[1][threadIdx.y][threadIdx.x] = bias;
  __syncthreads();
  weight = over_warp<Sum>(partial[0][threadIdx.x][threadIdx.y]);
  bias = over_warp<Sum>(partial[1][threadIdx.x][threadIdx.y]);
  if (threadIdx.x != 0) return;
  of_weight[blockIdx.x * kWarp + threadIdx.y] = __float2bfloat16(weight);
  of_bias[blockIdx.x * kWarp + threadIdx.y] = __float2bfloat16(bias);
}

// Softmax. `kLog`: its logarithm, of which cross-entropy takes an element a row.
template <typename T, bool kLog>
__device__ __forceinline__ void softmax_of_warp(const T* x, T* out, int rows, int columns) {
  constexpr int kEach = 32;
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int64_t begin = static_cast<int64_t>(row) * columns + threadIdx.x;
  float v[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) v[i] = threadIdx.x + i * kWarp < columns ? static_cast<float>(x[begin + i * kWarp]) : -3.4e38F;
  float largest = v[0];
#pragma unroll
  for (int i = 1; i < kEach; ++i) largest = largest > v[i] ? largest : v[i];
  largest = over_warp<Largest>(largest);
  float total = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (kLog) {
      total += expf(v[i] - largest);
    } else {
      v[i] = expf(v[i] - largest);
      total += v[i];
    }
  }
  total = over_warp<Sum>(total);
  if (kLog) total = logf(total);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (threadIdx.x + i * kWarp >= columns) break;
    out[begin + i * kWarp] = narrow<T>(kLog ? v[i] - largest - total : v[i] / total);
  }
}

constexpr int kSoftmaxThreads = 1024;
template <typename T, bool kLog>
__device__ __forceinline__ float of_softmax(float x, float largest, float total) {
  return kLog ? x - largest - total : expf(x - largest) / total;
}
template <typename T, bool kLog>
__device__ __forceinline__ void softmax_in_registers(const T* x, T* out, int columns) {
  constexpr int kEach = 4;
  __shared__ float partial[kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  float v[kEach];
  float largest = Largest::kNeutral;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int at = threadIdx.x + i * kSoftmaxThreads;
    v[i] = at < columns ? static_cast<float>(x[begin + at]) : Largest::kNeutral;
    largest = fmaxf(largest, v[i]);
  }
  largest = over_row<Largest, kSoftmaxThreads>(largest, partial);
  float total = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) total += threadIdx.x + i * kSoftmaxThreads < columns ? expf(v[i] - largest) : 0;
  __syncthreads();
  total = over_row<Sum, kSoftmaxThreads>(total, partial);
  if (kLog) total = logf(total);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int at = threadIdx.x + i * kSoftmaxThreads;
    if (at < columns) out[begin + at] = narrow<T>(of_softmax<T, kLog>(v[i], largest, total));
  }
}
template <typename T, bool kLog>
__device__ __forceinline__ void softmax_in_passes(const T* x, T* out, int columns) {
  constexpr int kStep = kSoftmaxThreads * kElements<T>;
  __shared__ float partial[kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  float largest = Largest::kNeutral;
#pragma unroll 1
  for (int at = threadIdx.x * kElements<T>; at < columns; at += kStep) {
    const Values<T> a = values(load(x + begin + at));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) largest = fmaxf(largest, a.at[i]);
  }
  largest = over_row<Largest, kSoftmaxThreads>(largest, partial);
  float total = 0;
#pragma unroll 1
  for (int at = threadIdx.x * kElements<T>; at < columns; at += kStep) {
    const Values<T> a = values(load(x + begin + at));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) total += expf(a.at[i] - largest);
  }
  __syncthreads();
  total = over_row<Sum, kSoftmaxThreads>(total, partial);
  if (kLog) total = logf(total);
#pragma unroll 1
  for (int at = threadIdx.x * kElements<T>; at < columns; at += kStep) {
    Values<T> a = values(load(x + begin + at));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) a.at[i] = of_softmax<T, kLog>(a.at[i], largest, total);
    store(out + begin + at, a);
  }
}
template <int kEach, int kRows>
__device__ __forceinline__ void softmax_backward_of_warp(const bf16* gradient, const bf16* y, bf16* out, int rows, int columns) {
  const int first = (blockIdx.x * blockDim.y + threadIdx.y) * kRows;
  if (first >= rows) return;
  float g[kRows][kEach], p[kRows][kEach];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    float total = 0;
    const int64_t begin = static_cast<int64_t>(first + r) * columns + threadIdx.x;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      g[r][i] = static_cast<float>(gradient[begin + i * kWarp]);
      p[r][i] = static_cast<float>(y[begin + i * kWarp]);
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) total += g[r][i];
    total = over_warp<Sum>(total);
#pragma unroll
    for (int i = 0; i < kEach; ++i) out[begin + i * kWarp] = __float2bfloat16(g[r][i] - p[r][i] * total);
  }
}

// The row's loss from log-softmax: a thread a row.
template <typename T>
__device__ __forceinline__ void nll_loss(const T* log_probability, const int64_t* target, T* loss, int rows, int columns) {
  const int row = blockIdx.x * 1024 + threadIdx.x;
  if (row >= rows) return;
  loss[row] = narrow<T>(-static_cast<float>(log_probability[static_cast<int64_t>(row) * columns + target[row]]));
}

// Reductions. Four accumulators a thread, of four elements side by side.
struct Added {
  __device__ static float of(float a, float b) { return a + b; }
  static constexpr float kNeutral = 0;
};
struct Greatest {
  __device__ static float of(float a, float b) { return a != a || a > b ? a : b; }
  static constexpr float kNeutral = -3.4e38F;
};
template <typename T, typename Operation, bool kWhole>
__device__ __forceinline__ void reduce_rows(const T* x, T* out, int rows, int columns) {
  constexpr int kWarps = 16;
  __shared__ float partial[kWarps * kWarp];
  const int row = kWhole ? blockIdx.x : blockIdx.x * kWarps + threadIdx.y;
  const int thread = kWhole ? threadIdx.y * kWarp + threadIdx.x : threadIdx.x;
  const int threads = kWhole ? kWarps * kWarp : kWarp;
  if (row >= rows) return;
  const T* const from = x + static_cast<int64_t>(row) * columns;
  float of[kFour];
#pragma unroll
  for (int i = 0; i < kFour; ++i) of[i] = Operation::kNeutral;
  for (int at = thread; at * kFour + kFour - 1 < columns; at += threads) {
    const Four<T> a = four(from + at * kFour);
#pragma unroll
    for (int i = 0; i < kFour; ++i) of[i] = Operation::of(of[i], static_cast<float>(a.at[i]));
  }
  float result = of[0];
#pragma unroll
  for (int i = 1; i < kFour; ++i) result = Operation::of(result, of[i]);
  if (kWhole) {
    partial[thread] = result;
#pragma unroll
    for (int half = kWarps / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.y < half) partial[thread] = result = Operation::of(result, partial[thread + half * kWarp]);
    }
  }
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) result = Operation::of(result, __shfl_down_sync(kAllLanes, result, step));
  if (threadIdx.x == 0 && (!kWhole || threadIdx.y == 0)) out[row] = narrow<T>(result);
}
template <typename T>
__device__ __forceinline__ void reduce_columns(const T* x, float* parts, int rows, int columns) {
  constexpr int kWarps = 4, kAhead = 4;
  __shared__ float4 partial[kWarps * kWarp];
  const int column = (blockIdx.x * kWarp + threadIdx.x) * kFour;
  const int step = gridDim.y * kWarps;
  float of[kAhead][kFour] = {};
  int row = blockIdx.y * kWarps + threadIdx.y;
  for (; row + (kAhead - 1) * step < rows; row += kAhead * step) {
    Four<T> a[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) a[k] = four(x + static_cast<int64_t>(row + k * step) * columns + column);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
#pragma unroll
      for (int i = 0; i < kFour; ++i) of[k][i] += static_cast<float>(a[k].at[i]);
    }
  }
  for (; row < rows; row += step) {
    const Four<T> a = four(x + static_cast<int64_t>(row) * columns + column);
#pragma unroll
    for (int i = 0; i < kFour; ++i) of[0][i] += static_cast<float>(a.at[i]);
  }
  float4 result = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int k = 0; k < kAhead; ++k) {
    result.x += of[k][0];
    result.y += of[k][1];
    result.z += of[k][2];
    result.w += of[k][3];
  }
  partial[threadIdx.y * kWarp + threadIdx.x] = result;
#pragma unroll
  for (int half = kWarps / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y >= half) continue;
    const float4 other = partial[(threadIdx.y + half) * kWarp + threadIdx.x];
    result = make_float4(result.x + other.x, result.y + other.y, result.z + other.z, result.w + other.w);
    partial[threadIdx.y * kWarp + threadIdx.x] = result;
  }
  if (threadIdx.y == 0) *reinterpret_cast<float4*>(parts + static_cast<int64_t>(blockIdx.y) * columns + column) = result;
}

// Ten rounds a word of Philox an element, a byte of mask.
template <typename T>
__device__ __forceinline__ void dropout(const T* x, T* out, uint8_t* mask, unsigned elements, float keep, uint64_t seed) {
  constexpr int kVector = kElements<T>;
  const unsigned own = blockIdx.x * 256 + threadIdx.x;
  const float scale = 1.0F / keep;
  uint64_t draw = 0;
#pragma unroll 1
  for (unsigned at = own * kVector; at < elements; at += gridDim.x * 256 * kVector) {
    float random[kVector];
#pragma unroll
    for (int i = 0; i < kVector; i += 4) {
      const uint4 words = philox<10>(make_uint4(static_cast<unsigned>(draw), static_cast<unsigned>(draw >> 32), own, 0), seed);
      ++draw;
      const unsigned word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
      for (int w = 0; w < 4; ++w) random[i + w] = word[w] * 2.3283064e-10F + 1.1641532e-10F;
    }
    Values<T> a = values(load(x + at));
    struct alignas(kVector) Bytes {
      uint8_t at[kVector];
    } kept;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const bool keeps = random[i] < keep;
      a.at[i] *= (keeps ? 1.0F : 0.0F) * scale;
      kept.at[i] = keeps;
    }
    store(out + at, a);
    *reinterpret_cast<Bytes*>(mask + at) = kept;
    __syncthreads();
  }
}

}  // namespace operators

using namespace operators;

#define KERNEL(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)
#define MAP(NAME, FUNCTION, T)                                                   \
  KERNEL(kMapThreads) torch_##NAME##_##T(const T* x, T* out, int64_t elements) { \
    map<T, FUNCTION, false>(x, nullptr, out, elements);                          \
  }
#define MAP_TWO(NAME, FUNCTION, T)                                                           \
  KERNEL(kMapThreads) torch_##NAME##_##T(const T* x, const T* y, T* out, int64_t elements) { \
    map<T, FUNCTION, true>(x, y, out, elements);                                             \
  }
#define SOFTMAXES(NAME, LOG, T)                                                          \
  KERNEL(128) torch_##NAME##_warp_##T(const T* x, T* out, int rows, int columns) {       \
    softmax_of_warp<T, LOG>(x, out, rows, columns);                                      \
  }                                                                                      \
  KERNEL(1024) torch_##NAME##_registers_##T(const T* x, T* out, int rows, int columns) { \
    softmax_in_registers<T, LOG>(x, out, columns);                                       \
  }                                                                                      \
  KERNEL(1024) torch_##NAME##_passes_##T(const T* x, T* out, int rows, int columns) { softmax_in_passes<T, LOG>(x, out, columns); }
#define OF_TYPE(T)                                                                                                              \
  MAP(relu, Relu, T)                                                                                                            \
  MAP(square, Square, T)                                                                                                        \
  MAP(silu, Silu, T)                                                                                                            \
  MAP(gelu, Gelu, T)                                                                                                            \
  MAP_TWO(add, Add, T)                                                                                                          \
  MAP_TWO(multiply, Multiply, T)                                                                                                \
  SOFTMAXES(softmax, false, T)                                                                                                  \
  SOFTMAXES(log_softmax, true, T)                                                                                               \
  KERNEL(128) torch_rms_norm_##T(const T* x, const T* weight, T* out, float* rstd, int rows, int columns, float epsilon) {      \
    norm<T, false>(x, weight, nullptr, out, nullptr, rstd, columns, epsilon);                                                   \
  }                                                                                                                             \
  KERNEL(128)                                                                                                                   \
  torch_layer_norm_##T(const T* x, const T* weight, const T* bias, T* out, float* mean, float* rstd, int rows, int columns,     \
                       float epsilon) {                                                                                         \
    norm<T, true>(x, weight, bias, out, mean, rstd, columns, epsilon);                                                          \
  }                                                                                                                             \
  KERNEL(1024) torch_nll_loss_##T(const T* x, const int64_t* target, T* loss, int rows, int columns) {                          \
    nll_loss(x, target, loss, rows, columns);                                                                                   \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(512, 4) torch_row_sums_warp_##T(const T* x, T* out, int rows, int columns) {     \
    reduce_rows<T, Added, false>(x, out, rows, columns);                                                                        \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(512, 4) torch_row_sums_cta_##T(const T* x, T* out, int rows, int columns) {      \
    reduce_rows<T, Added, true>(x, out, rows, columns);                                                                         \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(512, 4) torch_row_maximum_warp_##T(const T* x, T* out, int rows, int columns) {  \
    reduce_rows<T, Greatest, false>(x, out, rows, columns);                                                                     \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(512, 4) torch_row_maximum_cta_##T(const T* x, T* out, int rows, int columns) {   \
    reduce_rows<T, Greatest, true>(x, out, rows, columns);                                                                      \
  }                                                                                                                             \
  KERNEL(128) torch_column_sums_##T(const T* x, float* sums, int rows, int columns) { reduce_columns(x, sums, rows, columns); } \
  KERNEL(256) torch_dropout_##T(const T* x, T* out, uint8_t* mask, unsigned elements, float keep, uint64_t seed) {              \
    dropout(x, out, mask, elements, keep, seed);                                                                                \
  }

OF_TYPE(bf16)
OF_TYPE(fp32)
KERNEL(128) torch_transpose_bf16(const bf16* x, bf16* out, unsigned elements, unsigned columns, Division rows) {
  transpose<bf16, 4>(x, out, elements, columns, rows);
}
KERNEL(128) torch_transpose_fp32(const float* x, float* out, unsigned elements, unsigned columns, Division rows) {
  transpose<float, 2>(x, out, elements, columns, rows);
}
KERNEL(128)
torch_layer_norm_backward_input(const bf16* x, const bf16* gradient, const bf16* weight, const float* mean, const float* rstd,
                                bf16* out, int rows, int columns) {
  layer_norm_input_gradient(x, gradient, weight, mean, rstd, out, columns);
}
KERNEL(1024)
torch_layer_norm_backward_weight(const bf16* x, const bf16* gradient, const float* mean, const float* rstd, bf16* of_weight,
                                 bf16* of_bias, int rows, int columns) {
  layer_norm_weight_gradient(x, gradient, mean, rstd, of_weight, of_bias, rows, columns);
}
KERNEL(128) torch_softmax_backward_256(const bf16* gradient, const bf16* y, bf16* out, int rows, int columns) {
  softmax_backward_of_warp<8, 1>(gradient, y, out, rows, columns);
}
KERNEL(128) torch_softmax_backward_1024(const bf16* gradient, const bf16* y, bf16* out, int rows, int columns) {
  softmax_backward_of_warp<32, 1>(gradient, y, out, rows, columns);
}
// Rows by an index, 16 bytes a thread (vectorized_gather_kernel): blockIdx.y has a part of a row.
extern "C" __global__ void torch_index_rows(const uint4* x, const int64_t* index, uint4* out, int rows, int columns) {
  const int at = blockIdx.y * blockDim.x + threadIdx.x;
  const int64_t width = columns / 8;
  if (at < width) out[blockIdx.x * width + at] = x[index[blockIdx.x] * width + at];
}
