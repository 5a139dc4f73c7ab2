// Sums of rows and of columns, transposition, a gather of rows, and products of matrices as a first lesson has them.
//
//   nvcc -O3 -use_fast_math -std=c++17 -arch=sm_80 -cubin -o reduce.cubin reduce.cu
//   nvdisasm -c -hex reduce.cubin | tr -s " " > reduce_sm_80.sass
#include "operators.cuh"

namespace operators {

template <typename T>
__device__ __forceinline__ T as(float value);
template <>
__device__ __forceinline__ float as<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ bf16 as<bf16>(float value) {
  return __float2bfloat16(value);
}

template <typename T, int kThreads>
__device__ __forceinline__ void row_sums(const T* x, float* sums, int columns) {
  __shared__ float partial[kWarp];
  const T* const row = x + static_cast<int64_t>(blockIdx.x) * columns;
  float total = 0;
#pragma unroll 4
  for (int column = threadIdx.x * kElements<T>; column < columns; column += kThreads * kElements<T>) {
    const Values<T> a = values(load(row + column));
#pragma unroll
    for (int i = 0; i < kElements<T>; ++i) total += a.at[i];
  }
  total = over_row<Sum, kThreads>(total, partial);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// A CTA has 32 vectors of columns and goes through the rows in blockIdx.y's part of them, eight at a time; with several parts the
// results are added to.
template <typename In, typename Out>
__device__ __forceinline__ void column_sums(const In* x, Out* sums, int rows, int columns) {
  constexpr int kAtATime = 8;
  __shared__ float partial[kAtATime][kWarp * kElements<In> + 4];
  const int column = (blockIdx.x * kWarp + threadIdx.x) * kElements<In>;
  float total[kElements<In>] = {};
  if (column < columns) {
#pragma unroll 4
    for (int row = blockIdx.y * kAtATime + threadIdx.y; row < rows; row += gridDim.y * kAtATime) {
      const Values<In> a = values(load(x + static_cast<int64_t>(row) * columns + column));
#pragma unroll
      for (int i = 0; i < kElements<In>; ++i) total[i] += a.at[i];
    }
  }
#pragma unroll
  for (int i = 0; i < kElements<In>; ++i) partial[threadIdx.y][i * kWarp + threadIdx.x] = total[i];
  __syncthreads();
  if (threadIdx.y >= kElements<In> || column >= columns) return;
  float sum = 0;
#pragma unroll
  for (int y = 0; y < kAtATime; ++y) sum += partial[y][threadIdx.y * kWarp + threadIdx.x];
  sums[static_cast<int64_t>(blockIdx.y) * columns + column + threadIdx.y] = as<Out>(sum);
}

// Tiles of 64 x 64 through shared memory: a thread loads and stores vectors of eight.
__device__ __forceinline__ void transpose(const bf16* x, bf16* out, int rows, int columns) {
  constexpr int kTile = 64, kPitch = kTile + 2;
  __shared__ uint16_t tile[kTile][kPitch];
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  const int part = threadIdx.x % 8 * 8;
#pragma unroll
  for (int y = threadIdx.x / 8; y < kTile; y += 32) {
    const Vector<bf16> v = load(x + static_cast<int64_t>(row0 + y) * columns + column0 + part);
    const unsigned word[4] = {v.bits.x, v.bits.y, v.bits.z, v.bits.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) *reinterpret_cast<unsigned*>(&tile[y][part + 2 * i]) = word[i];
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.x / 8; y < kTile; y += 32) {
    unsigned word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) word[i] = tile[part + 2 * i][y] | static_cast<unsigned>(tile[part + 2 * i + 1][y]) << 16;
    *reinterpret_cast<uint4*>(out + static_cast<int64_t>(column0 + y) * rows + row0 + part) =
        make_uint4(word[0], word[1], word[2], word[3]);
  }
}

}  // namespace operators

using namespace operators;

extern "C" __global__ void __launch_bounds__(256) row_sums_bf16(const bf16* x, float* sums, int rows, int columns) {
  row_sums<bf16, 256>(x, sums, columns);
}
extern "C" __global__ void __launch_bounds__(256) row_sums_fp32(const fp32* x, float* sums, int rows, int columns) {
  row_sums<fp32, 256>(x, sums, columns);
}
extern "C" __global__ void __launch_bounds__(256) column_sums_bf16(const bf16* x, float* sums, int rows, int columns) {
  column_sums(x, sums, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256) column_sums_fp32(const fp32* x, float* sums, int rows, int columns) {
  column_sums(x, sums, rows, columns);
}
extern "C" __global__ void __launch_bounds__(256) transpose_bf16(const bf16* x, bf16* out, int rows, int columns) {
  transpose(x, out, rows, columns);
}
// A CTA copies the row of the table that its token names.
extern "C" __global__ void __launch_bounds__(256)
    embedding_bf16(const bf16* table, const int64_t* tokens, bf16* out, int rows, int columns) {
  const bf16* const from = table + tokens[blockIdx.x] * columns;
#pragma unroll 1
  for (int column = threadIdx.x * 8; column < columns; column += 256 * 8) {
    const Vector<bf16> v = load(from + column);
    *reinterpret_cast<Vector<bf16>*>(out + static_cast<int64_t>(blockIdx.x) * columns + column) = v;
  }
}

// C[rows, columns] = A[rows, depth] B[depth, columns], an element a thread: from global memory, and by tiles of 32 x 32 in shared.
extern "C" __global__ void __launch_bounds__(1024)
    matmul_naive_fp32(const float* a, const float* b, float* c, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < depth; ++k)
    sum = fmaf(a[static_cast<int64_t>(row) * depth + k], b[static_cast<int64_t>(k) * columns + column], sum);
  c[static_cast<int64_t>(row) * columns + column] = sum;
}
extern "C" __global__ void __launch_bounds__(1024)
    matmul_tiled_fp32(const float* a, const float* b, float* c, int rows, int columns, int depth) {
  constexpr int kTile = 32;
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < depth; k += kTile) {
    left[threadIdx.y][threadIdx.x] = a[static_cast<int64_t>(row) * depth + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[static_cast<int64_t>(k + threadIdx.y) * columns + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = fmaf(left[threadIdx.y][i], right[i][threadIdx.x], sum);
    __syncthreads();
  }
  c[static_cast<int64_t>(row) * columns + column] = sum;
}
