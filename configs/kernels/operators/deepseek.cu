// Kernels of DeepSeek's training step on H800s, in the shapes that its published profile shows (deepseek-ai/profile-data @4496024,
// train.json): grids, blocks, shared memory and element types come from launches and template arguments. The profile does not show
// the loops, so their form is assumed:
//   cast_tokens, swiglu_cast_tokens   a CTA a token; a warp takes 128 channels at a time, 4 of a lane, and finds their scale
//   cast_channels                     tiles of 128 x 128 through shared memory, a scale for each column of a tile
//   transpose_bytes, transpose_words  tiles of 128 x 128 through shared memory, with one word of padding a row
//   norm_rows                         a CTA keeps a row in registers and takes every gridDim.x-th row, as
//   Dao-AILab/flash-attention's
//                                     csrc/layer_norm does: statistics in two passes over the registers, then the result
//
//   nvcc -O3 -std=c++17 -arch=sm_89 -cubin -o deepseek.cubin deepseek.cu
//   nvdisasm -c -hex deepseek.cubin | tr -s " " > deepseek_sm_89.sass
#include <cuda_fp8.h>

#include "operators.cuh"

namespace operators {

constexpr float kLargestFp8 = 448;  // of E4M3 (OCP OFP8 1.0)
constexpr int kGroup = 128;  // channels of a scale
constexpr int kTile = 128;  // rows and columns of a transposed tile: the kernels' template arguments

// The kind of FP8 is an argument of DeepSeek's kernels, and so are the least scale and whether scales are powers of two.
__device__ __forceinline__ unsigned fp8_of(float a, float b, float c, float d, __nv_fp8_interpretation_t kind) {
  const unsigned low = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, kind);
  const unsigned high = __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, kind);
  return low | high << 16;
}

__device__ __forceinline__ float scale_of(float largest, bool powers, float least) {
  const float scale = fmaxf(largest, least) / kLargestFp8;
  return powers ? exp2f(ceilf(log2f(scale))) : scale;
}

__device__ __forceinline__ float4 floats_of(uint2 bits) {
  return make_float4(__uint_as_float(bits.x << 16), __uint_as_float(bits.x & 0xffff0000), __uint_as_float(bits.y << 16),
                     __uint_as_float(bits.y & 0xffff0000));
}

// Casts 128 channels, 4 of each lane.
__device__ __forceinline__ void cast_group(float4 a, unsigned* out, float* scale_out, bool powers, float least,
                                           __nv_fp8_interpretation_t kind) {
  const float largest = over_warp<Largest>(fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(a.z), fabsf(a.w))));
  const float scale = scale_of(largest, powers, least);
  *out = fp8_of(a.x / scale, a.y / scale, a.z / scale, a.w / scale, kind);
  if (threadIdx.x % kWarp == 0) *scale_out = scale;
}

}  // namespace operators

using namespace operators;

extern "C" __global__ void __launch_bounds__(128)
    cast_tokens(const bf16* x, uint8_t* out, float* scales, int rows, int columns, int powers, float least, int kind) {
  const int64_t row = blockIdx.x;
  const int lane = threadIdx.x % kWarp;
#pragma unroll 1
  for (int group = threadIdx.x / kWarp; group < columns / kGroup; group += 4) {
    const int64_t at = row * columns + group * kGroup + lane * 4;
    const float4 a = floats_of(*reinterpret_cast<const uint2*>(x + at));
    cast_group(a, reinterpret_cast<unsigned*>(out + at), scales + static_cast<int64_t>(group) * rows + row, powers != 0, least,
               static_cast<__nv_fp8_interpretation_t>(kind));
  }
}

// A row of x has gates, then as many values.
extern "C" __global__ void __launch_bounds__(128)
    swiglu_cast_tokens(const bf16* x, uint8_t* out, float* scales, int rows, int columns, int powers, float least, int kind) {
  const int64_t row = blockIdx.x;
  const int lane = threadIdx.x % kWarp, half = columns / 2;
#pragma unroll 1
  for (int group = threadIdx.x / kWarp; group < half / kGroup; group += 4) {
    const int64_t at = row * columns + group * kGroup + lane * 4;
    const float4 gate = floats_of(*reinterpret_cast<const uint2*>(x + at));
    const float4 value = floats_of(*reinterpret_cast<const uint2*>(x + at + half));
    const auto swiglu = [](float g, float v) { return g / (1 + expf(-g)) * v; };
    const float4 a =
        make_float4(swiglu(gate.x, value.x), swiglu(gate.y, value.y), swiglu(gate.z, value.z), swiglu(gate.w, value.w));
    cast_group(a, reinterpret_cast<unsigned*>(out + row * half + group * kGroup + lane * 4),
               scales + static_cast<int64_t>(group) * rows + row, powers != 0, least, static_cast<__nv_fp8_interpretation_t>(kind));
  }
}

// 256 threads: to load, 16 across the 128 columns of a tile and 16 down it; then a thread has two columns and 32 rows. Its four
// rows of threads start 4 rows apart, so that their words lie in different banks (4 x 66 words of pitch: 8 banks).
extern "C" __global__ void __launch_bounds__(256)
    cast_channels(const bf16* x, uint8_t* out, float* scales, int rows, int columns, int powers, float least, int kind) {
  constexpr int kPitch = kTile + 4, kWords = kPitch / 2, kPart = 32;
  __shared__ bf16 tile[kTile * kPitch];
  const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kTile, column0 = static_cast<int64_t>(blockIdx.x) * kTile;
  const int across = threadIdx.x % 16 * 8, down = threadIdx.x / 16;
#pragma unroll
  for (int y = 0; y < kTile; y += 16) {
    const Vector<bf16> v = load(x + (row0 + down + y) * columns + column0 + across);
    uint2* to = reinterpret_cast<uint2*>(tile + (down + y) * kPitch + across);
    to[0] = make_uint2(v.bits.x, v.bits.y);
    to[1] = make_uint2(v.bits.z, v.bits.w);
  }
  __syncthreads();
  const int lane = threadIdx.x % kWarp, part = lane / 8, pair = threadIdx.x / kWarp * 8 + lane % 8;
  const unsigned* words = reinterpret_cast<const unsigned*>(tile) + part * kPart * kWords + pair;
  float low = 0, high = 0;
#pragma unroll 8
  for (int y = 0; y < kPart; ++y) {
    const unsigned word = words[((y + 4 * part) % kPart) * kWords];
    low = fmaxf(low, fabsf(__uint_as_float(word << 16)));
    high = fmaxf(high, fabsf(__uint_as_float(word & 0xffff0000)));
  }
#pragma unroll
  for (int step = 8; step < kWarp; step *= 2) {
    low = fmaxf(low, __shfl_xor_sync(kAllLanes, low, step));
    high = fmaxf(high, __shfl_xor_sync(kAllLanes, high, step));
  }
  const float of_low_rows = scale_of(low, powers != 0, least), of_high_rows = scale_of(high, powers != 0, least);
  const int64_t column = column0 + 2 * pair;
  if (part == 0)
    *reinterpret_cast<float2*>(scales + blockIdx.y * static_cast<int64_t>(columns) + column) =
        make_float2(of_low_rows, of_high_rows);
#pragma unroll
  for (int y = 0; y < kPart; y += 16) {
    unsigned of_low[4], of_high[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      float a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const unsigned word = words[(y + w * 4 + i) * kWords];
        a[i] = __uint_as_float(word << 16) / of_low_rows;
        b[i] = __uint_as_float(word & 0xffff0000) / of_high_rows;
      }
      of_low[w] = fp8_of(a[0], a[1], a[2], a[3], static_cast<__nv_fp8_interpretation_t>(kind));
      of_high[w] = fp8_of(b[0], b[1], b[2], b[3], static_cast<__nv_fp8_interpretation_t>(kind));
    }
    uint8_t* to = out + column * rows + row0 + part * kPart + y;
    *reinterpret_cast<uint4*>(to) = make_uint4(of_low[0], of_low[1], of_low[2], of_low[3]);
    *reinterpret_cast<uint4*>(to + rows) = make_uint4(of_high[0], of_high[1], of_high[2], of_high[3]);
  }
}

// A row of tiles of x[128, columns] in bytes. Each thread transposes 4 x 4 bytes in registers: its four words come from four rows,
// in an order that puts the lanes' words into different banks (a pitch of 33 words).
extern "C" __global__ void __launch_bounds__(512) transpose_bytes(const uint8_t* x, uint8_t* out, int rows, int columns) {
  constexpr int kWords = kTile / 4 + 1;
  __shared__ unsigned tile[kTile * kWords];
  const int64_t column0 = static_cast<int64_t>(blockIdx.x) * kTile;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
#pragma unroll
  for (int y = 0; y < kTile; y += 16)
    tile[(warp + y) * kWords + lane] =
        *reinterpret_cast<const unsigned*>(x + static_cast<int64_t>(warp + y) * columns + column0 + lane * 4);
  __syncthreads();
  const int turn = lane / 8;
#pragma unroll
  for (int w = warp; w < kTile / 4; w += 16) {
    unsigned read[4], turned[4], word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) read[i] = tile[(lane * 4 + (i + turn) % 4) * kWords + w];
#pragma unroll
    for (int i = 0; i < 4; ++i) turned[i] = turn % 2 == 0 ? read[i] : read[(i + 3) % 4];
#pragma unroll
    for (int i = 0; i < 4; ++i) word[i] = turn < 2 ? turned[i] : turned[(i + 2) % 4];
    const unsigned low01 = __byte_perm(word[0], word[1], 0x5140), high01 = __byte_perm(word[0], word[1], 0x7362);
    const unsigned low23 = __byte_perm(word[2], word[3], 0x5140), high23 = __byte_perm(word[2], word[3], 0x7362);
    unsigned* to = reinterpret_cast<unsigned*>(out + (column0 + w * 4) * rows) + lane;
    to[0] = __byte_perm(low01, low23, 0x5410);
    to[rows / 4] = __byte_perm(low01, low23, 0x7632);
    to[rows / 2] = __byte_perm(high01, high23, 0x5410);
    to[rows / 4 * 3] = __byte_perm(high01, high23, 0x7632);
  }
}

// Words of x[rows, columns], tiles of 128 x 128 in the order of rows.
extern "C" __global__ void __launch_bounds__(512) transpose_words(const unsigned* x, unsigned* out, int rows, int columns) {
  constexpr int kPitch = kTile + 4;
  extern __shared__ unsigned tile_of_words[];
  const int64_t row0 = static_cast<int64_t>(blockIdx.x) * kTile;
  const int across = threadIdx.x % 32 * 4, down = threadIdx.x / 32;
#pragma unroll
  for (int y = down; y < kTile; y += 16)
    *reinterpret_cast<uint4*>(tile_of_words + y * kPitch + across) =
        *reinterpret_cast<const uint4*>(x + (row0 + y) * columns + across);
  __syncthreads();
#pragma unroll
  for (int y = down; y < kTile; y += 16) {
    uint4 v;
    v.x = tile_of_words[(across + 0) * kPitch + y];
    v.y = tile_of_words[(across + 1) * kPitch + y];
    v.z = tile_of_words[(across + 2) * kPitch + y];
    v.w = tile_of_words[(across + 3) * kPitch + y];
    *reinterpret_cast<uint4*>(out + static_cast<int64_t>(y) * rows + row0 + across) = v;
  }
}

// With `add`, x + residual is stored and normalised. Each vector is loaded, tested for a residual, and stored before the next one,
// as in the published source, so that up to 14 loads of a row follow each other.
extern "C" __global__ void __launch_bounds__(128) norm_rows_7168(const bf16* x, const bf16* residual, const bf16* weight,
                                                                 bf16* sum_out, bf16* out, float* scales, int rows, int add) {
  constexpr int kThreads = 128, kVectors = 7, kColumns = kThreads * kVectors * 8;
  __shared__ float partial[2][kWarp];
  Vector<bf16> of_weight[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) of_weight[v] = load(weight + (v * kThreads + threadIdx.x) * 8);
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t begin = static_cast<int64_t>(row) * kColumns;
    float held[kVectors][8];
    float sum = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = begin + (v * kThreads + threadIdx.x) * 8;
      Values<bf16> a = values(load(x + at));
      if (add != 0) {
        const Values<bf16> b = values(load(residual + at));
#pragma unroll
        for (int i = 0; i < 8; ++i) a.at[i] += b.at[i];
        store(sum_out + at, a);
      }
      asm volatile("" ::: "memory");  // the next vector's loads stay behind
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        held[v][i] = a.at[i];
        sum += a.at[i];
      }
    }
    const float mean = over_row<Sum, kThreads>(sum, partial[0]) * (1.0F / kColumns);
    float squares = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int i = 0; i < 8; ++i) squares += (held[v][i] - mean) * (held[v][i] - mean);
    }
    squares = over_row<Sum, kThreads>(squares, partial[1]) * (1.0F / kColumns);
    const float by = rsqrtf(squares + mean * mean + 1e-6F);
    if (threadIdx.x == 0) scales[row] = by;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Values<bf16> w = values(of_weight[v]);
      Values<bf16> result;
#pragma unroll
      for (int i = 0; i < 8; ++i) result.at[i] = held[v][i] * by * w.at[i];
      store(out + begin + (v * kThreads + threadIdx.x) * 8, result);
    }
    __syncthreads();
  }
}
