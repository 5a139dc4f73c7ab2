// PyTorch's kernels that place tensors of a list one after another (torch.cat), and rows by their indices (index_select), with the
// integer divisions of their sources: extents are arguments, so a division is a sequence of ten to twenty instructions. Facts of
// pytorch/pytorch @v2.4, aten/src/ATen/native/cuda:
//
//   Shape.cu, CatArrayBatchedCopy: 512 threads; blockIdx.y is the input, whose elements the CTAs of a column take in turn. For each
//     element the index is divided by the extents, slowest last, for the result, and once more for an input with strides.
//     CatArrayBatchedCopy_aligned16_contig: 16 bytes of a dense input a thread; each element has its own place in the result.
//   Indexing.cu, indexSelectLargeIndex: 128 threads; CTAs take elements in turn. The index is divided by a row's elements, and the
//     column once for each tensor of two extents.
//
// `zero` points to a 0, which is added to the index before the loop: to the importer the index is then data, and it need not divide
// in every pass. The sum of a loop's passes costs one instruction more an element. Registers of a concatenation of 2 bytes, in
// brackets those of PyTorch 2 on an H100: strides over three extents 28 (29), over four 27 (25), dense of three 22 (21).
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o torch_lists.cubin torch_lists.cu
//   nvdisasm -hex torch_lists.cubin | tr -s " " > torch_lists_sm_80.sass
#include "operators.cuh"

namespace operators {

constexpr int kMostInputs = 8, kMostExtents = 4;

struct Layout {
  unsigned extent[kMostExtents], stride[kMostExtents];  // slowest first
};
struct Inputs {
  const void* data[kMostInputs];
  unsigned elements[kMostInputs];
  unsigned extent[kMostInputs];  // along the axis of the list
  unsigned begin[kMostInputs];   // along this axis, in the result
  bool dense[kMostInputs];       // never set in a kernel of tensors with strides, and asked for each element
  Layout layout[kMostInputs];
};

// Offset of the element with this index among `extents`, whose extent along `axis` is `of_axis`.
template <int kExtents>
__device__ __forceinline__ unsigned offset_of(const Layout& layout, unsigned of_axis, int axis, unsigned at) {
  unsigned offset = 0;
#pragma unroll
  for (int i = kExtents - 1; i >= 1; --i) {
    const unsigned extent = i == axis ? of_axis : layout.extent[i];
    const unsigned quotient = at / extent;
    offset += (at - extent * quotient) * layout.stride[i];
    at = quotient;
  }
  return offset + at * layout.stride[0];
}

template <typename T, int kExtents, bool kStrided>
__device__ __forceinline__ void concatenate(T* out, const Inputs& inputs, const Layout& layout, int axis, unsigned axis_stride,
                                            const unsigned* zero) {
  const unsigned input = blockIdx.y, elements = inputs.elements[input];
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_dense = inputs.dense[input];
  if (at >= elements) return;

  const T* const from = static_cast<const T*>(inputs.data[input]);
  unsigned element = at + *zero;
  const unsigned extent = inputs.extent[input], begin = inputs.begin[input] * axis_stride, step = gridDim.x * blockDim.x;
#pragma unroll 1
  while (at < elements) {
    const unsigned to = offset_of<kExtents>(layout, extent, axis, element);
    if (kStrided && !is_dense) {
      out[begin + to] = from[offset_of<kExtents>(inputs.layout[input], extent, axis, element)];
    } else {
      out[begin + to] = from[at];
    }
    at += step;
    element += step;
  }
}

template <typename T, int kExtents>
__device__ __forceinline__ void concatenate_vectors(T* out, const Inputs& inputs, const Layout& layout, int axis,
                                                    unsigned axis_stride, const unsigned* zero) {
  constexpr int kEach = 16 / sizeof(T);
  struct alignas(16) Each {
    T at[kEach];
  };
  const unsigned input = blockIdx.y, elements = inputs.elements[input];
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * kEach;
  if (at >= elements) return;
  const T* const from = static_cast<const T*>(inputs.data[input]);
  unsigned element = at + *zero;
  const unsigned extent = inputs.extent[input], begin = inputs.begin[input] * axis_stride, step = gridDim.x * blockDim.x * kEach;
#pragma unroll 1
  while (at + kEach <= elements) {
    unsigned to[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) to[i] = offset_of<kExtents>(layout, extent, axis, element + i);
    const Each each = *reinterpret_cast<const Each*>(from + at);
#pragma unroll
    for (int i = 0; i < kEach; ++i) out[begin + to[i]] = each.at[i];
    at += step;
    element += step;
  }
#pragma unroll 1
  while (at < elements) {
    out[begin + offset_of<kExtents>(layout, extent, axis, element)] = from[at];
    ++at;
    ++element;
  }
}

// Offset of a column in a tensor whose extent of rows counts as 1.
struct Rows {
  unsigned columns, row_stride, column_stride;
};
__device__ __forceinline__ unsigned column_offset(const Rows& rows, unsigned column) {
  const unsigned quotient = column / rows.columns;
  return (column - quotient * rows.columns) * rows.column_stride + quotient * rows.row_stride;
}

template <typename T>
__device__ __forceinline__ void index_select(T* out, const T* x, const int64_t* index, const Rows& out_rows, const Rows& x_rows,
                                             unsigned elements, unsigned columns, const unsigned* zero) {
  unsigned element = blockIdx.x * blockDim.x + threadIdx.x + *zero;
#pragma unroll 1
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < elements; at += gridDim.x * blockDim.x) {
    const unsigned row = element / columns, column = element - row * columns;
    const unsigned from = static_cast<unsigned>(index[row]);
    const unsigned out_at = column_offset(out_rows, column) + row * out_rows.row_stride;
    const unsigned x_at = column_offset(x_rows, column) + from * x_rows.row_stride;
    out[out_at] = x[x_at];
    element += gridDim.x * blockDim.x;
  }
}

using half_word = unsigned short;
using word = unsigned;

}  // namespace operators

using namespace operators;

#define CONCATENATE(NAME, OF, T, EXTENTS)                                                                                     \
  extern "C" __global__ void __launch_bounds__(512)                                                                           \
      NAME##_##EXTENTS##_##T(void* out, Inputs inputs, Layout layout, int axis, unsigned axis_stride, const unsigned* zero) { \
    OF(static_cast<T*>(out), inputs, layout, axis, axis_stride, zero);                                                        \
  }
#define OF_EXTENTS(T, EXTENTS)                                                        \
  CONCATENATE(torch_concatenate_strided, (concatenate<T, EXTENTS, true>), T, EXTENTS) \
  CONCATENATE(torch_concatenate_dense, (concatenate<T, EXTENTS, false>), T, EXTENTS)  \
  CONCATENATE(torch_concatenate_vectors, (concatenate_vectors<T, EXTENTS>), T, EXTENTS)
#define OF_TYPE(T)                                                                                                    \
  OF_EXTENTS(T, 1)                                                                                                    \
  OF_EXTENTS(T, 2)                                                                                                    \
  OF_EXTENTS(T, 3)                                                                                                    \
  OF_EXTENTS(T, 4)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(128)                                                                   \
      torch_index_select_##T(T* out, const T* x, const int64_t* index, Rows out_rows, Rows x_rows, unsigned elements, \
                             unsigned columns, const unsigned* zero) {                                                \
    index_select(out, x, index, out_rows, x_rows, elements, columns, zero);                                           \
  }

OF_TYPE(half_word)
OF_TYPE(word)
