// PyTorch's unrolled_elementwise_kernel with a LoadWithCast: a copy whose argument has another type than its result. The types are
// known only as it runs, so each load and each store first finds the code of its type (ATen's fetch_and_cast, cast_and_store, in
// c10/core/DynamicCast.h). A thread has four elements, 128 apart: all are loaded before the first is stored. No flag of fast
// arithmetic, as in PyTorch's build.
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o torch_cast.cubin torch_cast.cu
//   nvdisasm -c -hex torch_cast.cubin | tr -s " " > torch_cast_sm_80.sass
#include "operators.cuh"

namespace operators {

// Types with ATen's numbers (c10/core/ScalarType.h). Of complex numbers the real part is kept. FP8, quantised and wider unsigned
// types are left out: the compiled search for a type is shorter by a comparison.
enum class Type : int8_t {
  kUint8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kHalf,
  kFloat,
  kDouble,
  kComplexHalf,
  kComplexFloat,
  kComplexDouble,
  kBool,
  kBfloat16 = 15
};

template <typename T>
__device__ __forceinline__ T read(const void* at) {
  return *static_cast<const T*>(at);
}
__device__ __forceinline__ float load_as_float(Type type, const void* at) {
  switch (type) {
    case Type::kUint8:
      return read<uint8_t>(at);
    case Type::kInt8:
      return read<int8_t>(at);
    case Type::kInt16:
      return read<int16_t>(at);
    case Type::kInt32:
      return static_cast<float>(read<int32_t>(at));
    case Type::kInt64:
      return static_cast<float>(read<int64_t>(at));
    case Type::kHalf:
      return __half2float(read<fp16>(at));
    case Type::kFloat:
      return read<float>(at);
    case Type::kDouble:
      return static_cast<float>(read<double>(at));
    case Type::kComplexHalf:
      return __half2float(read<__half2>(at).x);
    case Type::kComplexFloat:
      return read<float2>(at).x;
    case Type::kComplexDouble:
      return static_cast<float>(read<double2>(at).x);
    case Type::kBool:
      return read<bool>(at) ? 1.0F : 0.0F;
    case Type::kBfloat16:
      return __bfloat162float(read<bf16>(at));
  }
  __trap();
}
template <typename T>
__device__ __forceinline__ void write(void* at, T value) {
  *static_cast<T*>(at) = value;
}
__device__ __forceinline__ void store_float_as(Type type, void* at, float value) {
  switch (type) {
    case Type::kUint8:
      return write(at, static_cast<uint8_t>(static_cast<int64_t>(value)));
    case Type::kInt8:
      return write(at, static_cast<int8_t>(value));
    case Type::kInt16:
      return write(at, static_cast<int16_t>(value));
    case Type::kInt32:
      return write(at, static_cast<int32_t>(value));
    case Type::kInt64:
      return write(at, static_cast<int64_t>(value));
    case Type::kHalf:
      return write(at, __float2half(value));
    case Type::kFloat:
      return write(at, value);
    case Type::kDouble:
      return write(at, static_cast<double>(value));
    case Type::kComplexHalf:
      return write(at, __floats2half2_rn(value, 0));
    case Type::kComplexFloat:
      return write(at, make_float2(value, 0));
    case Type::kComplexDouble:
      return write(at, make_double2(value, 0));
    case Type::kBool:
      return write(at, value != 0);
    case Type::kBfloat16:
      return write(at, __float2bfloat16(value));
  }
  __trap();
}

constexpr int kThreads = 128, kOfThread = 4;

}  // namespace operators

using namespace operators;

// `bytes`: of an element.
extern "C" __global__ void __launch_bounds__(kThreads, 4)
    torch_cast_float(int elements, void* out, const void* x, Type x_type, uint32_t x_bytes, Type out_type, uint32_t out_bytes) {
  const int first = blockIdx.x * kThreads * kOfThread;
  const int remaining = elements - first;
  float value[kOfThread];
#pragma unroll
  for (int i = 0; i < kOfThread; ++i) {
    const unsigned at = threadIdx.x + i * kThreads;
    if (at >= remaining) break;
    value[i] = load_as_float(x_type, static_cast<const char*>(x) + (first + at) * x_bytes);
  }
#pragma unroll
  for (int i = 0; i < kOfThread; ++i) {
    const unsigned at = threadIdx.x + i * kThreads;
    if (at >= remaining) break;
    store_float_as(out_type, static_cast<char*>(out) + (first + at) * out_bytes, value[i]);
  }
}
