// Cross-entropy of rows of logits: the loss alone, loss and gradient in place, and the gradient from stored sums.
// `_256x2` as in norm.cu; a single number is the threads of a row's CTA.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o cross_entropy.cubin cross_entropy.cu
//   nvdisasm -c -hex cross_entropy.cubin | tr -s " " > cross_entropy_sm_80.sass
#include "operators.cuh"

namespace operators {

// The loss of each row's target, and log of its sum of exponentials. The logits are held in registers, as Quack's kernel has them.
template <typename T, int kThreads, int kVectors>
__device__ __forceinline__ void cross_entropy(const T* x, const int64_t* target, float* loss, float* lse, int rows, int columns) {
  __shared__ float partial[2][kWarp];
  const int row = row_of_thread<kThreads>();
  if (row >= rows) return;
  const T* const logits = x + static_cast<int64_t>(row) * columns;
  // The target's logit is fetched in the shadow of the row.
  float chosen = 0;
  if (threadIdx.x == 0) chosen = static_cast<float>(logits[target[row]]);
  Held<T, kThreads, kVectors> held;
  held.load_row(logits, columns);
  float largest = Largest::kNeutral;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Values<T> a = values(held.vector[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) largest = held.column_of(v) < columns ? fmaxf(largest, a.at[i]) : largest;
  }
  largest = over_row<Largest, kThreads>(largest, partial[0]);
  float total = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Values<T> a = values(held.vector[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) total += held.column_of(v) < columns ? __expf(a.at[i] - largest) : 0;
  }
  total = over_row<Sum, kThreads>(total, partial[1]);
  if (threadIdx.x != 0) return;
  const float log_sum = largest + __logf(total);
  lse[row] = log_sum;
  loss[row] = log_sum - chosen;
}

// The same in one pass over longer rows, online.
template <typename T, int kThreads>
__device__ __forceinline__ void cross_entropy_online(const T* x, const int64_t* target, float* loss, float* lse, int columns) {
  __shared__ float partial[2][kWarp];
  const T* const row = x + static_cast<int64_t>(blockIdx.x) * columns;
  float chosen = 0;
  if (threadIdx.x == 0) chosen = static_cast<float>(row[target[blockIdx.x]]);
  const MaximumAndSum of = online<T, kThreads>(row, columns, partial);
  if (threadIdx.x != 0) return;
  const float log_sum = of.largest + __logf(of.total);
  lse[blockIdx.x] = log_sum;
  loss[blockIdx.x] = log_sum - chosen;
}

// Loss and gradient at once, in place of the logits, as Liger's: a pass for maximum and sum, a second one that writes.
template <typename T, int kThreads>
__device__ __forceinline__ void cross_entropy_in_place(T* x, const int64_t* target, float* loss, int columns, float per_row) {
  __shared__ float partial[2][kWarp];
  T* const row = x + static_cast<int64_t>(blockIdx.x) * columns;
  const int64_t own = target[blockIdx.x];
  const float chosen = static_cast<float>(row[own]);
  const MaximumAndSum of = online<T, kThreads>(row, columns, partial);
  const float scale = __fdividef(per_row, of.total);
#pragma unroll 2
  for (int column = threadIdx.x * kElements<T>; column < columns; column += kThreads * kElements<T>) {
    Values<T> a = values(load(row + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) a.at[i] = fmaf(__expf(a.at[i] - of.largest), scale, column + i == own ? -per_row : 0);
    store(row + column, a);
  }
  if (threadIdx.x == 0) loss[blockIdx.x] = of.largest + __logf(of.total) - chosen;
}

// From the stored log of sums: one pass.
template <typename T, int kThreads, int kVectors>
__device__ __forceinline__ void cross_entropy_backward(const T* x, const int64_t* target, const float* lse, const float* gradient,
                                                       T* out, int columns) {
  const int column = (blockIdx.y * kThreads + threadIdx.x) * kElements<T> * kVectors;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  const float log_sum = lse[blockIdx.x];
  const float scale = gradient[blockIdx.x];
  const int64_t own = target[blockIdx.x];
  if (column >= columns) return;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    Values<T> a = values(load(x + begin + column + v * kElements<T>));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i)
      a.at[i] = (__expf(a.at[i] - log_sum) - (column + v * kElements<T> + i == own ? 1 : 0)) * scale;
    store(out + begin + column + v * kElements<T>, a);
  }
}

}  // namespace operators

using namespace operators;

#define CROSS_ENTROPY(T, THREADS, VECTORS)                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256) cross_entropy_##T##_##THREADS##x##VECTORS( \
      const T* x, const int64_t* target, float* loss, float* lse, int rows, int columns) {                              \
    cross_entropy<T, THREADS, VECTORS>(x, target, loss, lse, rows, columns);                                            \
  }
#define CROSS_ENTROPY_ONLINE(T, THREADS)                                                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                         \
      cross_entropy_online_##T##_##THREADS(const T* x, const int64_t* target, float* loss, float* lse, int rows, int columns) { \
    cross_entropy_online<T, THREADS>(x, target, loss, lse, columns);                                                            \
  }
#define CROSS_ENTROPY_IN_PLACE(T, THREADS)                                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                        \
      cross_entropy_in_place_##T##_##THREADS(T* x, const int64_t* target, float* loss, int rows, int columns, float per_row) { \
    cross_entropy_in_place<T, THREADS>(x, target, loss, columns, per_row);                                                     \
  }
#define CROSS_ENTROPY_BACKWARD(T, THREADS, VECTORS)                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) cross_entropy_backward_##T##_##THREADS##x##VECTORS(        \
      const T* x, const int64_t* target, const float* lse, const float* gradient, T* out, int rows, int columns) { \
    cross_entropy_backward<T, THREADS, VECTORS>(x, target, lse, gradient, out, columns);                           \
  }

CROSS_ENTROPY(bf16, 32, 1)
CROSS_ENTROPY(bf16, 32, 4)
CROSS_ENTROPY(bf16, 128, 2)
CROSS_ENTROPY(bf16, 128, 4)
CROSS_ENTROPY(bf16, 128, 8)
CROSS_ENTROPY(bf16, 256, 8)
CROSS_ENTROPY(fp32, 256, 4)
CROSS_ENTROPY_ONLINE(bf16, 1024)
CROSS_ENTROPY_ONLINE(fp32, 1024)
CROSS_ENTROPY_IN_PLACE(bf16, 1024)
CROSS_ENTROPY_IN_PLACE(fp32, 1024)
CROSS_ENTROPY_BACKWARD(bf16, 256, 1)
CROSS_ENTROPY_BACKWARD(fp32, 256, 1)
