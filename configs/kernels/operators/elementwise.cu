// Passes over arrays, a 16-byte vector of each array a thread, as PyTorch's vectorised kernels: activations and their backward
// passes, scale, residual, dropout by Philox and from stored bits, SGD and Adam. `elements` is a multiple of a vector.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o elementwise.cubin elementwise.cu
//   nvdisasm -c -hex elementwise.cubin | tr -s " " > elementwise_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kThreads = 256;

__device__ __forceinline__ float sigmoid(float x) { return __fdividef(1.0F, 1.0F + __expf(-x)); }

struct Silu {
  __device__ static __forceinline__ float of(float x) { return x * sigmoid(x); }
  __device__ static __forceinline__ float slope(float x) {
    const float s = sigmoid(x);
    return s * (1 + x * (1 - s));
  }
  __device__ static __forceinline__ float back(float x, float gradient) { return gradient * slope(x); }
};
// By the tanh that the hardware has.
struct Gelu {
  __device__ static __forceinline__ float tangent(float x) {
    float result;
    asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(0.7978845608F * (x + 0.044715F * x * x * x)));
    return result;
  }
  __device__ static __forceinline__ float of(float x) { return 0.5F * x * (1 + tangent(x)); }
  __device__ static __forceinline__ float back(float x, float gradient) {
    const float t = tangent(x);
    return gradient * (0.5F * (1 + t) + 0.5F * x * (1 - t * t) * 0.7978845608F * (1 + 3 * 0.044715F * x * x));
  }
};
struct Relu {
  __device__ static __forceinline__ float of(float x) { return fmaxf(x, 0); }
  __device__ static __forceinline__ float back(float x, float gradient) { return x > 0 ? gradient : 0; }
};
struct ReluSquared {
  __device__ static __forceinline__ float of(float x) { return fmaxf(x, 0) * fmaxf(x, 0); }
  __device__ static __forceinline__ float back(float x, float gradient) { return 2 * fmaxf(x, 0) * gradient; }
};

// The first element of a thread's vector; -1: the thread has none.
template <typename T>
__device__ __forceinline__ int64_t own_vector(int64_t elements) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kElements<T>;
  return at < elements ? at : -1;
}

template <typename T, typename Function>
__device__ __forceinline__ void one_in(const T* x, T* out, int64_t elements, Function function) {
  const int64_t at = own_vector<T>(elements);
  if (at < 0) return;
  Values<T> a = values(load(x + at));
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) a.at[i] = function(a.at[i]);
  store(out + at, a);
}
template <typename T, typename Function>
__device__ __forceinline__ void two_in(const T* x, const T* y, T* out, int64_t elements, Function function) {
  const int64_t at = own_vector<T>(elements);
  if (at < 0) return;
  Values<T> a = values(load(x + at));
  const Values<T> b = values(load(y + at));
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) a.at[i] = function(a.at[i], b.at[i]);
  store(out + at, a);
}

template <typename T>
__device__ __forceinline__ void swiglu_backward(const T* gate, const T* up, const T* gradient, T* of_gate, T* of_up,
                                                int64_t elements) {
  const int64_t at = own_vector<T>(elements);
  if (at < 0) return;
  Values<T> a = values(load(gate + at));
  Values<T> b = values(load(up + at));
  const Values<T> g = values(load(gradient + at));
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) {
    const float into = g.at[i] * b.at[i];
    b.at[i] = g.at[i] * Silu::of(a.at[i]);
    a.at[i] = into * Silu::slope(a.at[i]);
  }
  store(of_gate + at, a);
  store(of_up + at, b);
}

// A byte of bits for a vector of eight.
__device__ __forceinline__ void dropout(const bf16* x, bf16* out, uint8_t* bits, int64_t elements, unsigned threshold,
                                        float keep_scale, uint64_t seed) {
  const int64_t at = own_vector<bf16>(elements);
  if (at < 0) return;
  Values<bf16> a = values(load(x + at));
  const unsigned keep = keep_bits<bf16>(at / kElements<bf16>, seed, threshold);
#pragma unroll
  for (int i = 0; i < kElements<bf16>; ++i) a.at[i] = (keep >> i & 1) != 0 ? a.at[i] * keep_scale : 0;
  store(out + at, a);
  bits[at / kElements<bf16>] = keep;
}
__device__ __forceinline__ void dropout_stored(const bf16* x, const uint8_t* bits, bf16* out, int64_t elements, float keep_scale) {
  const int64_t at = own_vector<bf16>(elements);
  if (at < 0) return;
  Values<bf16> a = values(load(x + at));
  const unsigned keep = bits[at / kElements<bf16>];
#pragma unroll
  for (int i = 0; i < kElements<bf16>; ++i) a.at[i] = (keep >> i & 1) != 0 ? a.at[i] * keep_scale : 0;
  store(out + at, a);
}

// With momentum.
template <typename T>
__device__ __forceinline__ void sgd(T* weights, const T* gradient, T* momentum, int64_t elements, float rate, float decay) {
  const int64_t at = own_vector<T>(elements);
  if (at < 0) return;
  Values<T> w = values(load(weights + at));
  Values<T> m = values(load(momentum + at));
  const Values<T> g = values(load(gradient + at));
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) {
    m.at[i] = fmaf(decay, m.at[i], g.at[i]);
    w.at[i] = fmaf(-rate, m.at[i], w.at[i]);
  }
  store(weights + at, w);
  store(momentum + at, m);
}
template <typename T>
__device__ __forceinline__ void adam(T* weights, const T* gradient, T* first, T* second, int64_t elements, float rate, float beta1,
                                     float beta2, float epsilon, float decay, float correction) {
  const int64_t at = own_vector<T>(elements);
  if (at < 0) return;
  Values<T> w = values(load(weights + at));
  const Values<T> g = values(load(gradient + at));
  Values<T> m = values(load(first + at));
  Values<T> v = values(load(second + at));
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) {
    w.at[i] = fmaf(-decay, w.at[i], w.at[i]);
    m.at[i] = fmaf(beta1, m.at[i], (1 - beta1) * g.at[i]);
    v.at[i] = fmaf(beta2, v.at[i], (1 - beta2) * g.at[i] * g.at[i]);
    w.at[i] -= __fdividef(rate * m.at[i], sqrtf(v.at[i]) * correction + epsilon);
  }
  store(weights + at, w);
  store(first + at, m);
  store(second + at, v);
}

}  // namespace operators

using namespace operators;

#define KERNEL extern "C" __global__ void __launch_bounds__(kThreads)
#define ACTIVATION(NAME, FUNCTION, T)                                                          \
  KERNEL NAME##_##T(const T* x, T* out, int64_t elements) {                                    \
    one_in(x, out, elements, [](float a) { return FUNCTION::of(a); });                         \
  }                                                                                            \
  KERNEL NAME##_backward_##T(const T* x, const T* gradient, T* out, int64_t elements) {        \
    two_in(x, gradient, out, elements, [](float a, float g) { return FUNCTION::back(a, g); }); \
  }
#define ARITHMETIC(T)                                                                                                         \
  KERNEL scale_##T(const T* x, T* out, int64_t elements, float factor) {                                                      \
    one_in(x, out, elements, [=](float a) { return a * factor; });                                                            \
  }                                                                                                                           \
  KERNEL residual_##T(const T* x, const T* residual, T* out, int64_t elements) {                                              \
    two_in(x, residual, out, elements, [](float a, float b) { return a + b; });                                               \
  }                                                                                                                           \
  KERNEL swiglu_##T(const T* gate, const T* up, T* out, int64_t elements) {                                                   \
    two_in(gate, up, out, elements, [](float a, float b) { return Silu::of(a) * b; });                                        \
  }                                                                                                                           \
  KERNEL swiglu_backward_##T(const T* gate, const T* up, const T* gradient, T* of_gate, T* of_up, int64_t elements) {         \
    swiglu_backward(gate, up, gradient, of_gate, of_up, elements);                                                            \
  }                                                                                                                           \
  KERNEL sgd_##T(T* weights, const T* gradient, T* momentum, int64_t elements, float rate, float decay) {                     \
    sgd(weights, gradient, momentum, elements, rate, decay);                                                                  \
  }                                                                                                                           \
  KERNEL adam_##T(T* weights, const T* gradient, T* first, T* second, int64_t elements, float rate, float beta1, float beta2, \
                  float epsilon, float decay, float correction) {                                                             \
    adam(weights, gradient, first, second, elements, rate, beta1, beta2, epsilon, decay, correction);                         \
  }

ACTIVATION(silu, Silu, bf16)
ACTIVATION(silu, Silu, fp16)
ACTIVATION(silu, Silu, fp32)
ACTIVATION(gelu, Gelu, bf16)
ACTIVATION(relu, Relu, bf16)
ACTIVATION(relu_squared, ReluSquared, bf16)
ARITHMETIC(bf16)
ARITHMETIC(fp32)
KERNEL dropout_bf16(const bf16* x, bf16* out, uint8_t* bits, int64_t elements, unsigned threshold, float keep_scale,
                    uint64_t seed) {
  dropout(x, out, bits, elements, threshold, keep_scale, seed);
}
KERNEL dropout_stored_bf16(const bf16* x, const uint8_t* bits, bf16* out, int64_t elements, float keep_scale) {
  dropout_stored(x, bits, out, elements, keep_scale);
}
// Reads alone, as gpu-stream has it: what is read is stored where it has a value that it never has.
extern "C" __global__ void __launch_bounds__(1024) stream_read_fp64(const double* x, double* out, int64_t elements) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= elements) return;
  const double value = x[at];
  if (value == 1.25) out[at] = value;
}
