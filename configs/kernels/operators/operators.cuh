// What the operators share: 16-byte vectors of FP32, BF16 and FP16, reductions over a row, Philox. Arithmetic is in FP32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace operators {

using bf16 = __nv_bfloat16;
using fp16 = __half;
using fp32 = float;

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;

template <typename T>
constexpr int kElements = 16 / sizeof(T);  // of a vector

// The 16 bytes of a vector as the memory has them: half the registers of its FP32 values for 16-bit types.
template <typename T>
struct alignas(16) Vector {
  uint4 bits;
};

template <typename T>
struct Values {
  float at[kElements<T>];
};

__device__ __forceinline__ Values<float> values(const Vector<float>& v) {
  return {{__uint_as_float(v.bits.x), __uint_as_float(v.bits.y), __uint_as_float(v.bits.z), __uint_as_float(v.bits.w)}};
}
__device__ __forceinline__ Values<bf16> values(const Vector<bf16>& v) {
  const unsigned word[4] = {v.bits.x, v.bits.y, v.bits.z, v.bits.w};
  Values<bf16> result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    result.at[2 * i] = __uint_as_float(word[i] << 16);
    result.at[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000);
  }
  return result;
}
__device__ __forceinline__ Values<fp16> values(const Vector<fp16>& v) {
  const unsigned word[4] = {v.bits.x, v.bits.y, v.bits.z, v.bits.w};
  Values<fp16> result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __half22float2(reinterpret_cast<const __half2&>(word[i]));
    result.at[2 * i] = pair.x;
    result.at[2 * i + 1] = pair.y;
  }
  return result;
}

__device__ __forceinline__ Vector<float> packed(const Values<float>& v) {
  return {make_uint4(__float_as_uint(v.at[0]), __float_as_uint(v.at[1]), __float_as_uint(v.at[2]), __float_as_uint(v.at[3]))};
}
__device__ __forceinline__ Vector<bf16> packed(const Values<bf16>& v) {
  unsigned word[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(v.at[2 * i], v.at[2 * i + 1]);
    word[i] = reinterpret_cast<const unsigned&>(pair);
  }
  return {make_uint4(word[0], word[1], word[2], word[3])};
}
__device__ __forceinline__ Vector<fp16> packed(const Values<fp16>& v) {
  unsigned word[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2 pair = __floats2half2_rn(v.at[2 * i], v.at[2 * i + 1]);
    word[i] = reinterpret_cast<const unsigned&>(pair);
  }
  return {make_uint4(word[0], word[1], word[2], word[3])};
}

template <typename T>
__device__ __forceinline__ Vector<T> load(const T* from) {
  return *reinterpret_cast<const Vector<T>*>(from);
}
template <typename T>
__device__ __forceinline__ void store(T* to, const Values<T>& what) {
  *reinterpret_cast<Vector<T>*>(to) = packed(what);
}

// The part of a row that a thread holds: `kVectors` vectors, `kThreads` apart, which work at a row.
template <typename T, int kThreads, int kVectors>
struct Held {
  Vector<T> vector[kVectors];

  __device__ __forceinline__ void load_row(const T* row, int columns) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = column_of(v);
      vector[v] = {make_uint4(0, 0, 0, 0)};
      if (column < columns) vector[v] = load(row + column);
    }
  }
  __device__ static __forceinline__ int column_of(int v) { return (v * kThreads + threadIdx.x) * kElements<T>; }
};

struct Sum {
  __device__ static __forceinline__ float of(float a, float b) { return a + b; }
  static constexpr float kNeutral = 0;
};
struct Largest {
  __device__ static __forceinline__ float of(float a, float b) { return fmaxf(a, b); }
  static constexpr float kNeutral = -3.4e38F;
};

template <typename Operation, int kLanes = kWarp>
__device__ __forceinline__ float over_warp(float value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) value = Operation::of(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}

// Over the threads of a row: a warp or a half, or a CTA by way of `partial`, which has a word a warp. Every thread gets the result.
template <typename Operation, int kThreads>
__device__ __forceinline__ float over_row(float value, float* partial) {
  constexpr int kWarps = kThreads > kWarp ? kThreads / kWarp : 1;
  value = over_warp < Operation, kThreads<kWarp ? kThreads : kWarp>(value);
  if (kThreads <= kWarp) return value;
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = partial[threadIdx.x % kWarps];
#pragma unroll
  for (int step = kWarps / 2; step > 0; step /= 2) value = Operation::of(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}

// The row of a thread: its warp's or half's, one of blockDim.y, or its CTA's.
template <int kThreads>
__device__ __forceinline__ int row_of_thread() {
  return kThreads <= kWarp ? blockIdx.x * blockDim.y + threadIdx.y : blockIdx.x;
}

struct MaximumAndSum {
  float largest = Largest::kNeutral;
  float total = 0;
};

// Of a row, a vector a thread at a time.
template <typename T, int kThreads>
__device__ __forceinline__ MaximumAndSum online(const T* row, int columns, float (*partial)[kWarp]) {
  MaximumAndSum own;
#pragma unroll 2
  for (int column = threadIdx.x * kElements<T>; column < columns; column += kThreads * kElements<T>) {
    const Values<T> a = values(load(row + column));
    float largest = own.largest;
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) largest = fmaxf(largest, a.at[i]);
    own.total *= __expf(own.largest - largest);
    own.largest = largest;
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) own.total += __expf(a.at[i] - largest);
  }
  const float largest = over_row<Largest, kThreads>(own.largest, partial[0]);
  own.total = over_row<Sum, kThreads>(own.total * __expf(own.largest - largest), partial[1]);
  own.largest = largest;
  return own;
}

// Four random words of Philox-4x32 for the counter `c`.
template <int kRounds>
__device__ __forceinline__ uint4 philox(uint4 c, uint64_t seed) {
  uint2 key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(0xD2511F53U) * c.x;
    const uint64_t p1 = static_cast<uint64_t>(0xCD9E8D57U) * c.z;
    c = make_uint4(static_cast<unsigned>(p1 >> 32) ^ c.y ^ key.x, static_cast<unsigned>(p1),
                   static_cast<unsigned>(p0 >> 32) ^ c.w ^ key.y, static_cast<unsigned>(p0));
    key.x += 0x9E3779B9U;
    key.y += 0xBB67AE85U;
  }
  return c;
}

// A bit an element of a vector: a byte of random words each, kept below `threshold`.
template <typename T>
__device__ __forceinline__ unsigned keep_bits(uint64_t vector, uint64_t seed, unsigned threshold) {
  const uint4 random = philox<7>(make_uint4(static_cast<unsigned>(vector), static_cast<unsigned>(vector >> 32), 0, 0), seed);
  const unsigned word[4] = {random.x, random.y, random.z, random.w};
  unsigned keep = 0;
#pragma unroll
  for (int i = 0; i < kElements<T>; ++i) {
    const unsigned draw = (word[i / 2] >> (i % 2 * 16)) & 0xffff;
    keep |= (draw < threshold ? 1U : 0U) << i;
  }
  return keep;
}

}  // namespace operators
