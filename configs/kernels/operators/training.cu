// Fused passes of training, which store what the backward pass reads: SwiGLU with SiLU's result, bias and GELU with their sum, the
// backward pass of SwiGLU from the stored result, that of a product of two tensors, and that of RMSNorm with the gradient of the
// residual connection added.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o training.cubin training.cu
//   nvdisasm -c -hex training.cubin | tr -s " " > training_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kThreads = 256;

__device__ __forceinline__ float sigmoid(float x) { return __fdividef(1.0F, 1.0F + __expf(-x)); }
__device__ __forceinline__ float gelu(float x) {
  float tangent;
  asm("tanh.approx.f32 %0, %1;" : "=f"(tangent) : "f"(0.7978845608F * (x + 0.044715F * x * x * x)));
  return 0.5F * x * (1 + tangent);
}

// The first element of a thread's vector.
__device__ __forceinline__ int64_t own_vector() {
  return (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kElements<bf16>;
}

__device__ __forceinline__ void swiglu(const bf16* gate, const bf16* up, bf16* activated, bf16* out, int64_t elements) {
  const int64_t at = own_vector();
  if (at >= elements) return;
  Values<bf16> a = values(load(gate + at));
  Values<bf16> b = values(load(up + at));
#pragma unroll
  for (int i = 0; i < kElements<bf16>; ++i) {
    a.at[i] *= sigmoid(a.at[i]);
    b.at[i] *= a.at[i];
  }
  store(activated + at, a);
  store(out + at, b);
}

__device__ __forceinline__ void swiglu_backward(const bf16* gate, const bf16* up, const bf16* activated, const bf16* gradient,
                                                bf16* of_gate, bf16* of_up, int64_t elements) {
  const int64_t at = own_vector();
  if (at >= elements) return;
  Values<bf16> a = values(load(gate + at));
  Values<bf16> b = values(load(up + at));
  const Values<bf16> s = values(load(activated + at));
  const Values<bf16> g = values(load(gradient + at));
#pragma unroll
  for (int i = 0; i < kElements<bf16>; ++i) {
    const float into = g.at[i] * b.at[i];
    b.at[i] = g.at[i] * s.at[i];
    const float of = sigmoid(a.at[i]);
    a.at[i] = into * of * (1 + a.at[i] * (1 - of));
  }
  store(of_gate + at, a);
  store(of_up + at, b);
}

__device__ __forceinline__ void multiply_backward(const bf16* x, const bf16* y, const bf16* gradient, bf16* of_x, bf16* of_y,
                                                  int64_t elements) {
  const int64_t at = own_vector();
  if (at >= elements) return;
  Values<bf16> a = values(load(x + at));
  Values<bf16> b = values(load(y + at));
  const Values<bf16> g = values(load(gradient + at));
#pragma unroll
  for (int i = 0; i < kElements<bf16>; ++i) {
    const float of_first = g.at[i] * b.at[i];
    b.at[i] = g.at[i] * a.at[i];
    a.at[i] = of_first;
  }
  store(of_x + at, a);
  store(of_y + at, b);
}

// A CTA has part of a row, a vector a thread.
__device__ __forceinline__ void bias_gelu(const bf16* x, const bf16* bias, bf16* sum, bf16* out, int columns) {
  const int column = (blockIdx.y * blockDim.x + threadIdx.x) * kElements<bf16>;
  if (column >= columns) return;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * columns + column;
  Values<bf16> a = values(load(x + at));
  const Values<bf16> b = values(load(bias + column));
#pragma unroll
  for (int i = 0; i < kElements<bf16>; ++i) a.at[i] += b.at[i];
  store(sum + at, a);
#pragma unroll
  for (int i = 0; i < kElements<bf16>; ++i) a.at[i] = gelu(a.at[i]);
  store(out + at, a);
}

// A CTA of 256 threads has a row; its vectors stay in registers between the sum and the result.
template <int kVectors>
__device__ __forceinline__ void rms_norm_backward(const bf16* x, const bf16* gradient, const bf16* weight, const float* rstd,
                                                  const bf16* skipped, bf16* out, int columns) {
  __shared__ float partial[kThreads / kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  const float scale = rstd[blockIdx.x];
  Vector<bf16> inputs[kVectors], gradients[kVectors], around[kVectors];
  float along = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kThreads + threadIdx.x) * kElements<bf16>;
    inputs[v] = gradients[v] = around[v] = {};
    if (column >= columns) continue;
    inputs[v] = load(x + begin + column);
    gradients[v] = load(gradient + begin + column);
    around[v] = load(skipped + begin + column);
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kThreads + threadIdx.x) * kElements<bf16>;
    if (column >= columns) continue;
    const Values<bf16> a = values(inputs[v]), g = values(gradients[v]), w = values(load(weight + column));
#pragma unroll
    for (int i = 0; i < kElements<bf16>; ++i) along = fmaf(g.at[i] * w.at[i], a.at[i] * scale, along);
  }
  along = over_row<Sum, kThreads>(along, partial) * __fdividef(1.0F, columns);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kThreads + threadIdx.x) * kElements<bf16>;
    if (column >= columns) continue;
    Values<bf16> a = values(inputs[v]);
    const Values<bf16> g = values(gradients[v]), w = values(load(weight + column)), r = values(around[v]);
#pragma unroll
    for (int i = 0; i < kElements<bf16>; ++i) a.at[i] = fmaf(g.at[i] * w.at[i] - a.at[i] * scale * along, scale, r.at[i]);
    store(out + begin + column, a);
  }
}

}  // namespace operators

using namespace operators;

#define KERNEL extern "C" __global__ void __launch_bounds__(kThreads)

KERNEL swiglu_stored_bf16(const bf16* gate, const bf16* up, bf16* activated, bf16* out, int64_t elements) {
  swiglu(gate, up, activated, out, elements);
}
KERNEL swiglu_backward_stored_bf16(const bf16* gate, const bf16* up, const bf16* activated, const bf16* gradient, bf16* of_gate,
                                   bf16* of_up, int64_t elements) {
  swiglu_backward(gate, up, activated, gradient, of_gate, of_up, elements);
}
KERNEL multiply_backward_bf16(const bf16* x, const bf16* y, const bf16* gradient, bf16* of_x, bf16* of_y, int64_t elements) {
  multiply_backward(x, y, gradient, of_x, of_y, elements);
}
KERNEL bias_gelu_stored_bf16(const bf16* x, const bf16* bias, bf16* sum, bf16* out, int rows, int columns) {
  bias_gelu(x, bias, sum, out, columns);
}
#define RMS_NORM_BACKWARD_RESIDUAL(VECTORS)                                                                                        \
  KERNEL rms_norm_backward_residual_bf16_256x##VECTORS(const bf16* x, const bf16* gradient, const bf16* weight, const float* rstd, \
                                                       const bf16* skipped, bf16* out, int rows, int columns) {                    \
    rms_norm_backward<VECTORS>(x, gradient, weight, rstd, skipped, out, columns);                                                  \
  }
RMS_NORM_BACKWARD_RESIDUAL(1)
RMS_NORM_BACKWARD_RESIDUAL(2)
RMS_NORM_BACKWARD_RESIDUAL(4)
RMS_NORM_BACKWARD_RESIDUAL(8)
