// Five kernels of PyTorch 1.3's shape, each alone and each pair of them in one kernel: side by side (some warps of a CTA run one,
// the others the other) and one behind the other in the same threads. What HFuse (aoli-al/HFuse) measured on a V100:
// docs/validation/pairs.md.
//
// A V100's code by way of PTX, as nvcc 13 has no sm_70. Side by side a CTA's barriers are those of all its warps, as there.
//
//   nvcc -O3 -std=c++17 -arch=compute_75 -ptx -o side_by_side.ptx side_by_side.cu
//   sed -e 's/^\.version.*/.version 8.4/' -e 's/^\.target.*/.target sm_70/' -i side_by_side.ptx
//   ptxas -O3 -arch=sm_70 -maxrregcount=64 -o side_by_side.cubin side_by_side.ptx                    (of CUDA 12.4)
//   nvdisasm -c -hex side_by_side.cubin | tr -s " " > side_by_side_sm_70.sass
//
// and the same with -maxrregcount=32, HFuse's cap, which kernels with launch bounds do not heed. side_by_side/make.py imports both.
#include <cstdint>

namespace {

// A thread of a part: `thread` of `threads`, in CTA blockIdx.x.
struct Lane {
  int thread;
  int threads;
};

// ---- im2col: one thread copies the column of a filter, `taps_y` x `taps_x` elements, each to a plane of its own

struct Columns {
  int64_t count;
  const float* image;
  int64_t height, width, taps_y, taps_x, pad_y, pad_x, stride_y, stride_x, dilation_y, dilation_x, out_height, out_width;
  float* columns;
};

__device__ __forceinline__ void im2col(const Columns& c, Lane lane) {
  for (int i = blockIdx.x * lane.threads + lane.thread; i < c.count; i += lane.threads * gridDim.x) {
    const int64_t x_out = i % c.out_width;
    const int64_t row = i / c.out_width;
    const int64_t y_out = row % c.out_height;
    const int64_t channel = row / c.out_height;
    const int64_t y_in = y_out * c.stride_y - c.pad_y;
    const int64_t x_in = x_out * c.stride_x - c.pad_x;
    float* out = c.columns + (channel * c.taps_y * c.taps_x * c.out_height + y_out) * c.out_width + x_out;
    const float* in = c.image + (channel * c.height + y_in) * c.width + x_in;
    for (int64_t tap_y = 0; tap_y < c.taps_y; ++tap_y) {
      for (int64_t tap_x = 0; tap_x < c.taps_x; ++tap_x) {
        const int64_t y = y_in + tap_y * c.dilation_y;
        const int64_t x = x_in + tap_x * c.dilation_x;
        const bool inside = y >= 0 && x >= 0 && y < c.height && x < c.width;
        *out = inside ? in[tap_y * c.dilation_y * c.width + tap_x * c.dilation_x] : 0.0f;
        out += c.out_height * c.out_width;
      }
    }
  }
}

// ---- max pooling: one thread finds the largest element of a window and where it is

struct Windows {
  int count;
  const float* image;
  int images, channels, height, width, out_height, out_width, size_y, size_x, stride_y, stride_x, pad_y, pad_x, dilation_y,
      dilation_x;
  float* largest;
  int64_t* place;
};

__device__ __forceinline__ void max_pool(const Windows& w, Lane lane) {
  for (int i = blockIdx.x * lane.threads + lane.thread; i < w.count; i += lane.threads * gridDim.x) {
    const int x_out = i % w.out_width;
    const int y_out = i / w.out_width % w.out_height;
    const int channel = i / w.out_width / w.out_height % w.channels;
    const int image = i / w.out_width / w.out_height / w.channels;
    int y = y_out * w.stride_y - w.pad_y;
    int x_begin = x_out * w.stride_x - w.pad_x;
    const int y_end = min(y + (w.size_y - 1) * w.dilation_y + 1, w.height);
    const int x_end = min(x_begin + (w.size_x - 1) * w.dilation_x + 1, w.width);
    while (y < 0) y += w.dilation_y;
    while (x_begin < 0) x_begin += w.dilation_x;
    const float* in = w.image + (image * w.channels + channel) * w.height * w.width;
    float largest = -INFINITY;
    int place = y * w.width + x_begin;
    for (; y < y_end; y += w.dilation_y) {
      for (int x = x_begin; x < x_end; x += w.dilation_x) {
        const float value = in[y * w.width + x];
        if (value > largest || value != value) {
          place = y * w.width + x;
          largest = value;
        }
      }
    }
    w.largest[i] = largest;
    w.place[i] = place;
  }
}

// ---- bilinear enlargement: one thread computes one pixel of every channel of every image

struct Tensor {
  float* data;
  int64_t size[4];
  int64_t stride[4];
  __device__ __forceinline__ float& at(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return data[n * stride[0] + c * stride[1] + y * stride[2] + x * stride[3]];
  }
};

struct Enlargement {
  int pixels;
  float scale_y, scale_x;
  int aligned;
  Tensor in, out;
};

__device__ __forceinline__ float source(float scale, int place, bool aligned) {
  if (aligned) return scale * place;
  const float at = scale * (place + 0.5f) - 0.5f;
  return at < 0 ? 0 : at;
}

__device__ __forceinline__ void upsample(const Enlargement& e, Lane lane) {
  const int i = blockIdx.x * lane.threads + lane.thread;
  const int images = e.in.size[0], channels = e.in.size[1], height = e.in.size[2], width = e.in.size[3];
  const int out_height = e.out.size[2], out_width = e.out.size[3];
  if (i >= e.pixels) return;
  const int x_out = i % out_width;
  const int y_out = i / out_width;
  if (height == out_height && width == out_width) {
    for (int n = 0; n < images; ++n)
      for (int c = 0; c < channels; ++c) e.out.at(n, c, y_out, x_out) = e.in.at(n, c, y_out, x_out);
    return;
  }
  const float y_at = source(e.scale_y, y_out, e.aligned);
  const float x_at = source(e.scale_x, x_out, e.aligned);
  const int y = y_at, x = x_at;
  const int below = y < height - 1 ? 1 : 0;
  const int right = x < width - 1 ? 1 : 0;
  const float bottom = y_at - y, top = 1.0f - bottom;
  const float far = x_at - x, near = 1.0f - far;
  for (int n = 0; n < images; ++n)
    for (int c = 0; c < channels; ++c)
      e.out.at(n, c, y_out, x_out) = top * (near * e.in.at(n, c, y, x) + far * e.in.at(n, c, y, x + right)) +
                                     bottom * (near * e.in.at(n, c, y + below, x) + far * e.in.at(n, c, y + below, x + right));
}

// ---- statistics of a batch norm: a CTA finds mean and variance of one channel of all images (Welford's algorithm)

struct Planes {
  const float* __restrict__ data;
  int size[3];
  int stride[3];
};
struct Vector {
  float* __restrict__ data;
  int size, stride;
};

struct Statistics {
  Planes in;
  float epsilon, momentum;
  Vector running_mean, running_var, mean, inverse_deviation;
};

struct Moments {
  float mean, squares;
  int count;
};

__device__ __forceinline__ void join_warp(Moments& m) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const float mean = __shfl_xor_sync(0xffffffff, m.mean, step);
    const int count = __shfl_xor_sync(0xffffffff, m.count, step);
    const float factor = 1.0 / fmaxf(1.0, m.count + count);
    m.squares += __shfl_xor_sync(0xffffffff, m.squares, step) + (m.mean - mean) * (m.mean - mean) * m.count * count * factor;
    m.mean = (m.count * m.mean + count * mean) * factor;
    m.count += count;
  }
}

constexpr int kNormThreads = 512;

__device__ __forceinline__ Moments moments_of_thread(const Statistics& s, int x_thread, int y_thread, int x_threads,
                                                     int y_threads) {
  Moments m{0, 0, 0};
  for (int image = y_thread; image < s.in.size[0]; image += y_threads) {
    for (int x = x_thread; x < s.in.size[2]; x += x_threads) {
      const float value = s.in.data[image * s.in.stride[0] + blockIdx.x * s.in.stride[1] + x * s.in.stride[2]];
      const float distance = value - m.mean;
      ++m.count;
      m.mean += distance / m.count;
      m.squares += distance * (value - m.mean);
    }
  }
  join_warp(m);
  return m;
}

struct NormShared {
  int count[32];
  float moments[128];
};

__device__ __forceinline__ void keep(NormShared& shared, const Moments& m, int thread) {
  if (thread % 32 != 0) return;
  shared.count[thread / 32] = m.count;
  shared.moments[thread / 32 * 2] = m.mean;
  shared.moments[thread / 32 * 2 + 1] = m.squares;
}

__device__ __forceinline__ void finish(const Statistics& s, const NormShared& shared, Moments m, int thread, int threads) {
  if (thread < 32) {
    const bool one = thread < threads / 32;
    m.count = one ? shared.count[thread] : 0;
    m.mean = one ? shared.moments[2 * thread] : 0;
    m.squares = one ? shared.moments[2 * thread + 1] : 0;
  }
  join_warp(m);
  if (thread != 0) return;
  const int plane = blockIdx.x;
  const int elements = s.in.size[0] * s.in.size[2];
  if (s.mean.data != nullptr) s.mean.data[plane * s.mean.stride] = m.mean;
  if (s.inverse_deviation.data != nullptr) {
    const float variance = m.squares / elements;
    float inverse = 0;
    if (variance != 0 || s.epsilon != 0) inverse = 1.0f / sqrtf(variance + double(s.epsilon));
    s.inverse_deviation.data[plane * s.inverse_deviation.stride] = inverse;
  }
  if (s.running_mean.data != nullptr) {
    float& mean = s.running_mean.data[plane * s.running_mean.stride];
    mean = (1 - s.momentum) * mean + s.momentum * m.mean;
  }
  if (s.running_var.data != nullptr) {
    float& variance = s.running_var.data[plane * s.running_var.stride];
    variance = (1 - s.momentum) * variance + s.momentum * (m.squares / (elements - 1));
  }
}

// ---- histogram: a CTA counts in shared memory and adds its bins to those in global memory

struct Strided {
  float* data;
  int64_t size[2], stride[2];
  int dims;
};

struct Counting {
  Strided bins, values;
  int bin_count;
  float lowest, highest;
  int64_t count;
};

__device__ __forceinline__ void clear(const Counting& h, float* bins, Lane lane) {
  for (int64_t i = lane.thread; i < h.bins.size[0]; i += lane.threads) bins[i] = 0;
}

__device__ __forceinline__ void count_values(const Counting& h, float* bins, Lane lane) {
  for (int64_t i = blockIdx.x * lane.threads + lane.thread; i < h.count; i += gridDim.x * lane.threads) {
    int64_t rest = i, offset = 0;
#pragma unroll 1
    for (int dim = h.values.dims - 1; dim > 0; --dim) {
      offset += rest % h.values.size[dim] * h.values.stride[dim];
      rest /= h.values.size[dim];
    }
    const float value = h.values.data[offset + rest * h.values.stride[0]];
    if (value >= h.lowest && value <= h.highest) {
      int64_t bin = static_cast<int>((value - h.lowest) * h.bin_count / (h.highest - h.lowest));
      if (bin == h.bin_count) --bin;
      atomicAdd(&bins[bin], 1.0f);
    }
  }
}

__device__ __forceinline__ void add_bins(const Counting& h, const float* bins, Lane lane) {
  for (int64_t i = lane.thread; i < h.bins.size[0]; i += lane.threads) atomicAdd(&h.bins.data[i * h.bins.stride[0]], bins[i]);
}

extern __shared__ float bins[];

}  // namespace

extern "C" {

// ---- each alone

__global__ void __launch_bounds__(1024) im2col_alone(const __grid_constant__ Columns c) {
  im2col(c, {int(threadIdx.x), int(blockDim.x)});
}

__global__ void max_pool_alone(const __grid_constant__ Windows w) { max_pool(w, {int(threadIdx.x), int(blockDim.x)}); }

__global__ void __launch_bounds__(1024) upsample_alone(const __grid_constant__ Enlargement e) {
  upsample(e, {int(threadIdx.x), int(blockDim.x)});
}

__global__ void batch_norm_alone(const __grid_constant__ Statistics s) {
  __shared__ NormShared shared;
  const int thread = threadIdx.x + threadIdx.y * blockDim.x;
  const Moments m = moments_of_thread(s, threadIdx.x, threadIdx.y, blockDim.x, blockDim.y);
  __syncthreads();
  keep(shared, m, thread);
  __syncthreads();
  finish(s, shared, m, thread, blockDim.x * blockDim.y);
}

__global__ void histogram_alone(const __grid_constant__ Counting h) {
  const Lane lane{int(threadIdx.x), int(blockDim.x)};
  clear(h, bins, lane);
  __syncthreads();
  count_values(h, bins, lane);
  __syncthreads();
  add_bins(h, bins, lane);
}

// ---- kernels without a barrier beside each other, or one behind the other in the same threads

#define BESIDE(name, First, first, first_threads, Second, second, second_threads)                    \
  __global__ void name##_beside(const __grid_constant__ First a, const __grid_constant__ Second b) { \
    const int thread = threadIdx.x + threadIdx.y * blockDim.x;                                       \
    if (thread < first_threads)                                                                      \
      first(a, {thread, first_threads});                                                             \
    else                                                                                             \
      second(b, {thread - first_threads, second_threads});                                           \
  }                                                                                                  \
  __global__ void name##_behind(const __grid_constant__ First a, const __grid_constant__ Second b) { \
    const int thread = threadIdx.x + threadIdx.y * blockDim.x;                                       \
    if (thread < first_threads) first(a, {thread, first_threads});                                   \
    if (thread < second_threads) second(b, {thread, second_threads});                                \
  }

BESIDE(im2col_max_pool, Columns, im2col, 512, Windows, max_pool, 256)
BESIDE(im2col_upsample, Columns, im2col, 512, Enlargement, upsample, 512)
BESIDE(max_pool_upsample, Windows, max_pool, 256, Enlargement, upsample, 512)

// ---- a batch norm's statistics beside, or behind, a kernel without barriers. `x_threads`: a row of its CTA

#define BESIDE_NORM(name, First, first, first_threads, x_threads)                                                        \
  __global__ void name##_beside(const __grid_constant__ First a, const __grid_constant__ Statistics s) {                 \
    __shared__ NormShared shared;                                                                                        \
    const int norm = threadIdx.x - first_threads;                                                                        \
    Moments m{0, 0, 0};                                                                                                  \
    if (norm < 0)                                                                                                        \
      first(a, {int(threadIdx.x), first_threads});                                                                       \
    else                                                                                                                 \
      m = moments_of_thread(s, norm % x_threads, norm / x_threads, x_threads, kNormThreads / x_threads);                 \
    __syncthreads();                                                                                                     \
    if (norm >= 0) keep(shared, m, norm);                                                                                \
    __syncthreads();                                                                                                     \
    if (norm >= 0) finish(s, shared, m, norm, kNormThreads);                                                             \
  }                                                                                                                      \
  __global__ void name##_behind(const __grid_constant__ First a, const __grid_constant__ Statistics s) {                 \
    __shared__ NormShared shared;                                                                                        \
    const int thread = threadIdx.x;                                                                                      \
    if (thread < first_threads) first(a, {thread, first_threads});                                                       \
    const Moments m = moments_of_thread(s, thread % x_threads, thread / x_threads, x_threads, kNormThreads / x_threads); \
    __syncthreads();                                                                                                     \
    keep(shared, m, thread);                                                                                             \
    __syncthreads();                                                                                                     \
    finish(s, shared, m, thread, kNormThreads);                                                                          \
  }

BESIDE_NORM(im2col_batch_norm, Columns, im2col, 512, 32)
BESIDE_NORM(max_pool_batch_norm, Windows, max_pool, 256, 128)
BESIDE_NORM(upsample_batch_norm, Enlargement, upsample, 512, 32)

// ---- a histogram beside, or behind, a kernel without barriers. The CTA's barriers are the histogram's, and the other kernel's
// warps wait at them too: beside_count, while the histogram counts; beside_add, once it has counted and adds its bins

#define BESIDE_HISTOGRAM(name, Second, second, second_threads)                                                \
  __global__ void name##_beside_count(const __grid_constant__ Counting h, const __grid_constant__ Second b) { \
    const int thread = threadIdx.x;                                                                           \
    if (thread < 512) clear(h, bins, {thread, 512});                                                          \
    __syncthreads();                                                                                          \
    if (thread < 512)                                                                                         \
      count_values(h, bins, {thread, 512});                                                                   \
    else                                                                                                      \
      second(b, {thread - 512, second_threads});                                                              \
    __syncthreads();                                                                                          \
    if (thread < 512) add_bins(h, bins, {thread, 512});                                                       \
  }                                                                                                           \
  __global__ void name##_beside_add(const __grid_constant__ Counting h, const __grid_constant__ Second b) {   \
    const int thread = threadIdx.x;                                                                           \
    if (thread < 512) clear(h, bins, {thread, 512});                                                          \
    __syncthreads();                                                                                          \
    if (thread < 512) count_values(h, bins, {thread, 512});                                                   \
    __syncthreads();                                                                                          \
    if (thread < 512)                                                                                         \
      add_bins(h, bins, {thread, 512});                                                                       \
    else                                                                                                      \
      second(b, {thread - 512, second_threads});                                                              \
  }                                                                                                           \
  __global__ void name##_behind(const __grid_constant__ Counting h, const __grid_constant__ Second b) {       \
    const int thread = threadIdx.x;                                                                           \
    clear(h, bins, {thread, 512});                                                                            \
    __syncthreads();                                                                                          \
    count_values(h, bins, {thread, 512});                                                                     \
    __syncthreads();                                                                                          \
    add_bins(h, bins, {thread, 512});                                                                         \
    if (thread < second_threads) second(b, {thread, second_threads});                                         \
  }

BESIDE_HISTOGRAM(histogram_max_pool, Windows, max_pool, 256)
BESIDE_HISTOGRAM(histogram_upsample, Enlargement, upsample, 512)

// The histogram is the second: its warps are the later ones, and in the same threads its part is the later one. beside_clear:
// im2col runs while the histogram clears its bins, before its first barrier.
__global__ void im2col_histogram_beside_count(const __grid_constant__ Columns a, const __grid_constant__ Counting h) {
  const int thread = threadIdx.x;
  if (thread >= 512) clear(h, bins, {thread - 512, 512});
  __syncthreads();
  if (thread < 512)
    im2col(a, {thread, 512});
  else
    count_values(h, bins, {thread - 512, 512});
  __syncthreads();
  if (thread >= 512) add_bins(h, bins, {thread - 512, 512});
}
__global__ void im2col_histogram_beside_clear(const __grid_constant__ Columns a, const __grid_constant__ Counting h) {
  const int thread = threadIdx.x;
  if (thread < 512)
    im2col(a, {thread, 512});
  else
    clear(h, bins, {thread - 512, 512});
  __syncthreads();
  if (thread >= 512) count_values(h, bins, {thread - 512, 512});
  __syncthreads();
  if (thread >= 512) add_bins(h, bins, {thread - 512, 512});
}
__global__ void im2col_histogram_behind(const __grid_constant__ Columns a, const __grid_constant__ Counting h) {
  const int thread = threadIdx.x;
  if (thread < 512) im2col(a, {thread, 512});
  if (thread < 512) clear(h, bins, {thread, 512});
  __syncthreads();
  if (thread < 512) count_values(h, bins, {thread, 512});
  __syncthreads();
  if (thread < 512) add_bins(h, bins, {thread, 512});
}

// Both with barriers: the histogram's second one is the first of the batch norm, or its own before the batch norm begins.
__global__ void histogram_batch_norm_beside_count(const __grid_constant__ Counting h, const __grid_constant__ Statistics s) {
  __shared__ NormShared shared;
  const int thread = threadIdx.x, norm = threadIdx.x - 512;
  Moments m{0, 0, 0};
  if (norm < 0) clear(h, bins, {thread, 512});
  __syncthreads();
  if (norm < 0)
    count_values(h, bins, {thread, 512});
  else
    m = moments_of_thread(s, norm % 32, norm / 32, 32, 16);
  __syncthreads();
  if (norm < 0)
    add_bins(h, bins, {thread, 512});
  else
    keep(shared, m, norm);
  __syncthreads();
  if (norm >= 0) finish(s, shared, m, norm, 512);
}
__global__ void histogram_batch_norm_beside_add(const __grid_constant__ Counting h, const __grid_constant__ Statistics s) {
  __shared__ NormShared shared;
  const int thread = threadIdx.x, norm = threadIdx.x - 512;
  Moments m{0, 0, 0};
  if (norm < 0) clear(h, bins, {thread, 512});
  __syncthreads();
  if (norm < 0) count_values(h, bins, {thread, 512});
  __syncthreads();
  if (norm < 0)
    add_bins(h, bins, {thread, 512});
  else
    m = moments_of_thread(s, norm % 32, norm / 32, 32, 16);
  __syncthreads();
  if (norm >= 0) keep(shared, m, norm);
  __syncthreads();
  if (norm >= 0) finish(s, shared, m, norm, 512);
}
__global__ void histogram_batch_norm_behind(const __grid_constant__ Counting h, const __grid_constant__ Statistics s) {
  __shared__ NormShared shared;
  const int thread = threadIdx.x;
  clear(h, bins, {thread, 512});
  __syncthreads();
  count_values(h, bins, {thread, 512});
  __syncthreads();
  add_bins(h, bins, {thread, 512});
  const Moments m = moments_of_thread(s, thread % 32, thread / 32, 32, 16);
  __syncthreads();
  keep(shared, m, thread);
  __syncthreads();
  finish(s, shared, m, thread, 512);
}

}  // extern "C"
