// Kernels of convolutional networks in FP32 around their products, in the shapes that public profiles show
// (facebookresearch/HolisticTraceAnalysis @f4d0062, tests/data/nccl_parser_config and ns_resolution_trace, A100 and V100): grids,
// blocks, shared memory and template arguments.
//
//   nchw_to_nhwc, nhwc_to_nchw: cuDNN's ops::nchwToNhwcKernel, nhwcToNchwKernel. 256 threads, 4,224 bytes of shared memory (32 x 33
//     words), a grid of tiles of 32 pixels x tiles of 32 channels x images. The same kernel lays out filters, with an image for
//     each output channel.
//   batch_norm*_N: cuDNN's bn_fw_tr_1C11_kernel_NCHW<.., N, ..>, bn_bw_1C11_kernel_new<.., N, ..>. A CTA of 512 threads a channel.
//     assumed: N threads read an image's plane, 512 / N images at a time (N is 512 for planes of 112 x 112, 128 of 56 x 56, 32 of
//     28 x 28 and smaller); sums and sums of squares in one reading, the result in a second one; single elements, four at a time.
//     assumed: all threads of a plane take as many turns, the last with a predicate. The importer does not follow the reuse in L2
//     of planes of 28 x 28 if half of a warp leaves the loop one turn early.
//   batch_norm*_kept: cuDNN's bn_fw_tr_1C11_singleread, bn_bw_1C11_singleread. Dynamic shared memory for a word (backward: two) of
//     each of 512 threads for every 512 elements of the channel, so that a channel is read once.
//   max_pool, max_pool_backward: pytorch/pytorch @v2.4, aten/src/ATen/native/cuda/DilatedMaxPool2d.cu, max_pool_forward_nchw and
//     max_pool_backward_nchw. A thread a result; backward one a pixel of the input, which looks at each window over it. Indices
//     have 64 bits. assumed: a window's gradient is read whether it chose the pixel or not, because nearly always one of a warp's
//     32 pixels is chosen.
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o vision.cubin vision.cu
//   nvdisasm -c -hex vision.cubin | tr -s " " > vision_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kThreads = 512;  // of a batch norm's CTA

struct Two {
  float a, b;
};

__device__ __forceinline__ Two over_cta(Two sums) {
  __shared__ Two partial[kThreads / kWarp];
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    sums.a += __shfl_xor_sync(kAllLanes, sums.a, step);
    sums.b += __shfl_xor_sync(kAllLanes, sums.b, step);
  }
  const int lane = threadIdx.x % kWarp;
  if (lane == 0) partial[threadIdx.x / kWarp] = sums;
  __syncthreads();
  sums = lane < kThreads / kWarp ? partial[lane] : Two{0, 0};
#pragma unroll
  for (int step = kThreads / kWarp / 2; step > 0; step /= 2) {
    sums.a += __shfl_xor_sync(kAllLanes, sums.a, step);
    sums.b += __shfl_xor_sync(kAllLanes, sums.b, step);
  }
  sums.a = __shfl_sync(kAllLanes, sums.a, 0);
  sums.b = __shfl_sync(kAllLanes, sums.b, 0);
  return sums;
}

// Calls `each(place)` for the channel's elements of all images, kAcross threads a plane.
template <int kAcross, typename Each>
__device__ __forceinline__ void for_planes(int images, int channels, int pixels, Each each) {
  for (int image = threadIdx.x / kAcross; image < images; image += kThreads / kAcross) {
    const int plane = (image * channels + blockIdx.x) * pixels;
    const int lane = threadIdx.x % kAcross;
#pragma unroll 4
    for (int first = 0; first < pixels; first += kAcross) {
      if (first + lane < pixels) each(plane + first + lane);
    }
  }
}

// Calls `each(place, number)` for the channel's elements of all images, 512 at a time.
template <typename Each>
__device__ __forceinline__ void for_channel(int images, int channels, int pixels, Each each) {
  int image = threadIdx.x / pixels, pixel = threadIdx.x % pixels;
  const int images_on = kThreads / pixels, pixels_on = kThreads % pixels;
  for (int number = threadIdx.x; number < images * pixels; number += kThreads) {
    each((image * channels + blockIdx.x) * pixels + pixel, number);
    image += images_on;
    pixel += pixels_on;
    if (pixel >= pixels) {
      pixel -= pixels;
      ++image;
    }
  }
}

// The channel's scale and shift from its sums; thread 0 keeps mean and deviation for the backward pass.
__device__ __forceinline__ Two normalisation(Two sums, int elements, float epsilon, const float* weight, const float* bias,
                                             float* mean_out, float* rstd_out) {
  const float mean = sums.a / elements, variance = sums.b / elements - mean * mean, rstd = rsqrtf(variance + epsilon);
  if (threadIdx.x == 0) {
    mean_out[blockIdx.x] = mean;
    rstd_out[blockIdx.x] = rstd;
  }
  const float scale = weight[blockIdx.x] * rstd;
  return {scale, bias[blockIdx.x] - mean * scale};
}

}  // namespace operators

using namespace operators;

extern "C" __global__ void __launch_bounds__(256) nchw_to_nhwc(const float* x, float* out, int pixels, int channels, int images) {
  __shared__ float tile[32][33];
  const int across = threadIdx.x % 32, down = threadIdx.x / 32;
  const int64_t image = static_cast<int64_t>(blockIdx.z) * pixels * channels;
  const int pixel0 = blockIdx.x * 32, channel0 = blockIdx.y * 32;
#pragma unroll
  for (int y = 0; y < 32; y += 8) {
    const int channel = channel0 + down + y, pixel = pixel0 + across;
    if (channel < channels && pixel < pixels) tile[down + y][across] = x[image + static_cast<int64_t>(channel) * pixels + pixel];
  }
  __syncthreads();
#pragma unroll
  for (int y = 0; y < 32; y += 8) {
    const int pixel = pixel0 + down + y, channel = channel0 + across;
    if (channel < channels && pixel < pixels)
      out[image + static_cast<int64_t>(pixel) * channels + channel] = tile[across][down + y];
  }
}

extern "C" __global__ void __launch_bounds__(256) nhwc_to_nchw(const float* x, float* out, int pixels, int channels, int images) {
  __shared__ float tile[32][33];
  const int across = threadIdx.x % 32, down = threadIdx.x / 32;
  const int64_t image = static_cast<int64_t>(blockIdx.z) * pixels * channels;
  const int pixel0 = blockIdx.x * 32, channel0 = blockIdx.y * 32;
#pragma unroll
  for (int y = 0; y < 32; y += 8) {
    const int pixel = pixel0 + down + y, channel = channel0 + across;
    if (channel < channels && pixel < pixels) tile[down + y][across] = x[image + static_cast<int64_t>(pixel) * channels + channel];
  }
  __syncthreads();
#pragma unroll
  for (int y = 0; y < 32; y += 8) {
    const int channel = channel0 + down + y, pixel = pixel0 + across;
    if (channel < channels && pixel < pixels) out[image + static_cast<int64_t>(channel) * pixels + pixel] = tile[across][down + y];
  }
}

#define BATCH_NORM(across)                                                                                                         \
  extern "C" __global__ void __launch_bounds__(512)                                                                                \
      batch_norm_##across(const float* x, float* out, const float* weight, const float* bias, float* mean, float* rstd,            \
                          int images, int channels, int pixels, float epsilon) {                                                   \
    Two sums{0, 0};                                                                                                                \
    for_planes<across>(images, channels, pixels, [&](int at) {                                                                     \
      sums.a += x[at];                                                                                                             \
      sums.b += x[at] * x[at];                                                                                                     \
    });                                                                                                                            \
    const Two norm = normalisation(over_cta(sums), images * pixels, epsilon, weight, bias, mean, rstd);                            \
    for_planes<across>(images, channels, pixels, [&](int at) { out[at] = x[at] * norm.a + norm.b; });                              \
  }                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(512)                                                                                \
      batch_norm_backward_##across(const float* x, const float* gradient, float* out, const float* weight, const float* mean,      \
                                   const float* rstd, float* weight_out, float* bias_out, int images, int channels, int pixels) {  \
    const float m = mean[blockIdx.x], r = rstd[blockIdx.x];                                                                        \
    Two sums{0, 0};                                                                                                                \
    for_planes<across>(images, channels, pixels, [&](int at) {                                                                     \
      sums.a += gradient[at];                                                                                                      \
      sums.b += gradient[at] * (x[at] - m);                                                                                        \
    });                                                                                                                            \
    sums = over_cta(sums);                                                                                                         \
    if (threadIdx.x == 0) {                                                                                                        \
      bias_out[blockIdx.x] = sums.a;                                                                                               \
      weight_out[blockIdx.x] = sums.b * r;                                                                                         \
    }                                                                                                                              \
    const float count = images * pixels, scale = weight[blockIdx.x] * r, slope = sums.b * r * r / count, shift = sums.a / count;   \
    for_planes<across>(images, channels, pixels, [&](int at) { out[at] = (gradient[at] - shift - (x[at] - m) * slope) * scale; }); \
  }

BATCH_NORM(512)
BATCH_NORM(128)
BATCH_NORM(32)

extern "C" __global__ void __launch_bounds__(512)
    batch_norm_kept(const float* x, float* out, const float* weight, const float* bias, float* mean, float* rstd, int images,
                    int channels, int pixels, float epsilon) {
  extern __shared__ float kept[];
  Two sums{0, 0};
  for_channel(images, channels, pixels, [&](int at, int number) {
    const float value = x[at];
    kept[number] = value;
    sums.a += value;
    sums.b += value * value;
  });
  const Two norm = normalisation(over_cta(sums), images * pixels, epsilon, weight, bias, mean, rstd);
  for_channel(images, channels, pixels, [&](int at, int number) { out[at] = kept[number] * norm.a + norm.b; });
}

extern "C" __global__ void __launch_bounds__(512)
    batch_norm_backward_kept(const float* x, const float* gradient, float* out, const float* weight, const float* mean,
                             const float* rstd, float* weight_out, float* bias_out, int images, int channels, int pixels) {
  extern __shared__ float2 pairs[];
  const float m = mean[blockIdx.x], r = rstd[blockIdx.x];
  Two sums{0, 0};
  for_channel(images, channels, pixels, [&](int at, int number) {
    const float2 pair = make_float2(x[at] - m, gradient[at]);
    pairs[number] = pair;
    sums.a += pair.y;
    sums.b += pair.x * pair.y;
  });
  sums = over_cta(sums);
  if (threadIdx.x == 0) {
    bias_out[blockIdx.x] = sums.a;
    weight_out[blockIdx.x] = sums.b * r;
  }
  const float count = images * pixels, scale = weight[blockIdx.x] * r, slope = sums.b * r * r / count, shift = sums.a / count;
  for_channel(images, channels, pixels, [&](int at, int number) {
    const float2 pair = pairs[number];
    out[at] = (pair.y - shift - pair.x * slope) * scale;
  });
}

extern "C" __global__ void __launch_bounds__(256)
    max_pool(int results, const float* x, int height, int width, int pooled_height, int pooled_width, int window, int stride,
             int pad, float* out, int64_t* chosen, int planes) {
  const int index = blockIdx.x * 256 + threadIdx.x;
  if (index >= results) return;
  const int column = index % pooled_width, row = index / pooled_width % pooled_height;
  const int plane = index / pooled_width / pooled_height;
  const int row0 = max(row * stride - pad, 0), row1 = min(row * stride - pad + window, height);
  const int column0 = max(column * stride - pad, 0), column1 = min(column * stride - pad + window, width);
  const float* from = x + static_cast<int64_t>(plane) * height * width;
  float largest = -INFINITY;
  int at = row0 * width + column0;
  for (int r = row0; r < row1; ++r) {
    for (int c = column0; c < column1; ++c) {
      const float value = from[r * width + c];
      const bool larger = !(value <= largest);  // NaN counts as larger
      largest = larger ? value : largest;
      at = larger ? r * width + c : at;
    }
  }
  out[index] = largest;
  chosen[index] = at;
}

extern "C" __global__ void __launch_bounds__(256)
    max_pool_backward(const float* gradient, const int64_t* chosen, int height, int width, int pooled_height, int pooled_width,
                      int window, int stride, int pad, float* out, int images, int channels) {
  const int pixel = blockIdx.x * 256 + threadIdx.x;
  if (pixel >= height * width) return;
  const int row = pixel / width, column = pixel % width;
  const int row0 = row + pad < window ? 0 : (row + pad - window) / stride + 1, row1 = min((row + pad) / stride + 1, pooled_height);
  const int column0 = column + pad < window ? 0 : (column + pad - window) / stride + 1,
            column1 = min((column + pad) / stride + 1, pooled_width);
  const int64_t plane = static_cast<int64_t>(blockIdx.y) * channels + blockIdx.z;
  const float* of_plane = gradient + plane * pooled_height * pooled_width;
  const int64_t* chosen_of_plane = chosen + plane * pooled_height * pooled_width;
  float sum = 0;
  for (int r = row0; r < row1; ++r) {
    for (int c = column0; c < column1; ++c) {
      const int at = r * pooled_width + c;
      float each = 0;
      asm volatile("ld.global.f32 %0, [%1];" : "=f"(each) : "l"(of_plane + at));
      sum += chosen_of_plane[at] == pixel ? each : 0.0F;
    }
  }
  out[plane * height * width + pixel] = sum;
}
