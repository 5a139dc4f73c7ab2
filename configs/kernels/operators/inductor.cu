// Inductor's kernels of PyTorch 2.11 on an H100, by their names, grids, blocks and shared memory
// (docs/validation/operator_kernels.csv), in the shape of the Triton code that Inductor generates for them.
//
//   persistent (`triton_per`)   a warp a CTA: a row of up to 1,024 columns, or four rows of up to 256, in registers
//   loops (`triton_red`)        512 threads a row, a vector of 16 bytes a thread and turn: for the sums, then for the result
//                               softmax and cross-entropy keep a maximum and a sum for each of a thread's eight places, with
//                               two exponentials an element (triton_helpers.online_softmax_combine)
//   maps (`triton_poi`)         128 threads, eight elements a thread; dropout takes ten rounds of Philox for each element (tl.rand)
//
// Triton's arithmetic: exponentials and divisions by ex2.approx and div.full, which keep denormals; products of Philox in halves.
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o inductor.cubin inductor.cu
//   nvdisasm -c -hex inductor.cubin | tr -s " " > inductor_sm_80.sass
#include "operators.cuh"

namespace operators {

__device__ __forceinline__ float power_of_2(float x) {
  float result;
  asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ __forceinline__ float exponential(float x) { return power_of_2(x * 1.4426950F); }
__device__ __forceinline__ float quotient(float x, float y) {
  float result;
  asm("div.full.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
// The first word of Philox-4x32 with ten rounds.
__device__ __forceinline__ unsigned random_word(unsigned counter, uint64_t seed) {
  unsigned c[4] = {counter, 0, 0, 0};
  unsigned key[2] = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned c0 = c[0], c2 = c[2];
    c[0] = __umulhi(0xCD9E8D57U, c2) ^ c[1] ^ key[0];
    c[2] = __umulhi(0xD2511F53U, c0) ^ c[3] ^ key[1];
    c[1] = 0xCD9E8D57U * c2;
    c[3] = 0xD2511F53U * c0;
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return c[0];
}

constexpr int kEach = kElements<bf16>;
constexpr int kLoopThreads = 512;
constexpr int kStep = kLoopThreads * kEach;

// The row's vector at `column`, with the residual added to it.
template <bool kResidual>
__device__ __forceinline__ Values<bf16> input(const bf16* x, const bf16* residual, int64_t at) {
  Values<bf16> a = values(load(x + at));
  if (kResidual) {
    const Values<bf16> b = values(load(residual + at));
#pragma unroll
    for (int i = 0; i < kEach; ++i) a.at[i] += b.at[i];
  }
  return a;
}

// Rows in registers: kRows rows of kVectors vectors a lane, a warp a CTA.
template <int kRows, int kVectors, bool kLayer, bool kResidual>
__device__ __forceinline__ void norm_held(const bf16* x, const bf16* residual, const bf16* weight, const bf16* bias, bf16* out,
                                          float* mean, float* rstd, int columns, float epsilon) {
  Values<bf16> held[kRows][kVectors];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = (v * kWarp + threadIdx.x) * kEach;
      const int64_t at = static_cast<int64_t>(blockIdx.x * kRows + r) * columns + column;
      held[r][v] = {};
      if (column < columns) held[r][v] = input<kResidual>(x, residual, at);
    }
  }
  float centre[kRows], scale[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    float total = 0, squares = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) total += held[r][v].at[i];
    }
    centre[r] = kLayer ? quotient(over_warp<Sum>(total), columns) : 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const float centred = held[r][v].at[i] - centre[r];
        squares = fmaf(centred, centred, squares);
      }
    }
    scale[r] = rsqrtf(quotient(over_warp<Sum>(squares), columns) + epsilon);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (threadIdx.x == 0) rstd[blockIdx.x * kRows + r] = scale[r];
    if (threadIdx.x == 0 && kLayer) mean[blockIdx.x * kRows + r] = centre[r];
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kWarp + threadIdx.x) * kEach;
    if (column >= columns) continue;
    const Values<bf16> w = values(load(weight + column));
    Values<bf16> b = {};
    if (kLayer) b = values(load(bias + column));
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Values<bf16> a = held[r][v];
#pragma unroll
      for (int i = 0; i < kEach; ++i) a.at[i] = fmaf((a.at[i] - centre[r]) * scale[r], w.at[i], b.at[i]);
      store(out + static_cast<int64_t>(blockIdx.x * kRows + r) * columns + column, a);
    }
  }
}

// Rows in a loop. LayerNorm: a mean, a sum of squares and a count for each of a thread's places (Welford; the
// first turn only takes what it reads), then of the row.
struct Moments {
  float mean = 0, squares = 0, count = 0;
};
__device__ __forceinline__ Moments together(Moments a, Moments b) {
  const float delta = b.mean - a.mean, count = a.count + b.count;
  const float share = quotient(b.count, count);
  const float of_b = count == 0 ? 0 : share;
  return {a.mean + delta * of_b, a.squares + b.squares + delta * delta * a.count * of_b, count};
}
__device__ __forceinline__ Moments over_lanes(Moments of, int lanes) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    if (step >= lanes) continue;
    of = together(of, {__shfl_xor_sync(kAllLanes, of.mean, step), __shfl_xor_sync(kAllLanes, of.squares, step),
                       __shfl_xor_sync(kAllLanes, of.count, step)});
  }
  return of;
}
template <bool kResidual>
__device__ __forceinline__ void rms_norm_looped(const bf16* x, const bf16* residual, const bf16* weight, bf16* out, float* rstd,
                                                int columns, float epsilon) {
  __shared__ float partial[kLoopThreads / kWarp];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  float squares[kEach] = {};
#pragma unroll 1
  for (int column = threadIdx.x * kEach; column < columns; column += kStep) {
    const Values<bf16> a = input<kResidual>(x, residual, begin + column);
#pragma unroll
    for (int i = 0; i < kEach; ++i) squares[i] = fmaf(a.at[i], a.at[i], squares[i]);
  }
  float total = squares[0];
#pragma unroll
  for (int i = 1; i < kEach; ++i) total += squares[i];
  const float scale = rsqrtf(quotient(over_row<Sum, kLoopThreads>(total, partial), columns) + epsilon);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
#pragma unroll 1
  for (int column = threadIdx.x * kEach; column < columns; column += kStep) {
    Values<bf16> a = input<kResidual>(x, residual, begin + column);
    const Values<bf16> w = values(load(weight + column));
#pragma unroll
    for (int i = 0; i < kEach; ++i) a.at[i] *= scale * w.at[i];
    store(out + begin + column, a);
  }
}

// Four elements a thread and turn: with eight, their means, squares and counts do not fit the 32 registers of the measured kernel.
struct Half {
  float at[4];
};
__device__ __forceinline__ Half half_vector(const bf16* from) {
  const uint2 bits = *reinterpret_cast<const uint2*>(from);
  return {{__uint_as_float(bits.x << 16), __uint_as_float(bits.x & 0xffff0000), __uint_as_float(bits.y << 16),
           __uint_as_float(bits.y & 0xffff0000)}};
}
__device__ __forceinline__ void layer_norm_looped(const bf16* x, const bf16* weight, const bf16* bias, bf16* out, float* mean,
                                                  float* rstd, int columns, float epsilon) {
  constexpr int kWarps = kLoopThreads / kWarp, kWide = 4, kTurn = kLoopThreads * kWide;
  __shared__ float partial[3][kWarps];
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  Moments of[kWide];
#pragma unroll 1
  for (int first = 0; first < columns; first += kTurn) {
    const int column = first + threadIdx.x * kWide;
    if (column >= columns) break;
    const Half a = half_vector(x + begin + column);
    if (first == 0) {
#pragma unroll
      for (int i = 0; i < kWide; ++i) of[i] = {a.at[i], 0, 1};
    } else {
#pragma unroll
      for (int i = 0; i < kWide; ++i) {
        const float delta = a.at[i] - of[i].mean;
        of[i].count += 1;
        of[i].mean += quotient(delta, of[i].count);
        of[i].squares = fmaf(delta, a.at[i] - of[i].mean, of[i].squares);
      }
    }
  }
  Moments row = of[0];
#pragma unroll
  for (int i = 1; i < kWide; ++i) row = together(row, of[i]);
  row = over_lanes(row, kWarp);
  if (threadIdx.x % kWarp == 0) {
    partial[0][threadIdx.x / kWarp] = row.mean;
    partial[1][threadIdx.x / kWarp] = row.squares;
    partial[2][threadIdx.x / kWarp] = row.count;
  }
  __syncthreads();
  const int warp = threadIdx.x % kWarps;
  row = over_lanes({partial[0][warp], partial[1][warp], partial[2][warp]}, kWarps);
  const float centre = row.mean, scale = rsqrtf(quotient(row.squares, columns) + epsilon);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
  if (threadIdx.x == 0) mean[blockIdx.x] = centre;
#pragma unroll 1
  for (int column = threadIdx.x * kWide; column < columns; column += kTurn) {
    const Half a = half_vector(x + begin + column), w = half_vector(weight + column), b = half_vector(bias + column);
    float result[kWide];
#pragma unroll
    for (int i = 0; i < kWide; ++i) result[i] = fmaf((a.at[i] - centre) * scale, w.at[i], b.at[i]);
    const __nv_bfloat162 low = __floats2bfloat162_rn(result[0], result[1]), high = __floats2bfloat162_rn(result[2], result[3]);
    *reinterpret_cast<uint2*>(out + begin + column) =
        make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high));
  }
}

// A warp a CTA and row.
template <int kVectors>
__device__ __forceinline__ MaximumAndSum softmax_held(const bf16* row, int columns, Values<bf16> (&held)[kVectors]) {
  MaximumAndSum of;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int column = (v * kWarp + threadIdx.x) * kEach;
#pragma unroll
    for (int i = 0; i < kEach; ++i) held[v].at[i] = Largest::kNeutral;
    if (column < columns) held[v] = values(load(row + column));
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) of.largest = fmaxf(of.largest, held[v].at[i]);
  }
  of.largest = over_warp<Largest>(of.largest);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) of.total += exponential(held[v].at[i] - of.largest);
  }
  of.total = over_warp<Sum>(of.total);
  return of;
}

__device__ __forceinline__ MaximumAndSum combined(MaximumAndSum a, MaximumAndSum b) {
  const float largest = fmaxf(a.largest, b.largest);
  const bool none = largest == Largest::kNeutral;
  const float of_a = exponential(a.largest - largest), of_b = exponential(b.largest - largest);
  return {largest, fmaf(a.total, none ? 1.0F : of_a, b.total * (none ? 1.0F : of_b))};
}
__device__ __forceinline__ MaximumAndSum softmax_looped(const bf16* row, int columns) {
  constexpr int kWarps = kLoopThreads / kWarp;
  __shared__ float partial[2][kWarps];
  MaximumAndSum of[kEach];
#pragma unroll 1
  for (int column = threadIdx.x * kEach; column < columns; column += kStep) {
    const Values<bf16> a = values(load(row + column));
#pragma unroll
    for (int i = 0; i < kEach; ++i) of[i] = combined(of[i], {a.at[i], 1.0F});
  }
  float largest = of[0].largest;
#pragma unroll
  for (int i = 1; i < kEach; ++i) largest = fmaxf(largest, of[i].largest);
  largest = over_row<Largest, kLoopThreads>(largest, partial[0]);
  float total = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) total += of[i].total * exponential(of[i].largest - largest);
  total = over_row<Sum, kLoopThreads>(total, partial[1]);
  return {largest, total};
}
__device__ __forceinline__ void write_softmax(bf16* out, Values<bf16> a, MaximumAndSum of) {
#pragma unroll
  for (int i = 0; i < kEach; ++i) a.at[i] = quotient(exponential(a.at[i] - of.largest), of.total);
  store(out, a);
}

__device__ __forceinline__ float silu(float x) { return x * quotient(1.0F, 1.0F + exponential(-x)); }

}  // namespace operators

using namespace operators;

#define KERNEL(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)
// 32 registers at most, as the measured kernels have: four CTAs an SM.
#define LOOPED extern "C" __global__ void __launch_bounds__(kLoopThreads, 4)
#define NORMS(NAME, ROWS, VECTORS)                                                                                               \
  KERNEL(32)                                                                                                                     \
  inductor_rms_norm_##NAME(const bf16* x, const bf16* weight, bf16* out, float* rstd, int rows, int columns, float epsilon) {    \
    norm_held<ROWS, VECTORS, false, false>(x, nullptr, weight, nullptr, out, nullptr, rstd, columns, epsilon);                   \
  }                                                                                                                              \
  KERNEL(32)                                                                                                                     \
  inductor_layer_norm_##NAME(const bf16* x, const bf16* weight, const bf16* bias, bf16* out, float* mean, float* rstd, int rows, \
                             int columns, float epsilon) {                                                                       \
    norm_held<ROWS, VECTORS, true, false>(x, nullptr, weight, bias, out, mean, rstd, columns, epsilon);                          \
  }                                                                                                                              \
  KERNEL(32)                                                                                                                     \
  inductor_residual_rms_norm_##NAME(const bf16* x, const bf16* residual, const bf16* weight, bf16* out, float* rstd, int rows,   \
                                    int columns, float epsilon) {                                                                \
    norm_held<ROWS, VECTORS, false, true>(x, residual, weight, nullptr, out, nullptr, rstd, columns, epsilon);                   \
  }
NORMS(4_rows, 4, 1)
NORMS(held, 1, 4)
LOOPED
inductor_rms_norm_looped(const bf16* x, const bf16* weight, bf16* out, float* rstd, int rows, int columns, float epsilon) {
  rms_norm_looped<false>(x, nullptr, weight, out, rstd, columns, epsilon);
}
LOOPED
inductor_layer_norm_looped(const bf16* x, const bf16* weight, const bf16* bias, bf16* out, float* mean, float* rstd, int rows,
                           int columns, float epsilon) {
  layer_norm_looped(x, weight, bias, out, mean, rstd, columns, epsilon);
}
LOOPED
inductor_residual_rms_norm_looped(const bf16* x, const bf16* residual, const bf16* weight, bf16* out, float* rstd, int rows,
                                  int columns, float epsilon) {
  rms_norm_looped<true>(x, residual, weight, out, rstd, columns, epsilon);
}

KERNEL(32) inductor_softmax_held(const bf16* x, bf16* out, int rows, int columns) {
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  Values<bf16> held[4];
  const MaximumAndSum of = softmax_held<4>(x + begin, columns, held);
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    const int column = (v * kWarp + threadIdx.x) * kEach;
    if (column < columns) write_softmax(out + begin + column, held[v], of);
  }
}
LOOPED inductor_softmax_looped(const bf16* x, bf16* out, int rows, int columns) {
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  const MaximumAndSum of = softmax_looped(x + begin, columns);
#pragma unroll 1
  for (int column = threadIdx.x * kEach; column < columns; column += kStep)
    write_softmax(out + begin + column, values(load(x + begin + column)), of);
}
// The target's logit is read behind the row.
KERNEL(32) inductor_cross_entropy_held(const bf16* x, const int64_t* target, bf16* loss, int rows, int columns) {
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  Values<bf16> held[4];
  const MaximumAndSum of = softmax_held<4>(x + begin, columns, held);
  const float own = static_cast<float>(x[begin + target[blockIdx.x]]);
  if (threadIdx.x == 0) loss[blockIdx.x] = __float2bfloat16(__logf(of.total) + of.largest - own);
}
LOOPED inductor_cross_entropy_looped(const bf16* x, const int64_t* target, bf16* loss, int rows, int columns) {
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * columns;
  const MaximumAndSum of = softmax_looped(x + begin, columns);
  const float own = static_cast<float>(x[begin + target[blockIdx.x]]);
  if (threadIdx.x == 0) loss[blockIdx.x] = __float2bfloat16(__logf(of.total) + of.largest - own);
}

KERNEL(128) inductor_relu_squared(const bf16* x, bf16* out, int64_t elements) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * 128 + threadIdx.x) * kEach;
  Values<bf16> a = values(load(x + at));
#pragma unroll
  for (int i = 0; i < kEach; ++i) a.at[i] = fmaxf(a.at[i], 0) * fmaxf(a.at[i], 0);
  store(out + at, a);
}
KERNEL(128) inductor_swiglu(const bf16* gate, const bf16* up, bf16* out, int64_t elements) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * 128 + threadIdx.x) * kEach;
  Values<bf16> a = values(load(gate + at));
  const Values<bf16> b = values(load(up + at));
#pragma unroll
  for (int i = 0; i < kEach; ++i) a.at[i] = silu(a.at[i]) * b.at[i];
  store(out + at, a);
}
KERNEL(128) inductor_dropout(const bf16* x, const int64_t* seeds, bf16* out, int64_t elements) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * 128 + threadIdx.x) * kEach;
  const uint64_t seed = seeds[0];
  Values<bf16> a = values(load(x + at));
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned word = random_word(static_cast<unsigned>(at) + i, seed);
    const float uniform = static_cast<float>(word >> 31 != 0 ? ~word : word) * 4.6566127e-10F;
    a.at[i] = uniform > 0.1F ? a.at[i] * 1.1111112F : 0;
  }
  store(out + at, a);
}
