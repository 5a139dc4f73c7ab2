// The fused kernels of Ivanov et al., "Data Movement Is All You Need" (arXiv 2007.00072), after their published code (spcl/substation,
// pytorch_module/block_*.cuh): threads, vectors and arrays are those of the layouts that it has for BERT-large, batch 8 of 512 tokens
// (layouts-bert-b8-l512-h16-e1024.pickle). Tensors are FP16, masks too. A reduction is a warp's, which is a CTA by itself. Their sizes
// are constants of the code, here too, so that loops are unrolled.
//
// "By features": a feature's tokens lie side by side (IBJ, UBJ, QPHBJ there). "By tokens": a token's features do (BJI, JBI).
//
//   CUDA 12.4: nvcc -O3 -use_fast_math -std=c++17 -arch=sm_70 -cubin -o data_movement.cubin data_movement.cu
//   nvdisasm -c -hex data_movement.cubin | tr -s " " > data_movement_sm_70.sass
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kWarp = 32, kVector = 8;
constexpr int kBatch = 8, kSequence = 512, kTokens = kBatch * kSequence, kHidden = 1024;

struct alignas(16) Half8 {
  __half at[kVector];
};
struct Floats {
  float at[kVector];
};

__device__ __forceinline__ Floats floats(const Half8& v) {
  Floats f;
#pragma unroll
  for (int i = 0; i < kVector; ++i) f.at[i] = __half2float(v.at[i]);
  return f;
}
__device__ __forceinline__ Half8 halves(const Floats& f) {
  Half8 v;
#pragma unroll
  for (int i = 0; i < kVector; ++i) v.at[i] = __float2half_rn(f.at[i]);
  return v;
}

// Eight values `kStride` elements apart: one access of 16 bytes where they lie side by side, else eight.
template <int kStride>
__device__ __forceinline__ Floats load(const __half* from) {
  Half8 v;
  if (kStride == 1) {
    v = *reinterpret_cast<const Half8*>(from);
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] = from[i * kStride];
  }
  return floats(v);
}
template <int kStride>
__device__ __forceinline__ void store(__half* to, const Floats& f) {
  const Half8 v = halves(f);
  if (kStride == 1) {
    *reinterpret_cast<Half8*>(to) = v;
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i) to[i * kStride] = v.at[i];
  }
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  return value;
}
__device__ __forceinline__ float warp_largest(float value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step));
  return value;
}

// Philox-4x32 with ten rounds as cuRAND's states have it: a state is made for each thread, with its first four words.
struct Random {
  uint4 counter;
  uint2 key;
  uint4 words;

  __device__ __forceinline__ Random(uint64_t seed, uint64_t thread, uint64_t offset) {
    key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
    counter = make_uint4(static_cast<unsigned>(offset >> 2), static_cast<unsigned>(offset >> 34), static_cast<unsigned>(thread),
                         static_cast<unsigned>(thread >> 32));
    words = rounds();
  }
  __device__ __forceinline__ uint4 rounds() const {
    uint4 c = counter;
    uint2 k = key;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = static_cast<uint64_t>(0xD2511F53U) * c.x;
      const uint64_t p1 = static_cast<uint64_t>(0xCD9E8D57U) * c.z;
      c = make_uint4(static_cast<unsigned>(p1 >> 32) ^ c.y ^ k.x, static_cast<unsigned>(p1), static_cast<unsigned>(p0 >> 32) ^ c.w ^ k.y,
                     static_cast<unsigned>(p0));
      k.x += 0x9E3779B9U;
      k.y += 0xBB67AE85U;
    }
    return c;
  }
  // Four numbers in (0, 1].
  __device__ __forceinline__ float4 next() {
    constexpr float kStep = 2.3283064e-10F;
    const float4 numbers = make_float4(words.x * kStep + kStep / 2, words.y * kStep + kStep / 2, words.z * kStep + kStep / 2,
                                       words.w * kStep + kStep / 2);
    if (++counter.x == 0) ++counter.y;
    words = rounds();
    return numbers;
  }
};

// What stays of `x`; `mask` has which do.
__device__ __forceinline__ Floats drop(const Floats& x, Random& random, float probability, Floats& mask) {
  Floats kept;
#pragma unroll
  for (int half = 0; half < kVector; half += 4) {
    const float4 numbers = random.next();
    mask.at[half] = numbers.x < probability ? 0 : 1;
    mask.at[half + 1] = numbers.y < probability ? 0 : 1;
    mask.at[half + 2] = numbers.z < probability ? 0 : 1;
    mask.at[half + 3] = numbers.w < probability ? 0 : 1;
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i) kept.at[i] = mask.at[i] * x.at[i];
  return kept;
}

__device__ __forceinline__ Floats times(const Floats& a, const Floats& b) {
  Floats c;
#pragma unroll
  for (int i = 0; i < kVector; ++i) c.at[i] = a.at[i] * b.at[i];
  return c;
}
__device__ __forceinline__ float total(const Floats& a) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kVector; ++i) sum += a.at[i];
  return sum;
}

// The eight tokens of a warp's CTA: batches run fastest, as blockIdx.x does there.
__device__ __forceinline__ int own_tokens() { return blockIdx.x % kBatch * kSequence + blockIdx.x / kBatch * kVector; }

}  // namespace

// AIB: biases of keys, values and queries, by features. 64 threads with a vector of each.
extern "C" __global__ void aib(const __half* x, const __half* bias, __half* out, int features) {
  const int token = (blockIdx.x * 64 + threadIdx.x) * kVector;
#pragma unroll
  for (int part = 0; part < 3; ++part) {
    const int feature = part * features + blockIdx.y;
    const float b = __half2float(bias[feature]);
    Floats v = load<1>(x + static_cast<int64_t>(feature) * kTokens + token);
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] += b;
    store<1>(out + static_cast<int64_t>(feature) * kTokens + token, v);
  }
}

// SM: softmax and dropout of a row of 512.
extern "C" __global__ void sm(const __half* x, __half* out, __half* mask, __half* dropped, float probability, uint64_t seed) {
  constexpr int kSteps = kSequence / (kWarp * kVector);
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kSequence + threadIdx.x * kVector;
  float largest = -65504;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const Floats v = load<1>(x + row + step * kWarp * kVector);
#pragma unroll
    for (int i = 0; i < kVector; ++i) largest = fmaxf(largest, v.at[i]);
  }
  largest = warp_largest(largest);
  float sum = 0;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    Floats v = load<1>(x + row + step * kWarp * kVector);
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] = __expf(v.at[i] - largest);
    store<1>(out + row + step * kWarp * kVector, v);
    sum += total(v);
  }
  const float inverse = __fdividef(1.0F, warp_sum(sum));
  Random random(seed, blockIdx.x * kWarp + threadIdx.x, 0);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    Floats v = load<1>(out + row + step * kWarp * kVector);
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] *= inverse;
    store<1>(out + row + step * kWarp * kVector, v);
    Floats kept;
    store<1>(dropped + row + step * kWarp * kVector, drop(v, random, probability, kept));
    store<1>(mask + row + step * kWarp * kVector, kept);
  }
}

// BDRLN: bias, dropout, residual, layer normalisation. Input, biased input, sum, result and deviations by tokens; residual, mask and
// normalised result by features.
extern "C" __global__ void bdrln(const __half* x, const __half* input_bias, __half* biased, __half* mask, const __half* residual,
                                 const __half* weight, const __half* bias, __half* out, __half* normed, __half* deviation, __half* rstd,
                                 float probability, uint64_t seed) {
  const int token = own_tokens();
  Random random(seed, blockIdx.x * kWarp + threadIdx.x, 0);
  Floats sum = {}, squares = {};
#pragma unroll
  for (int feature = threadIdx.x; feature < kHidden; feature += kWarp) {
    const int64_t by_token = static_cast<int64_t>(token) * kHidden + feature, by_feature = static_cast<int64_t>(feature) * kTokens + token;
    Floats v = load<kHidden>(x + by_token);
    const float b = __half2float(input_bias[feature]);
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] += b;
    store<kHidden>(biased + by_token, v);
    Floats kept;
    v = drop(v, random, probability, kept);
    store<1>(mask + by_feature, kept);
    const Floats r = load<1>(residual + by_feature);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      v.at[i] += r.at[i];
      sum.at[i] += v.at[i];
      squares.at[i] = fmaf(v.at[i], v.at[i], squares.at[i]);
    }
    store<kHidden>(out + by_token, v);
  }
  Floats mean, scale;
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    mean.at[i] = warp_sum(sum.at[i]) / kHidden;
    scale.at[i] = rsqrtf(warp_sum(squares.at[i]) / kHidden - mean.at[i] * mean.at[i] + 1e-5F);
  }
  store<1>(rstd + token, scale);
#pragma unroll
  for (int feature = threadIdx.x; feature < kHidden; feature += kWarp) {
    const int64_t by_token = static_cast<int64_t>(token) * kHidden + feature;
    Floats v = load<kHidden>(out + by_token);
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] -= mean.at[i];
    store<kHidden>(deviation + by_token, v);
    v = times(v, scale);
    store<1>(normed + static_cast<int64_t>(feature) * kTokens + token, v);
    const float w = __half2float(weight[feature]), b = __half2float(bias[feature]);
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] = fmaf(v.at[i], w, b);
    store<kHidden>(out + by_token, v);
  }
}

// BRD: bias, ReLU, dropout, by features: a thread has a token of eight features.
extern "C" __global__ void __launch_bounds__(128) brd(const __half* x, const __half* bias, __half* biased, __half* out, __half* mask,
                                                      float probability, uint64_t seed) {
  const int feature = blockIdx.y * kVector;
  const int64_t at = static_cast<int64_t>(feature) * kTokens + blockIdx.x * 128 + threadIdx.x;
  Floats v = load<kTokens>(x + at);
  const Floats b = load<1>(bias + feature);
#pragma unroll
  for (int i = 0; i < kVector; ++i) v.at[i] += b.at[i];
  store<kTokens>(biased + at, v);
  Random random(seed, (blockIdx.y * gridDim.x + blockIdx.x) * 128 + threadIdx.x, 0);
#pragma unroll
  for (int i = 0; i < kVector; ++i) v.at[i] = fmaxf(v.at[i], 0);
  Floats kept;
  store<kTokens>(out + at, drop(v, random, probability, kept));
  store<kTokens>(mask + at, kept);
}

// BSB: gradients of a layer normalisation's weight and bias, and what goes on to its input. A warp has a feature.
extern "C" __global__ void bsb(const __half* normed, const __half* weight, const __half* gradient, __half* out, __half* of_weight,
                               __half* of_bias) {
  const float w = __half2float(weight[blockIdx.x]);
  float scale = 0, shift = 0;
#pragma unroll
  for (int token = threadIdx.x * kVector; token < kTokens; token += kWarp * kVector) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * kTokens + token;
    const Floats g = load<1>(gradient + at);
    Floats on;
#pragma unroll
    for (int i = 0; i < kVector; ++i) on.at[i] = g.at[i] * w;
    store<1>(out + at, on);
    scale += total(times(g, load<1>(normed + at)));
    shift += total(g);
  }
  scale = warp_sum(scale);
  shift = warp_sum(shift);
  of_weight[blockIdx.x] = __float2half_rn(scale);
  of_bias[blockIdx.x] = __float2half_rn(shift);
}

// EBSB: the same behind the sum of a residual connection's gradients, and the gradient of the second bias of the feed-forward part.
extern "C" __global__ void ebsb(const __half* normed, const __half* weight, const __half* first, const __half* second,
                                const __half* of_linear, __half* out, __half* of_weight, __half* of_bias, __half* of_linear_bias) {
  float linear = 0;
#pragma unroll
  for (int token = threadIdx.x * kVector; token < kTokens; token += kWarp * kVector)
    linear += total(load<1>(of_linear + static_cast<int64_t>(blockIdx.x) * kTokens + token));
  of_linear_bias[blockIdx.x] = __float2half_rn(warp_sum(linear));
  const float w = __half2float(weight[blockIdx.x]);
  float scale = 0, shift = 0;
#pragma unroll
  for (int token = threadIdx.x * kVector; token < kTokens; token += kWarp * kVector) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * kTokens + token;
    Floats g = load<1>(first + at);
    const Floats more = load<1>(second + at);
    Floats on;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      g.at[i] += more.at[i];
      on.at[i] = g.at[i] * w;
    }
    store<1>(out + at, on);
    scale += total(times(g, load<1>(normed + at)));
    shift += total(g);
  }
  scale = warp_sum(scale);
  shift = warp_sum(shift);
  of_weight[blockIdx.x] = __float2half_rn(scale);
  of_bias[blockIdx.x] = __float2half_rn(shift);
}

// BLNRD: gradients of a layer normalisation's input and of the dropout in front of it. Deviations and mask by tokens, all else by
// features.
extern "C" __global__ void blnrd(const __half* gradient, const __half* rstd, const __half* deviation, const __half* mask, __half* out,
                                 __half* dropped) {
  const int token = own_tokens();
  Floats sum = {}, along = {};
#pragma unroll
  for (int feature = threadIdx.x; feature < kHidden; feature += kWarp) {
    const Floats g = load<1>(gradient + static_cast<int64_t>(feature) * kTokens + token);
    const Floats d = load<kHidden>(deviation + static_cast<int64_t>(token) * kHidden + feature);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      sum.at[i] += g.at[i];
      along.at[i] = fmaf(g.at[i], d.at[i], along.at[i]);
    }
  }
  const Floats scale = load<1>(rstd + token);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    sum.at[i] = warp_sum(sum.at[i]) * scale.at[i] / kHidden;
    along.at[i] = warp_sum(along.at[i]) * scale.at[i] * scale.at[i] * scale.at[i] / kHidden;
  }
#pragma unroll
  for (int feature = threadIdx.x; feature < kHidden; feature += kWarp) {
    const int64_t by_token = static_cast<int64_t>(token) * kHidden + feature, by_feature = static_cast<int64_t>(feature) * kTokens + token;
    const Floats g = load<1>(gradient + by_feature), d = load<kHidden>(deviation + by_token);
    Floats v;
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] = g.at[i] * scale.at[i] - sum.at[i] - d.at[i] * along.at[i];
    store<1>(out + by_feature, v);
    store<1>(dropped + by_feature, times(load<kHidden>(mask + by_token), v));
  }
}

// BDRB: gradients through dropout and ReLU, and of the bias in front of them. A warp has a feature.
extern "C" __global__ void bdrb(const __half* gradient, const __half* mask, const __half* biased, __half* out, __half* of_bias) {
  float sum = 0;
#pragma unroll
  for (int token = threadIdx.x * kVector; token < kTokens; token += kWarp * kVector) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * kTokens + token;
    Floats v = times(load<1>(gradient + at), load<1>(mask + at));
    const Floats b = load<1>(biased + at);
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] = b.at[i] > 0 ? v.at[i] : 0;
    sum += total(v);
    store<1>(out + at, v);
  }
  of_bias[blockIdx.x] = __float2half_rn(warp_sum(sum));
}

// BS: gradients through dropout, softmax and scale of a row of 512.
extern "C" __global__ void bs(const __half* probability, const __half* mask, const __half* gradient, __half* out) {
  constexpr int kSteps = kSequence / (kWarp * kVector);
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kSequence + threadIdx.x * kVector;
  float along = 0;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int64_t at = row + step * kWarp * kVector;
    const Floats v = times(load<1>(mask + at), load<1>(gradient + at));
    store<1>(out + at, v);
    along += total(times(v, load<1>(probability + at)));
  }
  along = warp_sum(along);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int64_t at = row + step * kWarp * kVector;
    Floats v = load<1>(out + at);
#pragma unroll
    for (int i = 0; i < kVector; ++i) v.at[i] -= along;
    store<1>(out + at, times(load<1>(probability + at), v));
  }
}

// BAOB and BAIB: gradients of biases, by features: a warp has a feature, a lane a token of every batch.
namespace {
__device__ __forceinline__ void bias_gradient(const __half* gradient, __half* of_bias, int feature) {
  float sum = 0;
#pragma unroll
  for (int token = threadIdx.x; token < kSequence; token += kWarp)
    sum += total(load<kSequence>(gradient + static_cast<int64_t>(feature) * kTokens + token));
  of_bias[feature] = __float2half_rn(warp_sum(sum));
}
}  // namespace
extern "C" __global__ void baob(const __half* gradient, __half* of_bias) { bias_gradient(gradient, of_bias, blockIdx.x); }
extern "C" __global__ void baib(const __half* gradient, __half* of_bias, int features) {
#pragma unroll
  for (int part = 0; part < 3; ++part) bias_gradient(gradient, of_bias, part * features + blockIdx.x);
}

// BEI: the sum of the gradients of the layer's input, by tokens, into one by features.
extern "C" __global__ void __launch_bounds__(128) bei(const __half* x, const __half* residual, __half* out) {
  const int token = blockIdx.x * 128 + threadIdx.x, feature = blockIdx.y * kVector;
  const int64_t at = static_cast<int64_t>(token) * kHidden + feature;
  Floats v = load<1>(x + at);
  const Floats r = load<1>(residual + at);
#pragma unroll
  for (int i = 0; i < kVector; ++i) v.at[i] += r.at[i];
  store<kTokens>(out + static_cast<int64_t>(feature) * kTokens + token, v);
}
