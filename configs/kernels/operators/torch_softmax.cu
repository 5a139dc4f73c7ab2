// PyTorch's softmax of long rows, cunn_SoftMaxForward: 1,024 threads a row, which they read three times: maximum, sum, result. A
// pass begins at the 16-byte vector that holds the row's first element: one element a thread, if the row begins inside a vector.
// Whole turns of 1,024 vectors follow, then single elements. So a row of up to 8,191 elements is read by single elements alone.
// PyTorch's rows are dense; `pitch` elements from row to row let all rows of a launch begin at the same place of a vector. Facts of
// pytorch/pytorch @000cace5, aten/src/ATen/native/cuda: SoftMax.cu (ilpReduce, WriteFpropResultsVectorized), block_reduce.cuh. No
// flag of fast arithmetic, as in PyTorch's build.
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o torch_softmax.cubin torch_softmax.cu
//   nvdisasm -c -hex torch_softmax.cubin | tr -s " " > torch_softmax_sm_80.sass
#include "operators.cuh"

namespace operators {

template <typename T>
struct alignas(16) Elements {
  T at[kElements<T>];
};

// Calls `one(place, element)` and `whole(begin, number, vector)` for the thread's elements of a row that begins `shift` elements
// behind a vector's begin. Places are behind that begin.
template <typename T, typename One, typename Whole>
__device__ __forceinline__ void for_row(const T* row, int shift, int columns, One one, Whole whole) {
  const int threads = blockDim.x;
  int begin = 0;
  if (shift > 0) {
    row -= shift;
    if (threadIdx.x >= shift) one(threadIdx.x, row[threadIdx.x]);
    columns += shift - threads;
    row += threads;
    begin = threads;
  }
  const int rest = columns % (kElements<T> * threads);
  int at = threadIdx.x;
  for (; at * kElements<T> < columns - rest; at += threads) {
    whole(begin, at, reinterpret_cast<const Elements<T>*>(row)[at]);
  }
  for (at = columns - rest + threadIdx.x; at < columns; at += threads) one(begin + at, row[at]);
}

template <typename Operation>
__device__ __forceinline__ float down_warp(float value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) value = Operation::of(value, __shfl_down_sync(kAllLanes, value, step));
  return value;
}
template <typename Operation>
__device__ __forceinline__ float over_block(float value, float* partial) {
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  value = down_warp<Operation>(value);
  __syncthreads();
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / kWarp ? partial[lane] : Operation::kNeutral;
  if (warp == 0) value = down_warp<Operation>(value);
  if (threadIdx.x == 0) partial[0] = value;
  __syncthreads();
  return partial[0];
}

template <typename T, bool kLog>
__device__ __forceinline__ void softmax_of_row(const T* x, T* out, int columns, int pitch) {
  extern __shared__ float partial[];
  x += static_cast<int64_t>(blockIdx.x) * pitch;
  out += static_cast<int64_t>(blockIdx.x) * pitch;
  const int shift = reinterpret_cast<uint64_t>(x) % 16 / sizeof(T), shift_out = reinterpret_cast<uint64_t>(out) % 16 / sizeof(T);

  float largest = Largest::kNeutral;
  const auto compare = [&](int, T element) { largest = fmaxf(largest, static_cast<float>(element)); };
  for_row(x, shift, columns, compare, [&](int, int, Elements<T> vector) {
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) compare(i, vector.at[i]);
  });
  largest = over_block<Largest>(largest, partial);

  float total = 0;
  const auto add = [&](int, T element) { total += expf(static_cast<float>(element) - largest); };
  for_row(x, shift, columns, add, [&](int, int, Elements<T> vector) {
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) add(i, vector.at[i]);
  });
  total = over_block<Sum>(total, partial);
  if (kLog) total = logf(total);

  const auto result = [&](T element) {
    const float value = static_cast<float>(element) - largest;
    return static_cast<T>(kLog ? value - total : expf(value) / total);
  };
  if (shift == shift_out) {
    for_row(
        x, shift, columns, [&](int at, T element) { out[at - shift] = result(element); },
        [&](int begin, int at, Elements<T> vector) {
          Values<T> results;
#pragma unroll
          for (int i = 0; i < kElements<T>; ++i) results.at[i] = static_cast<float>(result(vector.at[i]));
          reinterpret_cast<Vector<T>*>(out - shift + begin)[at] = packed(results);
        });
  } else {
    for (int at = threadIdx.x; at < columns; at += blockDim.x) out[at] = result(x[at]);
  }
}

}  // namespace operators

using namespace operators;

#define KERNEL extern "C" __global__ void
#define OF_TYPE(T)                                                                          \
  KERNEL torch_softmax_rows_##T(const T* x, T* out, int rows, int columns, int pitch) {     \
    softmax_of_row<T, false>(x, out, columns, pitch);                                       \
  }                                                                                         \
  KERNEL torch_log_softmax_rows_##T(const T* x, T* out, int rows, int columns, int pitch) { \
    softmax_of_row<T, true>(x, out, columns, pitch);                                        \
  }

OF_TYPE(bf16)
OF_TYPE(fp32)
