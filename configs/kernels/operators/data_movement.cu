// The fused kernels of Ivanov et al., "Data Movement Is All You Need" (arXiv 2007.00072), after their published code (spcl/substation,
// pytorch_module/block_*.cuh): threads, vectors and arrays are those of the first layouts that it has for BERT-large, batch 8 of 512
// tokens (layouts-bert-b8-l512-h16-e1024.pickle of 22 July 2020, three weeks after the paper). Tensors are FP16, masks too. A reduction is
// a warp's, which is a CTA by itself. Sizes are constants of their code, here too, so that loops are unrolled.
//
// Layouts have the letters of the paper, the outermost dimension first: b batch, j token, i hidden, u feed-forward. Where neither a warp's
// lanes nor a vector run along the innermost dimension, an access takes a sector of 32 bytes for each element.
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

// Elements from one to the next of each dimension.
struct Ibj {
  static constexpr int i = kTokens, b = kSequence, j = 1;
};
struct Ijb {
  static constexpr int i = kTokens, b = 1, j = kBatch;
};
struct Jbi {
  static constexpr int i = 1, b = kHidden, j = kBatch * kHidden;
};
struct Bji {
  static constexpr int i = 1, b = kSequence * kHidden, j = kHidden;
};
template <typename Layout>
__device__ __forceinline__ int place(int i, int b, int j) {
  return i * Layout::i + b * Layout::b + j * Layout::j;
}
// A pointer that the compiler knows nothing of: it would put sums of constants and strides into a constant bank that a listing lacks.
template <typename T>
__device__ __forceinline__ T* plain(T* pointer) {
  asm("" : "+l"(pointer));
  return pointer;
}

}  // namespace

// AIB: biases of keys, values and queries: features, then tokens as IBJ has them. 64 threads with a vector of each.
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

// BDRLN: bias, dropout, residual, layer normalisation. A warp has a token, vectors run along the features. Input, biased input, normalised
// result and deviations are BJI, mask and result JBI, the residual IBJ.
extern "C" __global__ void bdrln(const __half* x, const __half* input_bias, __half* biased, __half* mask, const __half* residual,
                                 const __half* weight, const __half* bias, __half* out, __half* normed, __half* deviation, __half* rstd,
                                 float probability, uint64_t seed) {
  const int batch = blockIdx.x, token = blockIdx.y, first = threadIdx.x * kVector;
  x = plain(x + place<Bji>(first, batch, token));
  biased = plain(biased + place<Bji>(first, batch, token));
  deviation = plain(deviation + place<Bji>(first, batch, token));
  normed = plain(normed + place<Bji>(first, batch, token));
  mask = plain(mask + place<Jbi>(first, batch, token));
  out = plain(out + place<Jbi>(first, batch, token));
  residual = plain(residual + place<Ibj>(first, batch, token));
  input_bias = plain(input_bias + first);
  weight = plain(weight + first);
  bias = plain(bias + first);
  Random random(seed, (blockIdx.y * gridDim.x + blockIdx.x) * kWarp + threadIdx.x, 0);
  float sum = 0, squares = 0;
#pragma unroll
  for (int i = 0; i < kHidden; i += kWarp * kVector) {
    Floats v = load<1>(x + i);
    const Floats b = load<1>(input_bias + i);
#pragma unroll
    for (int e = 0; e < kVector; ++e) v.at[e] += b.at[e];
    store<1>(biased + i, v);
    Floats kept;
    v = drop(v, random, probability, kept);
    store<1>(mask + i, kept);
    const Floats r = load<Ibj::i>(residual + i * Ibj::i);
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      v.at[e] += r.at[e];
      sum += v.at[e];
      squares = fmaf(v.at[e], v.at[e], squares);
    }
    store<1>(out + i, v);
  }
  const float mean = warp_sum(sum) / kHidden;
  const float scale = rsqrtf(warp_sum(squares) / kHidden - mean * mean + 1e-5F);
  rstd[batch * kSequence + token] = __float2half_rn(scale);
#pragma unroll
  for (int i = 0; i < kHidden; i += kWarp * kVector) {
    Floats v = load<1>(out + i);
#pragma unroll
    for (int e = 0; e < kVector; ++e) v.at[e] -= mean;
    store<1>(deviation + i, v);
#pragma unroll
    for (int e = 0; e < kVector; ++e) v.at[e] *= scale;
    store<1>(normed + i, v);
    const Floats w = load<1>(weight + i), b = load<1>(bias + i);
#pragma unroll
    for (int e = 0; e < kVector; ++e) v.at[e] = fmaf(v.at[e], w.at[e], b.at[e]);
    store<1>(out + i, v);
  }
}

// BRD: bias, ReLU, dropout. All arrays are UJB, vectors run along the batch, threads along the tokens.
extern "C" __global__ void __launch_bounds__(128) brd(const __half* x, const __half* bias, __half* biased, __half* out, __half* mask,
                                                      float probability, uint64_t seed) {
  const int at = place<Ijb>(blockIdx.y, 0, blockIdx.x * 128 + threadIdx.x);
  Floats v = load<1>(x + at);
  const float b = __half2float(bias[blockIdx.y]);
#pragma unroll
  for (int e = 0; e < kVector; ++e) v.at[e] += b;
  store<1>(biased + at, v);
  Random random(seed, (blockIdx.y * gridDim.x + blockIdx.x) * 128 + threadIdx.x, 0);
#pragma unroll
  for (int e = 0; e < kVector; ++e) v.at[e] = fmaxf(v.at[e], 0);
  Floats kept;
  store<1>(out + at, drop(v, random, probability, kept));
  store<1>(mask + at, kept);
}

// BSB: gradients of a layer normalisation's weight and bias, and what goes on to its input. A warp has a feature, vectors and lanes run
// along the tokens. The normalised rows are JBI, both gradients IBJ.
extern "C" __global__ void bsb(const __half* normed, const __half* weight, const __half* gradient, __half* out, __half* of_weight,
                               __half* of_bias) {
  const float w = __half2float(weight[blockIdx.x]);
  float scale = 0, shift = 0;
#pragma unroll
  for (int batch = 0; batch < kBatch; ++batch) {
#pragma unroll
    for (int token = threadIdx.x * kVector; token < kSequence; token += kWarp * kVector) {
      const Floats g = load<1>(gradient + place<Ibj>(blockIdx.x, batch, token));
      Floats on;
#pragma unroll
      for (int e = 0; e < kVector; ++e) on.at[e] = g.at[e] * w;
      store<1>(out + place<Ibj>(blockIdx.x, batch, token), on);
      scale += total(times(g, load<Jbi::j>(normed + place<Jbi>(blockIdx.x, batch, token))));
      shift += total(g);
    }
  }
  scale = warp_sum(scale);
  shift = warp_sum(shift);
  of_weight[blockIdx.x] = __float2half_rn(scale);
  of_bias[blockIdx.x] = __float2half_rn(shift);
}

// EBSB: the same behind the sum of a residual connection's gradients, and the gradient of the second bias of the feed-forward part. Vectors
// run along the batch, lanes along the tokens. Normalised rows BJI, gradients IBJ, IJB and JBI, the result IBJ.
extern "C" __global__ void ebsb(const __half* normed, const __half* weight, const __half* first, const __half* second,
                                const __half* of_linear, __half* out, __half* of_weight, __half* of_bias, __half* of_linear_bias) {
  const int own = threadIdx.x;
  of_linear = plain(of_linear + place<Jbi>(blockIdx.x, 0, own));
  first = plain(first + place<Ibj>(blockIdx.x, 0, own));
  second = plain(second + place<Ijb>(blockIdx.x, 0, own));
  normed = plain(normed + place<Bji>(blockIdx.x, 0, own));
  out = plain(out + place<Ibj>(blockIdx.x, 0, own));
  float linear = 0;
#pragma unroll
  for (int token = 0; token < kSequence; token += kWarp)
    linear += total(load<Jbi::b>(of_linear + token * Jbi::j));
  of_linear_bias[blockIdx.x] = __float2half_rn(warp_sum(linear));
  const float w = __half2float(weight[blockIdx.x]);
  float scale = 0, shift = 0;
#pragma unroll
  for (int token = 0; token < kSequence; token += kWarp) {
    Floats g = load<Ibj::b>(first + token * Ibj::j);
    const Floats more = load<1>(second + token * Ijb::j);
    Floats on;
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      g.at[e] += more.at[e];
      on.at[e] = g.at[e] * w;
    }
    store<Ibj::b>(out + token * Ibj::j, on);
    scale += total(times(g, load<Bji::b>(normed + token * Bji::j)));
    shift += total(g);
  }
  scale = warp_sum(scale);
  shift = warp_sum(shift);
  of_weight[blockIdx.x] = __float2half_rn(scale);
  of_bias[blockIdx.x] = __float2half_rn(shift);
}

// BLNRD: gradients of a layer normalisation's input and of the dropout in front of it. A warp has eight tokens of a sequence, a vector, and
// lanes run along the features. Gradient and result are IBJ, deviations, mask and the gradient behind dropout JBI.
extern "C" __global__ void blnrd(const __half* gradient, const __half* rstd, const __half* deviation, const __half* mask, __half* out,
                                 __half* dropped) {
  const int batch = blockIdx.x, token = blockIdx.y * kVector, own = threadIdx.x;
  gradient = plain(gradient + place<Ibj>(own, batch, token));
  out = plain(out + place<Ibj>(own, batch, token));
  deviation = plain(deviation + place<Jbi>(own, batch, token));
  mask = plain(mask + place<Jbi>(own, batch, token));
  dropped = plain(dropped + place<Jbi>(own, batch, token));
  Floats sum = {}, along = {};
#pragma unroll
  for (int i = 0; i < kHidden; i += kWarp) {
    const Floats g = load<1>(gradient + i * Ibj::i), d = load<Jbi::j>(deviation + i);
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      sum.at[e] += g.at[e];
      along.at[e] = fmaf(g.at[e], d.at[e], along.at[e]);
    }
  }
  const Floats scale = load<kBatch>(rstd + token * kBatch + batch);
#pragma unroll
  for (int e = 0; e < kVector; ++e) {
    sum.at[e] = warp_sum(sum.at[e]) * scale.at[e] / kHidden;
    along.at[e] = warp_sum(along.at[e]) * scale.at[e] * scale.at[e] * scale.at[e] / kHidden;
  }
#pragma unroll
  for (int i = 0; i < kHidden; i += kWarp) {
    const Floats g = load<1>(gradient + i * Ibj::i), d = load<Jbi::j>(deviation + i);
    Floats v;
#pragma unroll
    for (int e = 0; e < kVector; ++e) v.at[e] = g.at[e] * scale.at[e] - sum.at[e] - d.at[e] * along.at[e];
    store<1>(out + i * Ibj::i, v);
    store<Jbi::j>(dropped + i, times(load<Jbi::j>(mask + i), v));
  }
}

// BDRB: gradients through dropout and ReLU, and of the bias in front of them. A warp has a feature; all arrays are UJB, vectors run along
// the batch, lanes along the tokens.
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

// BAOB and BAIB: gradients of biases, IBJ. A warp has a feature, vectors run along the batch, lanes along the tokens.
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

// BEI: the sum of the gradients of the layer's input, of which one is BJI, the other and the result IBJ. Vectors run along the features,
// threads along the tokens.
extern "C" __global__ void __launch_bounds__(128) bei(const __half* x, const __half* residual, __half* out) {
  const int batch = blockIdx.x, token = blockIdx.y * 128 + threadIdx.x, i = blockIdx.z * kVector;
  Floats v = load<1>(x + place<Bji>(i, batch, token));
  const Floats r = load<Ibj::i>(residual + place<Ibj>(i, batch, token));
#pragma unroll
  for (int e = 0; e < kVector; ++e) v.at[e] += r.at[e];
  store<Ibj::i>(out + place<Ibj>(i, batch, token), v);
}
