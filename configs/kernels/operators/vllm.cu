// Kernels that vLLM launches between the matrix products of a decoder layer. Grids, blocks and memory accesses are those of its
// sources (csrc/layernorm_kernels.cu, activation_kernels.cu, pos_encoding_kernels.cu); the code is our own. One CTA works on one token.
//
//   sarathi_*       Sarathi's copies of vLLM's kernels of 2023: FP16, each thread loads one element at a time
//   vllm_*          vLLM 0.19: BF16, each thread loads vectors of 16 bytes
//
//   rms_norm        Each row is read twice: for the sum of squares and for the result.
//   head_norm       The same for each head of a token; a division of 64 bits finds the head.
//   add_rms_norm    The kernel stores the sum in `residual`, reads it again, and stores the result in `x`.
//   silu_multiply   A row of `x` holds the gate's columns, then the columns of the other factor.
//   silu_multiply_pairs  The same for Blackwell, where vLLM loads 32 bytes a thread. assumed: two vectors of 16 bytes, a block apart,
//                   because sm_80 has no load of 32 bytes.
//   rope            Rotates queries and keys in place. Each pair of elements finds its head and column by a division. `shift` is a
//                   token's position less its index in the launch.
//
// Compiled without fast arithmetic, as vLLM and Sarathi are:
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o vllm.cubin vllm.cu
//   nvdisasm -c -hex vllm.cubin | tr -s " " > vllm_sm_80.sass
#include "operators.cuh"

namespace operators {

template <typename T>
__device__ __forceinline__ T narrow(float value) {
  if constexpr (sizeof(T) == sizeof(bf16) && !__is_same(T, fp16)) {
    return __float2bfloat16(value);
  } else {
    return __float2half(value);
  }
}
__device__ __forceinline__ float wide(fp16 value) { return __half2float(value); }
__device__ __forceinline__ float wide(bf16 value) { return __bfloat162float(value); }

// Adds up a value over a CTA. Sarathi: every warp adds the partial sums of all warps.
__device__ __forceinline__ float sum_by_warps(float value, float* partial) {
  const int warps = (blockDim.x + kWarp - 1) / kWarp, lane = threadIdx.x % kWarp;
  value = over_warp<Sum>(value);
  if (lane == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  return over_warp<Sum>(lane < warps ? partial[lane] : 0.0F);
}
// Adds up a value over a CTA as CUB's BlockReduce does: thread 0 adds the partial sums of the other warps one after the other.
__device__ __forceinline__ float sum_by_first_thread(float value, float* partial) {
  value = over_warp<Sum>(value);
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll
    for (int warp = 1; warp < kWarp; ++warp) {
      if (warp * kWarp < blockDim.x) value += partial[warp];
    }
  }
  return value;
}
template <bool kByWarps>
__device__ __forceinline__ float inverse_of_row(float squares, int columns, float epsilon) {
  __shared__ float partial[kWarp];
  __shared__ float inverse;
  const float total = kByWarps ? sum_by_warps(squares, partial) : sum_by_first_thread(squares, partial);
  if (threadIdx.x == 0) inverse = rsqrtf(total / columns + epsilon);
  __syncthreads();
  return inverse;
}

// Rounds the normalised vector to T before it is multiplied by the weight, as vLLM does.
template <typename T>
__device__ __forceinline__ Vector<T> scaled(const Vector<T>& row, const Vector<T>& weight, float inverse) {
  Values<T> a = values(row);
  const Values<T> w = values(weight);
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) a.at[i] = wide(narrow<T>(a.at[i] * inverse)) * w.at[i];
  return packed(a);
}
template <typename T>
__device__ __forceinline__ float squares_of(const Vector<T>& v) {
  const Values<T> a = values(v);
  float squares = 0;
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) squares = fmaf(a.at[i], a.at[i], squares);
  return squares;
}

template <typename T>
__device__ __forceinline__ T silu_of(T x) {
  return narrow<T>(wide(x) / (1.0F + expf(wide(narrow<T>(-wide(x))))));
}

// FP16 arithmetic of PyTorch's c10::Half: each operation is computed in FP32 and rounded.
__device__ __forceinline__ fp16 rounded(fp16 a, fp16 b) { return narrow<fp16>(wide(a) * wide(b)); }
__device__ __forceinline__ fp16 rounded(fp16 a, float sign, fp16 b) { return narrow<fp16>(wide(a) + sign * wide(b)); }

// Rotates two elements, half a head apart, by the angle of their column, in FP32 (kWide) or in T.
template <typename T, bool kWide>
__device__ __forceinline__ void turn(T* head, const T* cosines, int column, int half) {
  const T c = cosines[column], s = cosines[half + column];
  const T x = head[column], y = head[half + column];
  if constexpr (kWide) {
    head[column] = narrow<T>(wide(x) * wide(c) - wide(y) * wide(s));
    head[half + column] = narrow<T>(wide(y) * wide(c) + wide(x) * wide(s));
  } else {
    head[column] = rounded(rounded(x, c), -1.0F, rounded(y, s));
    head[half + column] = rounded(rounded(y, c), 1.0F, rounded(x, s));
  }
}
template <typename T, bool kWide>
__device__ __forceinline__ void rope(T* rows, const int64_t* shift, const T* angles, int turned, int64_t stride, int heads,
                                     int kv_heads, int head_columns) {
  const int token = blockIdx.x;
  const T* const cosines = angles + (token + shift[token]) * turned;
  const int half = turned / 2;
  T* const queries = rows + token * stride;
  for (int i = threadIdx.x; i < heads * half; i += blockDim.x)
    turn<T, kWide>(queries + i / half * head_columns, cosines, i % half, half);
  T* const keys = queries + static_cast<int64_t>(heads) * head_columns;
  for (int i = threadIdx.x; i < kv_heads * half; i += blockDim.x)
    turn<T, kWide>(keys + i / half * head_columns, cosines, i % half, half);
}

}  // namespace operators

using namespace operators;

extern "C" __global__ void __launch_bounds__(1024)
    sarathi_rms_norm_fp16(fp16* __restrict__ out, const fp16* __restrict__ x, const fp16* __restrict__ weight, float epsilon,
                          int columns) {
  float squares = 0;
  for (int column = threadIdx.x; column < columns; column += blockDim.x) {
    const float a = wide(x[blockIdx.x * columns + column]);
    squares += a * a;
  }
  const float inverse = inverse_of_row<true>(squares, columns, epsilon);
  for (int column = threadIdx.x; column < columns; column += blockDim.x) {
    const float a = wide(x[blockIdx.x * columns + column]);
    out[blockIdx.x * columns + column] = rounded(narrow<fp16>(a * inverse), weight[column]);
  }
}

extern "C" __global__ void __launch_bounds__(1024)
    sarathi_silu_multiply_fp16(fp16* __restrict__ out, const fp16* __restrict__ x, int columns) {
  const int64_t token = blockIdx.x;
  for (int64_t column = threadIdx.x; column < columns; column += blockDim.x) {
    const fp16 gate = x[token * 2 * columns + column], up = x[token * 2 * columns + columns + column];
    out[token * columns + column] = rounded(silu_of(gate), up);
  }
}

extern "C" __global__ void __launch_bounds__(512)
    sarathi_rope_fp16(fp16* rows, const int64_t* __restrict__ shift, const fp16* __restrict__ angles, int turned, int64_t stride,
                      int heads, int kv_heads, int head_columns) {
  rope<fp16, false>(rows, shift, angles, turned, stride, heads, kv_heads, head_columns);
}

__device__ __forceinline__ void rms_norm(bf16* __restrict__ out, const bf16* __restrict__ from, const bf16* __restrict__ weight,
                                         float epsilon, int columns) {
  const auto* const row = reinterpret_cast<const Vector<bf16>*>(from);
  const int vectors = columns / kElements<bf16>;
  float squares = 0;
  for (int v = threadIdx.x; v < vectors; v += blockDim.x) squares += squares_of(row[v]);
  const float inverse = inverse_of_row<false>(squares, columns, epsilon);
  auto* const to = reinterpret_cast<Vector<bf16>*>(out + static_cast<int64_t>(blockIdx.x) * columns);
  const auto* const weights = reinterpret_cast<const Vector<bf16>*>(weight);
  for (int v = threadIdx.x; v < vectors; v += blockDim.x) to[v] = scaled(row[v], weights[v], inverse);
}
extern "C" __global__ void __launch_bounds__(1024)
    vllm_rms_norm_bf16(bf16* __restrict__ out, const bf16* __restrict__ x, const bf16* __restrict__ weight, float epsilon,
                       int columns) {
  rms_norm(out, x + static_cast<int64_t>(blockIdx.x) * columns, weight, epsilon, columns);
}
// One CTA for each head; tokens are `stride` elements apart.
extern "C" __global__ void __launch_bounds__(1024)
    vllm_head_norm_bf16(bf16* __restrict__ out, const bf16* __restrict__ x, const bf16* __restrict__ weight, float epsilon,
                        int columns, int64_t stride, int64_t heads) {
  const int token = static_cast<int>(blockIdx.x / heads), head = static_cast<int>(blockIdx.x % heads);
  rms_norm(out, x + token * stride + static_cast<int64_t>(head) * columns, weight, epsilon, columns);
}

extern "C" __global__ void __launch_bounds__(1024)
    vllm_add_rms_norm_bf16(bf16* __restrict__ x, bf16* __restrict__ residual, const bf16* __restrict__ weight, float epsilon,
                           int columns) {
  const int vectors = columns / kElements<bf16>;
  auto* const row = reinterpret_cast<Vector<bf16>*>(x) + static_cast<int64_t>(blockIdx.x) * vectors;
  auto* const skipped = reinterpret_cast<Vector<bf16>*>(residual) + static_cast<int64_t>(blockIdx.x) * vectors;
  const auto* const weights = reinterpret_cast<const Vector<bf16>*>(weight);
  float squares = 0;
  for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
    Values<bf16> a = values(row[v]);
    const Values<bf16> b = values(skipped[v]);
#pragma unroll
    for (int i = 0; i < kElements<bf16>; ++i) a.at[i] += b.at[i];
    const Vector<bf16> sum = packed(a);
    squares += squares_of(sum);
    skipped[v] = sum;
  }
  const float inverse = inverse_of_row<false>(squares, columns, epsilon);
  for (int v = threadIdx.x; v < vectors; v += blockDim.x) row[v] = scaled(skipped[v], weights[v], inverse);
}

template <int kVectors>
__device__ __forceinline__ void silu_multiply(bf16* __restrict__ out, const bf16* __restrict__ x, int columns) {
  const int vectors = columns / kElements<bf16>;
  const auto* const gate = reinterpret_cast<const Vector<bf16>*>(x + static_cast<int64_t>(blockIdx.x) * 2 * columns);
  const auto* const up = gate + vectors;
  auto* const to = reinterpret_cast<Vector<bf16>*>(out + static_cast<int64_t>(blockIdx.x) * columns);
  for (int first = threadIdx.x; first < vectors; first += kVectors * blockDim.x) {
    Vector<bf16> a[kVectors], b[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (first + v * blockDim.x < vectors) {
        a[v] = gate[first + v * blockDim.x];
        b[v] = up[first + v * blockDim.x];
      }
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (first + v * blockDim.x >= vectors) continue;
      Values<bf16> of = values(a[v]);
      const Values<bf16> by = values(b[v]);
#pragma unroll
      for (int i = 0; i < kElements<bf16>; ++i) {
        of.at[i] = wide(narrow<bf16>(of.at[i] / (1.0F + expf(-of.at[i])))) * by.at[i];
      }
      to[first + v * blockDim.x] = packed(of);
    }
  }
}
extern "C" __global__ void __launch_bounds__(1024)
    vllm_silu_multiply_bf16(bf16* __restrict__ out, const bf16* __restrict__ x, int columns) {
  silu_multiply<1>(out, x, columns);
}
extern "C" __global__ void __launch_bounds__(1024)
    vllm_silu_multiply_pairs_bf16(bf16* __restrict__ out, const bf16* __restrict__ x, int columns) {
  silu_multiply<2>(out, x, columns);
}

extern "C" __global__ void __launch_bounds__(512)
    vllm_rope_bf16(bf16* rows, const int64_t* __restrict__ shift, const bf16* __restrict__ angles, int turned, int64_t stride,
                   int heads, int kv_heads, int head_columns) {
  rope<bf16, true>(rows, shift, angles, turned, stride, heads, kv_heads, head_columns);
}
