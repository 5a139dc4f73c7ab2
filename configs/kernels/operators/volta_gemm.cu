// Matrix products on Volta's tensor cores: c = a b, FP16 with FP32 sums, both operands with k contiguous (a: rows x depth, b: columns x
// depth), as the forward pass of a linear layer has them. A CTA has a tile of c, a warp 64 x 64, 64 x 32 or 32 x 32 of it. Grid: x tiles
// of columns, y tiles of rows, z products of a batch. Rows, columns and depth are multiples of the tile and of 32.
//
// Volta has neither cp.async nor ldmatrix: a tile of 32 k goes from global memory into registers while the one before is multiplied, then
// into the other of two buffers of shared memory. A lane's 16 bytes of shared memory are fragments of two mma.sync.m8n8k4, whose four
// products of 8 x 8 x 4 are 16 x 16 x 4 of c. Results leave through shared memory, 16 bytes a lane.
//
//   CUDA 12.4 (the last toolkits for sm_70 are those of CUDA 12):
//   nvcc -O3 -std=c++17 -arch=sm_70 -cubin -o volta_gemm.cubin volta_gemm.cu
//   nvdisasm -c -hex volta_gemm.cubin | tr -s " " > volta_gemm_sm_70.sass
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kWarp = 32;
constexpr int kDepth = 32;                  // of a stage
constexpr int kChunk = 8;                   // elements of 16 bytes
constexpr int kChunks = kDepth / kChunk;    // of a row of a stage
constexpr int kBlock = 16;                  // rows and columns of the four products of one mma.sync
constexpr int kStoredRow = 72;              // elements of a row of results in shared memory: 64 and 16 bytes that keep rows apart

// Rows of 64 bytes: two lie in one pass of the 32 banks. Eight lanes read rows 0-3 and 8-11 (or 4-7 and 12-15) at once.
__device__ __forceinline__ int chunk_at(int row, int chunk) {
  return row * kChunks + (chunk ^ ((row >> 1 & 1) | (row >> 3 & 1) << 1));
}

__device__ __forceinline__ void multiply(float (&c)[8], uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
      : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
}

// Rows of a or b that a CTA takes, `kRows` of them, by `kThreads` threads.
template <int kRows, int kThreads>
struct Staged {
  static constexpr int kVectors = kRows * kChunks / kThreads;
  uint4 vector[kVectors];

  __device__ __forceinline__ void load(const __half* from, int depth) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      vector[v] = *reinterpret_cast<const uint4*>(from + static_cast<int64_t>(v) * (kThreads / kChunks) * depth);
  }
  __device__ __forceinline__ void store(uint4* to) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) to[v * kThreads] = vector[v];
  }
};

template <int kTileRows, int kTileColumns, int kWarpRows, int kWarpColumns>
__device__ __forceinline__ void gemm(const __half* a, const __half* b, __half* c, int rows, int columns, int depth, float alpha) {
  constexpr int kWarpsAcross = kTileColumns / kWarpColumns;
  constexpr int kThreads = kTileRows / kWarpRows * kWarpsAcross * kWarp;
  constexpr int kA = kWarpRows / kBlock, kB = kWarpColumns / kBlock;
  constexpr int kStage = (kTileRows + kTileColumns) * kChunks;
  __shared__ uint4 shared[2 * kStage];

  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int warp_row = warp / kWarpsAcross * kWarpRows, warp_column = warp % kWarpsAcross * kWarpColumns;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTileRows, first_column = static_cast<int64_t>(blockIdx.x) * kTileColumns;

  const int own_row = threadIdx.x / kChunks, own_chunk = threadIdx.x % kChunks;
  const __half* next_a = a + (static_cast<int64_t>(blockIdx.z) * rows + first_row + own_row) * depth + own_chunk * kChunk;
  const __half* next_b = b + (static_cast<int64_t>(blockIdx.z) * columns + first_column + own_row) * depth + own_chunk * kChunk;
  const int own_place = chunk_at(own_row, own_chunk);

  // Quad pairs 0 and 2 have the upper rows of a block, 0 and 1 the left columns; lanes from 16 on the lower four of eight.
  const int within = lane % 4 + lane / 16 * 4;
  const int row_of_a = warp_row + (lane / 4 & 1) * 8 + within, row_of_b = kTileRows + warp_column + (lane / 8 & 1) * 8 + within;

  Staged<kTileRows, kThreads> staged_a;
  Staged<kTileColumns, kThreads> staged_b;
  uint4 of_a[2][kA], of_b[2][kB];
  float sum[kA][kB][8] = {};

  const auto load_stage = [&] {
    staged_a.load(next_a, depth);
    staged_b.load(next_b, depth);
    next_a += kDepth;
    next_b += kDepth;
  };
  const auto store_stage = [&](int buffer) {
    staged_a.store(shared + buffer * kStage + own_place);
    staged_b.store(shared + buffer * kStage + kTileRows * kChunks + own_place);
  };
  const auto load_fragments = [&](int buffer, int chunk, int to) {
#pragma unroll
    for (int i = 0; i < kA; ++i) of_a[to][i] = shared[buffer * kStage + chunk_at(row_of_a, chunk) + i * kBlock * kChunks];
#pragma unroll
    for (int j = 0; j < kB; ++j) of_b[to][j] = shared[buffer * kStage + chunk_at(row_of_b, chunk) + j * kBlock * kChunks];
  };

  load_stage();
  store_stage(0);
  __syncthreads();
  load_fragments(0, 0, 0);
  int buffer = 0;
#pragma unroll 1
  for (int left = depth / kDepth; left > 0; --left) {
    if (left > 1) load_stage();
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      if (chunk == kChunks - 1) {
        if (left > 1) {
          store_stage(buffer ^ 1);
          __syncthreads();
          load_fragments(buffer ^ 1, 0, 0);
        }
      } else {
        load_fragments(buffer, chunk + 1, (chunk + 1) % 2);
      }
#pragma unroll
      for (int i = 0; i < kA; ++i) {
#pragma unroll
        for (int j = 0; j < kB; ++j) {
          const int from = chunk % 2;
          multiply(sum[i][j], of_a[from][i].x, of_a[from][i].y, of_b[from][j].x, of_b[from][j].y);
        }
      }
#pragma unroll
      for (int i = 0; i < kA; ++i) {
#pragma unroll
        for (int j = 0; j < kB; ++j) {
          const int from = chunk % 2;
          multiply(sum[i][j], of_a[from][i].z, of_a[from][i].w, of_b[from][j].z, of_b[from][j].w);
        }
      }
    }
    buffer ^= 1;
  }

  // A block of 16 rows at a time: a warp's own part of shared memory.
  __syncthreads();
  __half* results = reinterpret_cast<__half*>(shared) + warp * kBlock * kStoredRow;
  constexpr int kLanesARow = kWarpColumns / kChunk, kRowsAtOnce = kWarp / kLanesARow;
  __half* own_c = c + (static_cast<int64_t>(blockIdx.z) * rows + first_row + warp_row + lane / kLanesARow) * columns + first_column +
                  warp_column + lane % kLanesARow * kChunk;
  const int to_row = (lane & 1) + lane / 16 * 4 + (lane / 4 & 1) * 8, to_column = (lane & 2) + (lane / 8 & 1) * 8;
#pragma unroll
  for (int i = 0; i < kA; ++i) {
#pragma unroll
    for (int j = 0; j < kB; ++j) {
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        *reinterpret_cast<__half2*>(results + (to_row + (pair & 1) * 2) * kStoredRow + to_column + (pair & 2) * 2 + j * kBlock) =
            __floats2half2_rn(alpha * sum[i][j][2 * pair], alpha * sum[i][j][2 * pair + 1]);
      }
    }
    __syncwarp();
#pragma unroll
    for (int row = 0; row < kBlock; row += kRowsAtOnce) {
      const uint4 stored = *reinterpret_cast<const uint4*>(results + (row + lane / kLanesARow) * kStoredRow + lane % kLanesARow * kChunk);
      *reinterpret_cast<uint4*>(own_c + static_cast<int64_t>(i * kBlock + row) * columns) = stored;
    }
    __syncwarp();
  }
}

}  // namespace

#define GEMM(ROWS, COLUMNS, WARP_ROWS, WARP_COLUMNS, CTAS)                                                               \
  extern "C" __global__ void __launch_bounds__(ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS) * kWarp, CTAS)                \
      volta_gemm_##ROWS##x##COLUMNS(const __half* a, const __half* b, __half* c, int rows, int columns, int depth,       \
                                    float alpha) {                                                                       \
    gemm<ROWS, COLUMNS, WARP_ROWS, WARP_COLUMNS>(a, b, c, rows, columns, depth, alpha);                                  \
  }

GEMM(256, 128, 64, 64, 1)
GEMM(128, 256, 64, 64, 1)
GEMM(128, 128, 64, 64, 2)
GEMM(128, 64, 64, 32, 3)
GEMM(64, 64, 32, 32, 4)
