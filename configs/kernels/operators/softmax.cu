// Softmax of rows: held in registers (`_256x2`: as in norm.cu), online (a pass for maximum and sum together, a second one for the
// result) and in three passes, as a reader of rows that fit nowhere does it; the backward pass.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o softmax.cubin softmax.cu
//   nvdisasm -c -hex softmax.cubin | tr -s " " > softmax_sm_80.sass
#include "operators.cuh"

namespace operators {

// Held rows are masked by the largest negative number, whose exponential is 0.
template <typename T, int kThreads, int kVectors>
__device__ __forceinline__ void softmax(const T* x, T* out, int rows, int columns) {
  __shared__ float partial[2][kWarp];
  const int row = row_of_thread<kThreads>();
  if (row >= rows) return;
  const int64_t begin = static_cast<int64_t>(row) * columns;
  Held<T, kThreads, kVectors> held;
  held.load_row(x + begin, columns);
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
  const float scale = __fdividef(1.0F, over_row<Sum, kThreads>(total, partial[1]));
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = held.column_of(v);
    if (column >= columns) continue;
    Values<T> a = values(held.vector[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) a.at[i] = __expf(a.at[i] - largest) * scale;
    store(out + begin + column, a);
  }
}

template <typename T, int kThreads>
__device__ __forceinline__ void write_softmax(const T* x, T* out, int columns, MaximumAndSum of) {
  const float scale = __fdividef(1.0F, of.total);
#pragma unroll 2
  for (int column = threadIdx.x * kElements<T>; column < columns; column += kThreads * kElements<T>) {
    Values<T> a = values(load(x + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) a.at[i] = __expf(a.at[i] - of.largest) * scale;
    store(out + column, a);
  }
}

template <typename T, int kThreads>
__device__ __forceinline__ void softmax_online(const T* x, T* out, int columns) {
  __shared__ float partial[2][kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  write_softmax<T, kThreads>(x + begin, out + begin, columns, online<T, kThreads>(x + begin, columns, partial));
}

template <typename T, int kThreads>
__device__ __forceinline__ void softmax_three_pass(const T* x, T* out, int columns) {
  __shared__ float partial[2][kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  MaximumAndSum of;
#pragma unroll 2
  for (int column = threadIdx.x * kElements<T>; column < columns; column += kThreads * kElements<T>) {
    const Values<T> a = values(load(x + begin + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) of.largest = fmaxf(of.largest, a.at[i]);
  }
  of.largest = over_row<Largest, kThreads>(of.largest, partial[0]);
#pragma unroll 2
  for (int column = threadIdx.x * kElements<T>; column < columns; column += kThreads * kElements<T>) {
    const Values<T> a = values(load(x + begin + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) of.total += __expf(a.at[i] - of.largest);
  }
  of.total = over_row<Sum, kThreads>(of.total, partial[1]);
  write_softmax<T, kThreads>(x + begin, out + begin, columns, of);
}

template <typename T, int kThreads, int kVectors>
__device__ __forceinline__ void softmax_backward(const T* y, const T* gradient, T* out, int rows, int columns) {
  __shared__ float partial[kWarp];
  const int row = row_of_thread<kThreads>();
  if (row >= rows) return;
  const int64_t begin = static_cast<int64_t>(row) * columns;
  Held<T, kThreads, kVectors> probability, dy;
  probability.load_row(y + begin, columns);
  dy.load_row(gradient + begin, columns);
  float along = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Values<T> p = values(probability.vector[v]), g = values(dy.vector[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) along = fmaf(p.at[i], g.at[i], along);
  }
  along = over_row<Sum, kThreads>(along, partial);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = dy.column_of(v);
    if (column >= columns) continue;
    const Values<T> p = values(probability.vector[v]);
    Values<T> g = values(dy.vector[v]);
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) g.at[i] = p.at[i] * (g.at[i] - along);
    store(out + begin + column, g);
  }
}

}  // namespace operators

using namespace operators;

#define SOFTMAX(T, THREADS, VECTORS)                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256)           \
      softmax_##T##_##THREADS##x##VECTORS(const T* x, T* out, int rows, int columns) { \
    softmax<T, THREADS, VECTORS>(x, out, rows, columns);                               \
  }
#define SOFTMAX_BACKWARD(T, THREADS, VECTORS)                                                                      \
  extern "C" __global__ void __launch_bounds__(THREADS > 32 ? THREADS : 256)                                       \
      softmax_backward_##T##_##THREADS##x##VECTORS(const T* y, const T* gradient, T* out, int rows, int columns) { \
    softmax_backward<T, THREADS, VECTORS>(y, gradient, out, rows, columns);                                        \
  }
#define IN_PASSES(T, THREADS)                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS)                               \
      softmax_online_##T##_##THREADS(const T* x, T* out, int rows, int columns) {     \
    softmax_online<T, THREADS>(x, out, columns);                                      \
  }                                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS)                               \
      softmax_three_pass_##T##_##THREADS(const T* x, T* out, int rows, int columns) { \
    softmax_three_pass<T, THREADS>(x, out, columns);                                  \
  }

SOFTMAX(bf16, 32, 4)
SOFTMAX(bf16, 256, 2)
SOFTMAX(bf16, 512, 2)
SOFTMAX(bf16, 512, 4)
SOFTMAX(bf16, 1024, 4)
SOFTMAX(fp16, 256, 2)
SOFTMAX(fp32, 256, 4)
SOFTMAX_BACKWARD(bf16, 32, 4)
SOFTMAX_BACKWARD(bf16, 256, 2)
SOFTMAX_BACKWARD(bf16, 512, 4)
SOFTMAX_BACKWARD(fp32, 256, 4)
IN_PASSES(bf16, 1024)
IN_PASSES(fp32, 1024)
