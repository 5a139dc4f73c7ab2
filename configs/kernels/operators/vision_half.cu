// cuDNN's changes of layout of elements of two bytes: engines_precompiled::nchwToNhwcKernel and nhwcToNchwKernel of
// BF16, as public profiles show them (AMD-AGI/TraceLens @171dd74, tests/traces, H100): grids and blocks as those of
// FP32 (vision.cu), 2,112 bytes of shared memory (32 x 33 elements).
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -ptx -o vision_half.ptx vision_half.cu        (CUDA 13.0; then .version 7.8)
//   ptxas -O3 -arch=sm_80 -o vision_half.cubin vision_half.ptx                     (CUDA 11.8, as nvdisasm)
//   nvdisasm -c -hex vision_half.cubin | tr -s " " > vision_half_sm_80.sass
#include <cstdint>

namespace {

constexpr int kTile = 32, kAtOnce = 8;  // rows of a tile that 256 threads have at once

// A place in an image, by pixel and channel.
__device__ __forceinline__ int64_t by_channel(int pixel, int channel, int pixels, int channels) {
  return blockIdx.z * static_cast<int64_t>(pixels) * channels + static_cast<int64_t>(channel) * pixels + pixel;
}
__device__ __forceinline__ int64_t by_pixel(int pixel, int channel, int pixels, int channels) {
  return blockIdx.z * static_cast<int64_t>(pixels) * channels + static_cast<int64_t>(pixel) * channels + channel;
}

}  // namespace

#define KERNEL extern "C" __global__ void __launch_bounds__(256)

KERNEL nchw_to_nhwc_half(const uint16_t* x, uint16_t* out, int pixels, int channels, int images) {
  __shared__ uint16_t tile[kTile][kTile + 1];
  const int across = threadIdx.x % kTile, down = threadIdx.x / kTile;
#pragma unroll
  for (int y = down; y < down + kTile; y += kAtOnce) {
    const int channel = blockIdx.y * kTile + y, pixel = blockIdx.x * kTile + across;
    if (channel < channels && pixel < pixels) tile[y][across] = x[by_channel(pixel, channel, pixels, channels)];
  }
  __syncthreads();
#pragma unroll
  for (int y = down; y < down + kTile; y += kAtOnce) {
    const int pixel = blockIdx.x * kTile + y, channel = blockIdx.y * kTile + across;
    if (channel < channels && pixel < pixels) out[by_pixel(pixel, channel, pixels, channels)] = tile[across][y];
  }
}

KERNEL nhwc_to_nchw_half(const uint16_t* x, uint16_t* out, int pixels, int channels, int images) {
  __shared__ uint16_t tile[kTile][kTile + 1];
  const int across = threadIdx.x % kTile, down = threadIdx.x / kTile;
#pragma unroll
  for (int y = down; y < down + kTile; y += kAtOnce) {
    const int pixel = blockIdx.x * kTile + y, channel = blockIdx.y * kTile + across;
    if (channel < channels && pixel < pixels) tile[y][across] = x[by_pixel(pixel, channel, pixels, channels)];
  }
  __syncthreads();
#pragma unroll
  for (int y = down; y < down + kTile; y += kAtOnce) {
    const int channel = blockIdx.y * kTile + y, pixel = blockIdx.x * kTile + across;
    if (channel < channels && pixel < pixels) out[by_channel(pixel, channel, pixels, channels)] = tile[across][y];
  }
}
