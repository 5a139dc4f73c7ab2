// Matrix products of two stages, whose operands go through registers: the order of CUTLASS's kernels cutlass_75_tensorop_* with
// alignments below 16 bytes, as a library takes them for odd sizes. c = a b in BF16 with FP32 sums by mma.sync.m16n8k8. `rows` of a
// and c, `columns` of b and c, `depth`; c is dense by rows, and z has the products of a batch. A name has the library's letters and
// order: 256x128 is a tile of 128 rows by 256 columns, and the letters say first of b, then of a how it lies:
//
//   b   t  columns x depth   n  depth x columns
//   a   n  rows x depth      t  depth x rows
//
// The facts are those of NVIDIA/cutlass @7107b05, include/cutlass:
//
//   gemm/threadblock/mma_pipelined.h                 the next tile of 32 k is loaded while the first 8 of k are multiplied, and goes
//                                                    to the other buffer before the last 8
//   transform/threadblock/predicated_tile_*.h        a thread has 8 elements side by side, an access each; its predicates are bits of
//                                                    a register; the first tile is the one that depth does not fill
//   gemm/threadblock/default_mma_core_sm75.h         lanes of a warp: 4 x 8 rows where k is contiguous, else 8 x 4 of k
//   epilogue/threadblock/{epilogue,output_tile_thread_map}.h   8 rows of each warp at a time through shared memory in FP32; lanes
//                                                    store along a row, an element each
//
// Left out: gemm/threadblock/threadblock_swizzle.h, by which eight tiles of columns come before the next tile of rows.
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o register_gemm.cubin register_gemm.cu
//   nvdisasm -c -hex register_gemm.cubin | tr -s " " > register_gemm_sm_80.sass
#include <cuda_bf16.h>

#include <cstdint>

namespace {

using Element = unsigned short;

constexpr int kWarp = 32;
constexpr int kStageDepth = 32, kPart = 8;  // k of a stage; k of one mma.sync
constexpr int kParts = kStageDepth / kPart;
constexpr int kPiece = 8;                   // elements of 16 bytes
constexpr int kWarpTile = 64;               // rows and columns of a warp
constexpr int kEight = 8;                   // rows of a matrix of ldmatrix, and of a step of the epilogue
constexpr int kStep = 16;                   // rows of one mma.sync
constexpr int kSpacing = 8;                 // floats between rows of results in shared memory

__device__ __forceinline__ void load_element(Element& to, const Element* from, bool guard) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.u16 %0, [%1];}" : "+h"(to) : "l"(from), "r"(static_cast<int>(guard)));
}

__device__ __forceinline__ void store_element(Element* to, __nv_bfloat16 value, bool guard) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.u16 [%0], %1;}" ::"l"(to), "h"(__bfloat16_as_ushort(value)),
               "r"(static_cast<int>(guard))
               : "memory");
}

template <bool kTransposed>
__device__ __forceinline__ void load_matrices(uint32_t (&to)[4], uint32_t from) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from));
  }
}

__device__ __forceinline__ void multiply(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a0), "r"(a1), "r"(b));
}

// One operand: `kLines` rows of a or columns of b. `kAlongDepth`: k is contiguous, otherwise the lines are.
template <int kLines, bool kAlongDepth, int kWarps>
struct Operand {
  static constexpr int kContiguous = kAlongDepth ? kStageDepth : kLines;
  static constexpr int kStrided = kAlongDepth ? kLines : kStageDepth;
  static constexpr int kPieces = kContiguous / kPiece;
  static constexpr int kAcross = kPieces < 8 ? kPieces : 8;  // lanes of a warp side by side
  static constexpr int kDown = kWarp / kAcross;
  static constexpr int kTurnsAcross = kPieces / kAcross, kTurnsDown = kStrided / kDown / kWarps;
  static constexpr int kStageBytes = kLines * kStageDepth * 2;
  static constexpr int kRowBytes = kPieces * 16;

  const Element* from;
  int stride;
  int line, k;  // of the thread's first element
  uint32_t mask[2];
  uint32_t to[2];    // the thread's first piece in the first buffer: even and odd turns down
  uint32_t read[2];  // the lane's row of four matrices in the first buffer: the upper and the lower 32 lines of a warp
  Element staged[kTurnsDown][kTurnsAcross][kPiece];
  uint32_t fragment[2][2][4];

  // Byte of a piece in a stage, swizzled so that neither stores nor ldmatrix have bank conflicts.
  static __device__ __forceinline__ uint32_t place(int row, int piece) {
    return (row * kPieces + (piece ^ (kAlongDepth ? row / 2 % 4 : row % 8))) * 16;
  }

  __device__ __forceinline__ Operand(const Element* matrix, uint32_t stages, int first_line, int warp_line, int lines, int depth) {
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    const int row = warp * kTurnsDown * kDown + lane / kAcross, piece = lane % kAcross;
    line = first_line + (kAlongDepth ? row : piece * kPiece);
    k = kAlongDepth ? piece * kPiece : row;
    stride = kAlongDepth ? depth : lines;
    from = matrix + (kAlongDepth ? static_cast<int64_t>(line) * stride + k : static_cast<int64_t>(k) * stride + line);
    for (int odd = 0; odd < 2; ++odd) {
      to[odd] = stages + place(row + odd * kDown, piece);
      read[odd] = stages + (kAlongDepth ? place(warp_line + odd * kWarp + lane, 0)
                                        : place(lane % kEight, warp_line / kPiece + odd * 4 + lane / kEight));
    }
    set_mask(lines, (depth - 1) % kStageDepth + 1);
  }

  // Which elements of a stage lie in the matrix: bits 0 to 3 of each byte.
  static __device__ __forceinline__ uint32_t bit_of(int access) { return 1U << (access % 16 / 4 * 8 + access % 4); }
  __device__ __forceinline__ void set_mask(int lines, int until) {
    mask[0] = mask[1] = 0;
    each([&](int down, int across, int e, int access) {
      const int at_line = line + (kAlongDepth ? down * kDown : across * kAcross * kPiece + e);
      const int at_k = k + (kAlongDepth ? across * kAcross * kPiece + e : down * kDown);
      if (at_line < lines && at_k < until) mask[access / 16] |= bit_of(access);
    });
  }
  __device__ __forceinline__ void clear_mask_if(bool clear) {
    mask[0] = clear ? 0 : mask[0];
    mask[1] = clear ? 0 : mask[1];
  }

  __device__ __forceinline__ void load() {
    each([&](int down, int across, int e, int access) {
      staged[down][across][e] = 0;
      load_element(staged[down][across][e], from + static_cast<int64_t>(down) * (kDown * stride) + across * kAcross * kPiece + e,
                   (mask[access / 16] & bit_of(access)) != 0);
    });
  }
  __device__ __forceinline__ void advance(int by) { from += kAlongDepth ? by : static_cast<int64_t>(by) * stride; }

  __device__ __forceinline__ void store(int buffer) const {
#pragma unroll
    for (int down = 0; down < kTurnsDown; ++down) {
#pragma unroll
      for (int across = 0; across < kTurnsAcross; ++across) {
        const Element(&e)[kPiece] = staged[down][across];
        const uint32_t at = to[down % 2] + buffer * kStageBytes + down / 2 * 2 * kDown * kRowBytes + across * kAcross * 16;
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(e[0] | static_cast<uint32_t>(e[1]) << 16),
                     "r"(e[2] | static_cast<uint32_t>(e[3]) << 16), "r"(e[4] | static_cast<uint32_t>(e[5]) << 16),
                     "r"(e[6] | static_cast<uint32_t>(e[7]) << 16)
                     : "memory");
      }
    }
  }
  __device__ __forceinline__ void load_fragments(int buffer, int part) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if constexpr (kAlongDepth) {
        load_matrices<false>(fragment[part % 2][half], (read[half] ^ part * 16) + buffer * kStageBytes);
      } else {
        load_matrices<true>(fragment[part % 2][half], read[half] + buffer * kStageBytes + part * kEight * kRowBytes);
      }
    }
  }

 private:
  template <typename Body>
  static __device__ __forceinline__ void each(const Body& body) {
#pragma unroll
    for (int down = 0; down < kTurnsDown; ++down) {
#pragma unroll
      for (int across = 0; across < kTurnsAcross; ++across) {
#pragma unroll
        for (int e = 0; e < kPiece; ++e) body(down, across, e, (down * kTurnsAcross + across) * kPiece + e);
      }
    }
  }
};

template <int kTileColumns, int kTileRows, bool kDepthInB, bool kDepthInA>
__device__ __forceinline__ void gemm(const Element* a, const Element* b, Element* c, int rows, int columns, int depth, float alpha) {
  constexpr int kWarpsDown = kTileRows / kWarpTile, kWarps = kWarpsDown * (kTileColumns / kWarpTile);
  constexpr int kMmasDown = kWarpTile / kStep, kMmasAcross = kWarpTile / kEight;
  using OfA = Operand<kTileRows, kDepthInA, kWarps>;
  using OfB = Operand<kTileColumns, kDepthInB, kWarps>;
  __shared__ __align__(128) unsigned char bytes[2 * (OfA::kStageBytes + OfB::kStageBytes)];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(bytes));

  const int first_row = static_cast<int>(blockIdx.x) * kTileRows, first_column = static_cast<int>(blockIdx.y) * kTileColumns;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int warp_row = warp % kWarpsDown * kWarpTile, warp_column = warp / kWarpsDown * kWarpTile;
  a += static_cast<int64_t>(blockIdx.z) * rows * depth;
  b += static_cast<int64_t>(blockIdx.z) * columns * depth;
  c += static_cast<int64_t>(blockIdx.z) * rows * columns;

  OfA of_a(a, shared, first_row, warp_row, rows, depth);
  OfB of_b(b, shared + 2 * OfA::kStageBytes, first_column, warp_column, columns, depth);
  float sum[kMmasDown][kMmasAcross][4] = {};

  of_a.load();
  of_b.load();
  const int residue = (depth - 1) % kStageDepth + 1;
  of_a.advance(residue);
  of_b.advance(residue);
  of_a.set_mask(rows, kStageDepth);
  of_b.set_mask(columns, kStageDepth);
  of_a.store(0);
  of_b.store(0);
  __syncthreads();

  of_a.load_fragments(0, 0);
  of_b.load_fragments(0, 0);
  int left = (depth + kStageDepth - 1) / kStageDepth;
  of_a.clear_mask_if(left <= 1);
  of_b.clear_mask_if(left <= 1);
  int buffer = 0;
#pragma unroll 1
  for (; left > 0; --left) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part == kParts - 1) {
        buffer ^= 1;
        of_a.store(buffer);
        of_b.store(buffer);
        __syncthreads();
      }
      of_a.load_fragments(buffer, (part + 1) % kParts);
      of_b.load_fragments(buffer, (part + 1) % kParts);
      if (part == 0) {
        of_a.load();
        of_b.load();
        of_a.advance(kStageDepth);
        of_b.advance(kStageDepth);
        of_a.clear_mask_if(left <= 2);
        of_b.clear_mask_if(left <= 2);
      }
#pragma unroll
      for (int i = 0; i < kMmasDown; ++i) {
#pragma unroll
        for (int j = 0; j < kMmasAcross; ++j) {
          const uint32_t(&from_a)[4] = of_a.fragment[part % 2][i / 2];
          multiply(sum[i][j], from_a[i % 2 * 2], from_a[i % 2 * 2 + 1], of_b.fragment[part % 2][j / 4][j % 4]);
        }
      }
    }
  }

  // Eight rows of each warp: kWarpsDown groups of rows, between which the warps are divided again.
  constexpr int kStoredRow = kTileColumns + kSpacing, kWarpsOfGroup = kWarps / kWarpsDown, kRows = kEight / kWarpsOfGroup;
  constexpr int kTurns = kTileColumns / kWarp;
  float* const results = reinterpret_cast<float*>(bytes);
  float* const own = results + (warp % kWarpsDown * kEight + lane / 4) * kStoredRow + warp_column + lane % 4 * 2;
  const int group = warp / kWarpsOfGroup, row_of_group = warp % kWarpsOfGroup * kRows;
  const float* const stored = results + (group * kEight + row_of_group) * kStoredRow + lane;
  const int row = first_row + group * kWarpTile + row_of_group, column = first_column + lane;
  Element* at = c + static_cast<int64_t>(row) * columns + column;
  bool inside[kTurns];
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) inside[turn] = column + turn * kWarp < columns;
#pragma unroll
  for (int step = 0; step < kWarpTile / kEight; ++step) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kMmasAcross; ++j) {
      const float(&pair)[4] = sum[step / 2][j];
      *reinterpret_cast<float2*>(own + j * kEight) = make_float2(pair[step % 2 * 2], pair[step % 2 * 2 + 1]);
    }
    __syncthreads();
    float value[kRows][kTurns];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) value[i][turn] = stored[i * kStoredRow + turn * kWarp];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const bool in_row = row + step * kEight + i < rows;
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        const __nv_bfloat16 result = __float2bfloat16(alpha * value[i][turn]);
        store_element(at + static_cast<int64_t>(i) * columns + turn * kWarp, result, in_row && inside[turn]);
      }
    }
    at += static_cast<int64_t>(kEight) * columns;
  }
}

}  // namespace

#define GEMM(COLUMNS, ROWS, LETTERS, DEPTH_IN_B, DEPTH_IN_A)                                                              \
  extern "C" __global__ void __launch_bounds__(ROWS / kWarpTile * (COLUMNS / kWarpTile) * kWarp, 1)                       \
      register_gemm_##COLUMNS##x##ROWS##_##LETTERS(const Element* a, const Element* b, Element* c, int rows, int columns, \
                                                   int depth, float alpha) {                                              \
    gemm<COLUMNS, ROWS, DEPTH_IN_B, DEPTH_IN_A>(a, b, c, rows, columns, depth, alpha);                                    \
  }

GEMM(256, 128, tn, true, true)
GEMM(128, 128, nn, false, true)
