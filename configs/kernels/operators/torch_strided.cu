// PyTorch's passes over tensors that are no dense arrays of one order, elementwise_kernel<128, 4 or 2,
// gpu_kernel_impl_nocast<...>>: a thread has four elements of two bytes, or two of four, 128 apart. For each it divides the
// element's index by the extents, fastest first, multiplies the remainders by every operand's strides, loads, computes and stores.
// Two operands may alias, so an element is stored before the next one is loaded. Facts of pytorch/pytorch @v2.4, aten/src/ATen:
// native/cuda/CUDALoops.cuh (legacy kernel), cuda/detail/OffsetCalculator.cuh (at most 25 extents; 16 since v2.5),
// cuda/detail/IntegerDivider.cuh (division by multiplication).
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o torch_strided.cubin torch_strided.cu
//   nvdisasm -c -hex torch_strided.cubin | tr -s " " > torch_strided_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kThreads = 128, kMostExtents = 16;

struct Division {
  unsigned divisor, multiplier, shift;
};
template <int kOperands>
struct Layout {
  int extents;
  Division division[kMostExtents];
  unsigned stride[kMostExtents][kOperands];  // in bytes
};
template <int kOperands>
struct Offsets {
  unsigned of[kOperands];
};
template <int kOperands>
__device__ __forceinline__ Offsets<kOperands> offsets(const Layout<kOperands>& layout, unsigned at) {
  Offsets<kOperands> result;
#pragma unroll
  for (int operand = 0; operand < kOperands; ++operand) result.of[operand] = 0;
#pragma unroll
  for (int i = 0; i < kMostExtents; ++i) {
    if (i == layout.extents) break;
    const unsigned quotient = (__umulhi(at, layout.division[i].multiplier) + at) >> layout.division[i].shift;
    const unsigned remainder = at - quotient * layout.division[i].divisor;
    at = quotient;
#pragma unroll
    for (int operand = 0; operand < kOperands; ++operand) result.of[operand] += remainder * layout.stride[i][operand];
  }
  return result;
}

template <typename T>
constexpr int kOfThread = sizeof(T) >= 4 ? 2 : 4;
template <typename T, typename Of>
__device__ __forceinline__ void pass(int elements, Of of) {
  int at = blockIdx.x * kThreads * kOfThread<T> + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kOfThread<T>; ++i) {
    if (at < elements) {
      of(at);
      at += kThreads;
    }
  }
}

__device__ __forceinline__ float scaled(float x, float by) { return x * by; }
__device__ __forceinline__ bf16 scaled(bf16 x, float by) { return __float2bfloat16(static_cast<float>(x) * by); }
__device__ __forceinline__ float added(float x, float y) { return x + y; }
__device__ __forceinline__ bf16 added(bf16 x, bf16 y) { return __float2bfloat16(static_cast<float>(x) + static_cast<float>(y)); }

template <typename T>
__device__ __forceinline__ T& at(const void* array, unsigned offset) {
  return *reinterpret_cast<T*>(const_cast<char*>(static_cast<const char*>(array)) + offset);
}

}  // namespace operators

using namespace operators;

#define KERNEL extern "C" __global__ void __launch_bounds__(kThreads, 4)
#define OF_TYPE(T)                                                                                        \
  KERNEL torch_strided_copy_##T(int elements, Layout<2> layout, void* out, const void* x) {               \
    pass<T>(elements, [&](int i) {                                                                        \
      const Offsets<2> offset = offsets(layout, i);                                                       \
      at<T>(out, offset.of[0]) = at<T>(x, offset.of[1]);                                                  \
    });                                                                                                   \
  }                                                                                                       \
  KERNEL torch_strided_scale_##T(int elements, Layout<2> layout, void* out, const void* x, float by) {    \
    pass<T>(elements, [&](int i) {                                                                        \
      const Offsets<2> offset = offsets(layout, i);                                                       \
      at<T>(out, offset.of[0]) = scaled(at<T>(x, offset.of[1]), by);                                      \
    });                                                                                                   \
  }                                                                                                       \
  KERNEL torch_strided_add_##T(int elements, Layout<3> layout, void* out, const void* x, const void* y) { \
    pass<T>(elements, [&](int i) {                                                                        \
      const Offsets<3> offset = offsets(layout, i);                                                       \
      at<T>(out, offset.of[0]) = added(at<T>(x, offset.of[1]), at<T>(y, offset.of[2]));                   \
    });                                                                                                   \
  }

OF_TYPE(bf16)
OF_TYPE(fp32)
