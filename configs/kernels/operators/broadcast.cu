// Passes over a matrix beside something smaller: a bias of a row's length, AdaLN's gate of an image, rotary angles of a position.
// Grid: x counts rows (RoPE: positions), y parts of a row, z images. `columns` is a multiple of a vector.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o broadcast.cubin broadcast.cu
//   nvdisasm -c -hex broadcast.cubin | tr -s " " > broadcast_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kThreads = 128;

__device__ __forceinline__ float gelu(float x) {
  float t;
  asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(0.7978845608F * (x + 0.044715F * x * x * x)));
  return 0.5F * x * (1 + t);
}

template <typename T>
__device__ __forceinline__ int own_column() {
  return (blockIdx.y * kThreads + threadIdx.x) * kElements<T>;
}

template <typename T, typename Function>
__device__ __forceinline__ void with_bias(const T* x, const T* bias, T* out, int columns, Function function) {
  const int column = own_column<T>();
  if (column >= columns) return;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * columns + column;
  Values<T> a = values(load(x + at));
  const Values<T> b = values(load(bias + column));
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) a.at[i] = function(a.at[i] + b.at[i]);
  store(out + at, a);
}

template <typename T, bool kResidual, typename Function>
__device__ __forceinline__ void bias_dropout(const T* x, const T* bias, const T* residual, T* out, uint8_t* bits, int columns,
                                             unsigned threshold, float keep_scale, uint64_t seed, Function function) {
  const int column = own_column<T>();
  if (column >= columns) return;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * columns + column;
  Values<T> a = values(load(x + at));
  const Values<T> b = values(load(bias + column));
  Values<T> r = {};
  if (kResidual) r = values(load(residual + at));
  const unsigned keep = keep_bits<T>(at / kElements<T>, seed, threshold);
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) a.at[i] = r.at[i] + ((keep >> i & 1) != 0 ? function(a.at[i] + b.at[i]) * keep_scale : 0);
  store(out + at, a);
  bits[at / kElements<T>] = keep;
}

// residual + gate x: the gate is an image's.
template <typename T>
__device__ __forceinline__ void gate(const T* x, const T* gates, const T* residual, T* out, int rows, int columns) {
  const int column = own_column<T>();
  if (column >= columns) return;
  const int64_t at = (static_cast<int64_t>(blockIdx.z) * rows + blockIdx.x) * columns + column;
  Values<T> a = values(load(x + at));
  const Values<T> g = values(load(gates + static_cast<int64_t>(blockIdx.z) * columns + column));
  const Values<T> r = values(load(residual + at));
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) a.at[i] = fmaf(a.at[i], g.at[i], r.at[i]);
  store(out + at, a);
}

// Heads of 128 elements, whose halves turn together. A warp turns four heads
// at a time: eight threads a head, each with a vector of both halves. kSign -1: the backward pass.
template <typename T, int kSign>
__device__ __forceinline__ void rope(const T* x, const T* cosines, const T* sines, T* out, int positions, int columns) {
  constexpr int kHead = 128, kHalf = kHead / 2, kAHead = kHalf / kElements<T>;
  const int64_t begin = (static_cast<int64_t>(blockIdx.z) * positions + blockIdx.x) * columns;
  const int within = threadIdx.x % kAHead * kElements<T>;
  const Values<T> c = values(load(cosines + static_cast<int64_t>(blockIdx.x) * kHalf + within));
  const Values<T> s = values(load(sines + static_cast<int64_t>(blockIdx.x) * kHalf + within));
#pragma unroll 1
  for (int column = threadIdx.x / kAHead * kHead; column < columns; column += kThreads / kAHead * kHead) {
    const int64_t at = begin + column + within;
    Values<T> low = values(load(x + at));
    Values<T> high = values(load(x + at + kHalf));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) {
      const float turned = low.at[i] * c.at[i] - kSign * high.at[i] * s.at[i];
      high.at[i] = high.at[i] * c.at[i] + kSign * low.at[i] * s.at[i];
      low.at[i] = turned;
    }
    store(out + at, low);
    store(out + at + kHalf, high);
  }
}

}  // namespace operators

using namespace operators;

#define KERNEL extern "C" __global__ void __launch_bounds__(kThreads)

KERNEL bias_bf16(const bf16* x, const bf16* bias, bf16* out, int rows, int columns) {
  with_bias(x, bias, out, columns, [](float a) { return a; });
}
KERNEL bias_fp32(const fp32* x, const fp32* bias, fp32* out, int rows, int columns) {
  with_bias(x, bias, out, columns, [](float a) { return a; });
}
KERNEL bias_gelu_bf16(const bf16* x, const bf16* bias, bf16* out, int rows, int columns) {
  with_bias(x, bias, out, columns, [](float a) { return gelu(a); });
}
KERNEL bias_gelu_dropout_bf16(const bf16* x, const bf16* bias, bf16* out, uint8_t* bits, int rows, int columns, unsigned threshold,
                              float keep_scale, uint64_t seed) {
  bias_dropout<bf16, false>(x, bias, nullptr, out, bits, columns, threshold, keep_scale, seed, [](float a) { return gelu(a); });
}
KERNEL bias_relu_dropout_bf16(const bf16* x, const bf16* bias, bf16* out, uint8_t* bits, int rows, int columns, unsigned threshold,
                              float keep_scale, uint64_t seed) {
  bias_dropout<bf16, false>(x, bias, nullptr, out, bits, columns, threshold, keep_scale, seed, [](float a) { return fmaxf(a, 0); });
}
KERNEL bias_dropout_residual_bf16(const bf16* x, const bf16* bias, const bf16* residual, bf16* out, uint8_t* bits, int rows,
                                  int columns, unsigned threshold, float keep_scale, uint64_t seed) {
  bias_dropout<bf16, true>(x, bias, residual, out, bits, columns, threshold, keep_scale, seed, [](float a) { return a; });
}
KERNEL gate_bf16(const bf16* x, const bf16* gates, const bf16* residual, bf16* out, int rows, int columns) {
  gate(x, gates, residual, out, rows, columns);
}
KERNEL rope_bf16(const bf16* x, const bf16* cosines, const bf16* sines, bf16* out, int rows, int columns) {
  rope<bf16, 1>(x, cosines, sines, out, rows, columns);
}
KERNEL rope_backward_bf16(const bf16* x, const bf16* cosines, const bf16* sines, bf16* out, int rows, int columns) {
  rope<bf16, -1>(x, cosines, sines, out, rows, columns);
}
