// Operators as an eager framework launches them one by one in 2020: the shapes of ATen's kernels of PyTorch 1.5, in FP16 with FP32
// sums (Loops.cuh, PersistentSoftmax.cuh, layer_norm_kernel.cu, Dropout.cu, CUDAApplyUtils.cuh, Reduce.cuh; quoted, not opened for
// this file).
//
//   maps            64 threads, four elements side by side of each array
//   bias            128 threads, four elements 128 apart, one after the other; their places by divisions of a general calculator
//   softmax         a warp a row of up to 1024, elements 32 apart in registers; four rows a CTA; its gradient behind a map, which
//                   multiplies the gradient by the result
//   dropout         as many CTAs of 256 threads as fit, four elements a thread for four words of Philox; a byte of mask an element,
//   by which a
//                   map multiplies its gradient
//   layer norm      512 threads a row for its moments, then 256 a row for the result; backward: the same, and a CTA for 32 columns
//   column sums     32 columns by 16 rows of threads, so many CTAs to a column that they fill the GPU once; the CTA that a counter
//   says
//                   is the last adds their sums, which is left out here
//
//   CUDA 12.4: nvcc -O3 -use_fast_math -std=c++17 -arch=sm_70 -cubin -o eager.cubin eager.cu
//   nvdisasm -c -hex eager.cubin | tr -s " " > eager_sm_70.sass
#include <cuda_fp16.h>

#include <cstdint>

#include "operators.cuh"

namespace {

constexpr int kWarp = 32;

struct alignas(8) Half4 {
  __half at[4];
};

template <typename Function>
__device__ __forceinline__ void map(const __half* x, __half* out, Function function) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * 64 + threadIdx.x) * 4;
  Half4 v = *reinterpret_cast<const Half4*>(x + at);
#pragma unroll
  for (int i = 0; i < 4; ++i) v.at[i] = __float2half_rn(function(__half2float(v.at[i])));
  *reinterpret_cast<Half4*>(out + at) = v;
}
template <typename Function>
__device__ __forceinline__ void map(const __half* x, const __half* y, __half* out, Function function) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * 64 + threadIdx.x) * 4;
  Half4 v = *reinterpret_cast<const Half4*>(x + at);
  const Half4 w = *reinterpret_cast<const Half4*>(y + at);
#pragma unroll
  for (int i = 0; i < 4; ++i) v.at[i] = __float2half_rn(function(__half2float(v.at[i]), __half2float(w.at[i])));
  *reinterpret_cast<Half4*>(out + at) = v;
}

struct Sum {
  __device__ static __forceinline__ float of(float a, float b) { return a + b; }
};
struct Largest {
  __device__ static __forceinline__ float of(float a, float b) { return fmaxf(a, b); }
};
template <typename Operation>
__device__ __forceinline__ float over_warp(float value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) value = Operation::of(value, __shfl_xor_sync(0xffffffff, value, step));
  return value;
}

// Of a CTA's threads, for its first warp.
__device__ __forceinline__ float over_cta(float value, float* partial, int warps) {
  value = over_warp<Sum>(value);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = threadIdx.x < warps ? partial[threadIdx.x] : 0;
  return threadIdx.x < kWarp ? over_warp<Sum>(value) : value;
}

}  // namespace

#define KERNEL(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)

KERNEL(64) eager_relu(const __half* x, __half* out) {
  map(x, out, [](float a) { return fmaxf(a, 0); });
}
KERNEL(64) eager_scale(const __half* x, __half* out, float factor) {
  map(x, out, [=](float a) { return a * factor; });
}
KERNEL(64) eager_add(const __half* x, const __half* y, __half* out) {
  map(x, y, out, [](float a, float b) { return a + b; });
}
KERNEL(64) eager_multiply(const __half* x, const __half* y, __half* out) {
  map(x, y, out, [](float a, float b) { return a * b; });
}
KERNEL(64) eager_relu_backward(const __half* gradient, const __half* x, __half* out) {
  map(gradient, x, out, [](float g, float a) { return a > 0 ? g : 0; });
}

// Where an element of each of three arrays is: sizes from the innermost dimension on, which multiplications divide by, and strides
// in bytes.
struct Places {
  struct Size {
    unsigned divisor, multiplier, shift;
  };
  int dimensions;
  Size size[4];
  unsigned stride[4][3];
};
KERNEL(128) eager_bias(char* out, const char* x, const char* bias, unsigned elements, Places places) {
  unsigned own = blockIdx.x * 512 + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (own < elements) {
      unsigned at[3] = {}, left = own;
#pragma unroll
      for (int d = 0; d < 4; ++d) {
        if (d == places.dimensions) break;
        const unsigned next = (__umulhi(left, places.size[d].multiplier) + left) >> places.size[d].shift;
        const unsigned within = left - next * places.size[d].divisor;
        left = next;
#pragma unroll
        for (int array = 0; array < 3; ++array) at[array] += within * places.stride[d][array];
      }
      const float sum =
          __half2float(*reinterpret_cast<const __half*>(x + at[1])) + __half2float(*reinterpret_cast<const __half*>(bias + at[2]));
      *reinterpret_cast<__half*>(out + at[0]) = __float2half_rn(sum);
      own += 128;
    }
  }
}

KERNEL(256) eager_dropout(const __half* x, __half* out, uint8_t* mask, unsigned elements, float keep, uint64_t seed) {
  const unsigned threads = gridDim.x * 256, own = blockIdx.x * 256 + threadIdx.x;
  const float scale = __fdividef(1.0F, keep);
  const unsigned rounded = (elements + 4 * threads - 1) / (4 * threads) * (4 * threads);
  uint64_t draw = 0;
#pragma unroll 1
  for (unsigned first = own; first < rounded; first += 4 * threads) {
    const uint4 random =
        operators::philox<10>(make_uint4(static_cast<unsigned>(draw), static_cast<unsigned>(draw >> 32), own, 0), seed);
    ++draw;
    const unsigned word[4] = {random.x, random.y, random.z, random.w};
    __half v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (first + i * threads < elements) v[i] = x[first + i * threads];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float kept = word[i] * 2.3283064e-10F < keep ? 1 : 0;
      if (first + i * threads < elements) {
        out[first + i * threads] = __float2half_rn(__half2float(v[i]) * kept * scale);
        mask[first + i * threads] = static_cast<uint8_t>(kept);
      }
    }
    __syncthreads();
  }
}
KERNEL(64) eager_dropout_backward(const __half* gradient, const uint8_t* mask, __half* out, float scale) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * 64 + threadIdx.x) * 4;
  Half4 v = *reinterpret_cast<const Half4*>(gradient + at);
  const uchar4 m = *reinterpret_cast<const uchar4*>(mask + at);
  const float kept[4] = {static_cast<float>(m.x), static_cast<float>(m.y), static_cast<float>(m.z), static_cast<float>(m.w)};
#pragma unroll
  for (int i = 0; i < 4; ++i) v.at[i] = __float2half_rn(kept[i] * __half2float(v.at[i]) * scale);
  *reinterpret_cast<Half4*>(out + at) = v;
}

// Rows of kElements times 32.
namespace {
template <int kElements>
__device__ __forceinline__ void softmax(const __half* x, __half* out, int rows, int columns) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) return;
  const int64_t at = static_cast<int64_t>(row) * columns + threadIdx.x;
  float v[kElements];
#pragma unroll
  for (int i = 0; i < kElements; ++i) v[i] = threadIdx.x + i * kWarp < columns ? __half2float(x[at + i * kWarp]) : -65504;
  float largest = v[0];
#pragma unroll
  for (int i = 1; i < kElements; ++i) largest = fmaxf(largest, v[i]);
  largest = over_warp<Largest>(largest);
  float total = 0;
#pragma unroll
  for (int i = 0; i < kElements; ++i) total += v[i] = __expf(v[i] - largest);
  total = over_warp<Sum>(total);
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    if (threadIdx.x + i * kWarp < columns) out[at + i * kWarp] = __float2half_rn(__fdividef(v[i], total));
  }
}
template <int kElements>
__device__ __forceinline__ void softmax_backward(const __half* gradient, const __half* y, __half* out, int rows, int columns) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) return;
  const int64_t at = static_cast<int64_t>(row) * columns + threadIdx.x;
  float g[kElements], p[kElements];
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    g[i] = p[i] = 0;
    if (threadIdx.x + i * kWarp < columns) {
      p[i] = __half2float(y[at + i * kWarp]);
      g[i] = __half2float(gradient[at + i * kWarp]);
    }
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < kElements; ++i) total += g[i];
  total = over_warp<Sum>(total);
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    if (threadIdx.x + i * kWarp < columns) out[at + i * kWarp] = __float2half_rn(g[i] - p[i] * total);
  }
}
}  // namespace
KERNEL(128) eager_softmax(const __half* x, __half* out, int rows, int columns) { softmax<16>(x, out, rows, columns); }
KERNEL(128) eager_softmax_backward(const __half* gradient, const __half* y, __half* out, int rows, int columns) {
  softmax_backward<16>(gradient, y, out, rows, columns);
}

KERNEL(512) eager_moments(const __half* x, float* mean, float* rstd, int columns, float epsilon) {
  __shared__ float partial[2][kWarp];
  float sum = 0, squares = 0;
  for (int column = threadIdx.x; column < columns; column += 512) {
    const float v = __half2float(x[static_cast<int64_t>(blockIdx.x) * columns + column]);
    sum += v;
    squares += v * v;
  }
  sum = over_cta(sum, partial[0], 16);
  squares = over_cta(squares, partial[1], 16);
  if (threadIdx.x == 0) {
    const float scale = __fdividef(1.0F, columns);
    sum *= scale;
    mean[blockIdx.x] = sum;
    rstd[blockIdx.x] = rsqrtf(fmaxf(squares * scale - sum * sum, 0) + epsilon);
  }
}
KERNEL(256)
eager_normalise(const __half* x, const float* mean, const float* rstd, const __half* weight, const __half* bias, __half* out,
                int columns) {
#pragma unroll 1
  for (int column = threadIdx.x; column < columns; column += 256) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * columns + column;
    out[at] = __float2half_rn((__half2float(x[at]) - mean[blockIdx.x]) * rstd[blockIdx.x] * __half2float(weight[column]) +
                              __half2float(bias[column]));
  }
}

KERNEL(512)
eager_gradient_sums(const __half* gradient, const __half* x, const __half* weight, float* with_x, float* alone, int columns) {
  __shared__ float partial[2][kWarp];
  float first = 0, second = 0;
  for (int column = threadIdx.x; column < columns; column += 512) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * columns + column;
    const float w = __half2float(weight[column]), g = __half2float(gradient[at]);
    first += g * __half2float(x[at]) * w;
    second += g * w;
  }
  first = over_cta(first, partial[0], 16);
  second = over_cta(second, partial[1], 16);
  if (threadIdx.x == 0) {
    with_x[blockIdx.x] = first;
    alone[blockIdx.x] = second;
  }
}
KERNEL(256)
eager_gradient_factors(const float* mean, const float* rstd, const float* with_x, const float* alone, float* of_x, float* rest,
                       int rows, int columns) {
  const int row = blockIdx.x * 256 + threadIdx.x;
  if (row >= rows) return;
  const float scale = __fdividef(1.0F, columns), r = rstd[row];
  const float factor = (alone[row] * mean[row] - with_x[row]) * r * r * r * scale;
  of_x[row] = factor;
  rest[row] = -(factor * mean[row] + alone[row] * r * scale);
}
KERNEL(256)
eager_normalise_backward(const __half* gradient, const __half* x, const __half* weight, const float* rstd, const float* of_x,
                         const float* rest, __half* out, int columns) {
#pragma unroll 1
  for (int column = threadIdx.x; column < columns; column += 256) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * columns + column;
    out[at] = __float2half_rn(rstd[blockIdx.x] * __half2float(gradient[at]) * __half2float(weight[column]) +
                              of_x[blockIdx.x] * __half2float(x[at]) + rest[blockIdx.x]);
  }
}
// Two rows at a time by 16 rows of threads, a CTA for 32 columns. Either gradient may be left out.
KERNEL(512)
eager_normalise_weight(const __half* gradient, const __half* x, const __half* mean, const __half* rstd, __half* of_weight,
                       __half* of_bias, int64_t rows, int64_t columns) {
  __shared__ float weights[kWarp][kWarp + 1], biases[kWarp][kWarp + 1];
  const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  float weight[2] = {}, bias[2] = {};
  const auto add = [&](int which, int64_t row) {
    const int64_t at = row * columns + column;
    if (of_weight != nullptr)
      weight[which] += __half2float(gradient[at]) * (__half2float(x[at]) - __half2float(mean[row])) * __half2float(rstd[row]);
    if (of_bias != nullptr) bias[which] += __half2float(gradient[at]);
  };
  if (column < columns) {
    for (int64_t row = threadIdx.y; row < rows; row += blockDim.y * 2) {
      add(0, row);
      if (row + blockDim.y < rows) add(1, row + blockDim.y);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    weights[threadIdx.y + i * 16][threadIdx.x] = weight[i];
    biases[threadIdx.y + i * 16][threadIdx.x] = bias[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int own = threadIdx.y + i * 16;
    const float w = over_warp<Sum>(weights[threadIdx.x][own]), b = over_warp<Sum>(biases[threadIdx.x][own]);
    if (threadIdx.x == 0 && blockIdx.x * kWarp + own < columns) {
      of_weight[blockIdx.x * kWarp + own] = __float2half_rn(w);
      of_bias[blockIdx.x * kWarp + own] = __float2half_rn(b);
    }
  }
}

// Grid: x 32 columns, y parts of the rows.
KERNEL(512) eager_column_sums(const __half* x, __half* sums, float* parts, unsigned* done, int rows, int columns) {
  __shared__ float partial[16][kWarp];
  __shared__ bool last;
  const int column = blockIdx.x * kWarp + threadIdx.x, step = 16 * gridDim.y;
  float sum[4] = {};
  int row = blockIdx.y * 16 + threadIdx.y;
#pragma unroll 1
  for (; row + 3 * step < rows; row += 4 * step) {
    __half v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) v[i] = x[static_cast<int64_t>(row + i * step) * columns + column];
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[i] += __half2float(v[i]);
  }
#pragma unroll 1
  for (; row < rows; row += step) sum[0] += __half2float(x[static_cast<int64_t>(row) * columns + column]);
  const auto over_rows = [&](float value) {
    partial[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
#pragma unroll
    for (int half = 8; half > 0; half /= 2) {
      if (threadIdx.y < half) partial[threadIdx.y][threadIdx.x] += partial[threadIdx.y + half][threadIdx.x];
      __syncthreads();
    }
  };
  over_rows(sum[0] + sum[1] + sum[2] + sum[3]);
  if (threadIdx.y == 0) parts[blockIdx.y * columns + column] = partial[0][threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) last = atomicAdd(done + blockIdx.x, 1U) == gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  over_rows(threadIdx.y < gridDim.y ? parts[threadIdx.y * columns + column] : 0);
  if (threadIdx.y == 0) sums[column] = __float2half_rn(partial[0][threadIdx.x]);
}
