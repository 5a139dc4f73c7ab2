// Matrix products whose operands go through registers: the order of CUTLASS's kernels of one or two stages, as a library takes
// them for odd sizes and small products. c = a b in BF16 with FP32 sums. `rows` of a and c, `columns` of b and c, `depth`; c is
// dense by rows, and z has the products of a batch. A name has the library's letters and order: 256x128 is a tile of 128 rows by
// 256 columns. The letters say first of b, then of a how it lies: b is columns x depth (t) or depth x columns (n), a is rows x
// depth (n).
//
//   256x128_tn_align1    cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1: mma.sync.m16n8k8, tiles of 32 k, two stages
//                        and warps of 64 x 64. The next tile is loaded while the first 8 of k are multiplied. It goes to the
//                        other buffer before the last 8
//   wmma_32x32_128x2_*   cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_*: wmma of 16 x 16 x 16, tiles of 128 k, two
//                        stages in the same order, warps of 16 x 16
//   wmma_16x16_32x1_*    one stage: the next tile is loaded behind the products of this one
//
// The facts are those of NVIDIA/cutlass @7107b05, include/cutlass:
//
//   gemm/threadblock/mma_{pipelined,singlestage}.h    the order of loads, stores and products
//   transform/threadblock/predicated_tile_*.h         a thread has 8 elements side by side, an access for each `align` of them.
//                                                     Its predicates are bits of a register. The first tile is the one that
//                                                     depth does not fill
//   gemm/threadblock/default_mma_core_{sm75,wmma}.h   which elements a thread has; wmma: rows in shared memory have 8 elements
//                                                     between them
//   epilogue/threadblock/epilogue.h                   8 or 16 rows of each warp at a time go through shared memory in FP32
//   epilogue/threadblock/output_tile_thread_map.h     lanes store along a row, `align` elements each
//
// Left out: gemm/threadblock/threadblock_swizzle.h, by which eight tiles of columns come before the next tile of rows; a matrix
// that the epilogue adds (beta).
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o register_gemm.cubin register_gemm.cu
//   nvdisasm -c -hex register_gemm.cubin | tr -s " " > register_gemm_sm_80.sass
#include "gemm_parts.cuh"

namespace {

// The CTA has neighbouring rows. Stages lie side by side along k.
template <int kLines, int kDepth, int kStages, bool kAlong, int kThreads>
struct Stripmined {
  static constexpr bool kAlongDepth = kAlong;
  static constexpr int kPieces = (kAlong ? kDepth : kLines) / kPiece, kStrided = kAlong ? kLines : kDepth;
  static constexpr int kDown = kThreads / kPieces;
  static constexpr int kTurnsAcross = 1, kTurnsDown = kStrided / kDown, kAcross = kPieces;
  static constexpr int kRow = (kAlong ? kStages * kDepth : kLines) + kSpacing;  // elements
  static constexpr int kRowBytes = kRow * 2, kStageBytes = kAlong ? kDepth * 2 : kDepth * kRowBytes;
  static constexpr int kBytes = (kAlong ? kLines : kStages * kDepth) * kRowBytes;
  static __device__ __forceinline__ int row() { return threadIdx.x / kPieces; }
  static __device__ __forceinline__ int piece() { return threadIdx.x % kPieces; }
  static __device__ __forceinline__ uint32_t place(int row, int piece) { return row * kRowBytes + piece * 16; }
};

// A thread's part of one operand, on its way from global to shared memory.
template <typename Map, int kDepth, int kElements>
struct Operand {
  static constexpr int kAccesses = kPiece / kElements;  // of a piece
  const Element* from;
  int stride;
  int line, k;  // of the thread's first element
  uint32_t mask[2];
  uint32_t to[2];  // the thread's first piece in the first buffer: even and odd turns down
  Access<kElements> staged[Map::kTurnsDown][Map::kTurnsAcross][kAccesses];

  __device__ __forceinline__ Operand(const Element* matrix, uint32_t stages, int first_line, int lines, int depth) {
    const int row = Map::row(), piece = Map::piece();
    line = first_line + (Map::kAlongDepth ? row : piece * kPiece);
    k = Map::kAlongDepth ? piece * kPiece : row;
    stride = Map::kAlongDepth ? depth : lines;
    from = matrix + (Map::kAlongDepth ? static_cast<int64_t>(line) * stride + k : static_cast<int64_t>(k) * stride + line);
    for (int odd = 0; odd < 2; ++odd) to[odd] = stages + Map::place(row + odd * Map::kDown, piece);
    set_mask(lines, (depth - 1) % kDepth + 1);
  }

  // Which accesses of a stage lie in the matrix: bits 0 to 3 of each byte.
  static __device__ __forceinline__ uint32_t bit_of(int access) { return 1U << (access % 16 / 4 * 8 + access % 4); }
  __device__ __forceinline__ void set_mask(int lines, int until) {
    mask[0] = mask[1] = 0;
    each([&](int down, int across, int part, int access) {
      const int below = down * Map::kDown, along = across * Map::kAcross * kPiece + part * kElements;
      const int at_line = line + (Map::kAlongDepth ? below : along), at_k = k + (Map::kAlongDepth ? along : below);
      if (at_line < lines && at_k < until) mask[access / 16] |= bit_of(access);
    });
  }
  __device__ __forceinline__ void clear_mask_if(bool clear) {
    mask[0] = clear ? 0 : mask[0];
    mask[1] = clear ? 0 : mask[1];
  }

  __device__ __forceinline__ void load(int by) {
    each([&](int down, int across, int part, int access) {
      staged[down][across][part].load(
          from + static_cast<int64_t>(down) * (Map::kDown * stride) + across * Map::kAcross * kPiece + part * kElements,
          (mask[access / 16] & bit_of(access)) != 0);
    });
    from += Map::kAlongDepth ? by : static_cast<int64_t>(by) * stride;
  }
  __device__ __forceinline__ void store(int buffer) const {
#pragma unroll
    for (int down = 0; down < Map::kTurnsDown; ++down) {
#pragma unroll
      for (int across = 0; across < Map::kTurnsAcross; ++across) {
        const uint4 piece = piece_of(staged[down][across]);
        const uint32_t at =
            to[down % 2] + buffer * Map::kStageBytes + down / 2 * 2 * Map::kDown * Map::kRowBytes + across * Map::kAcross * 16;
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(piece.x), "r"(piece.y), "r"(piece.z), "r"(piece.w)
                     : "memory");
      }
    }
  }

 private:
  template <typename Body>
  static __device__ __forceinline__ void each(const Body& body) {
#pragma unroll
    for (int down = 0; down < Map::kTurnsDown; ++down) {
#pragma unroll
      for (int across = 0; across < Map::kTurnsAcross; ++across) {
#pragma unroll
        for (int part = 0; part < kAccesses; ++part)
          body(down, across, part, (down * Map::kTurnsAcross + across) * kAccesses + part);
      }
    }
  }
};

// The loads and stores of a and b together, a tile of `kDepth` k after the other.
template <typename MapA, typename MapB, int kDepth, int kElements>
struct Operands {
  Operand<MapA, kDepth, kElements> a;
  Operand<MapB, kDepth, kElements> b;
  int left;  // tiles of k to multiply

  __device__ __forceinline__ Operands(const Element* of_a, const Element* of_b, uint32_t shared, int first_row, int first_column,
                                      int rows, int columns, int depth)
      : a(of_a, shared, first_row, rows, depth), b(of_b, shared + MapA::kBytes, first_column, columns, depth) {
    const int residue = (depth - 1) % kDepth + 1;
    left = (depth + kDepth - 1) / kDepth;
    a.load(residue);
    b.load(residue);
    a.set_mask(rows, kDepth);
    b.set_mask(columns, kDepth);
    clear_masks_if(left <= 1);
  }
  __device__ __forceinline__ void load() {
    a.load(kDepth);
    b.load(kDepth);
    clear_masks_if(left <= 2);
  }
  __device__ __forceinline__ void store(int buffer) {
    a.store(buffer);
    b.store(buffer);
  }

 private:
  __device__ __forceinline__ void clear_masks_if(bool clear) {
    a.clear_mask_if(clear);
    b.clear_mask_if(clear);
  }
};

// mma.sync.m16n8k8 ---------------------------------------------------------------------------------------------------------------
constexpr int kPart = 8;               // k of one mma.sync
constexpr int kWarpTile = 64;          // rows and columns of a warp
constexpr int kEight = 8, kStep = 16;  // rows of a matrix of ldmatrix, of one mma.sync

__device__ __forceinline__ void multiply(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a0), "r"(a1), "r"(b));
}

// 64 lines of a warp, 8 of k at a time, twice.
template <typename Map>
struct Fragments {
  uint32_t from[2];  // the lane's row of four matrices in the first buffer: the upper and the lower 32 lines
  uint32_t of[2][2][4];

  __device__ __forceinline__ Fragments(uint32_t stages, int first_line) {
    const int lane = threadIdx.x % kWarp;
    for (int half = 0; half < 2; ++half) {
      from[half] = stages + (Map::kAlongDepth ? Map::place(first_line + half * kWarp + lane, 0)
                                              : Map::place(lane % kEight, first_line / kPiece + half * 4 + lane / kEight));
    }
  }
  __device__ __forceinline__ void load(int buffer, int part) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if constexpr (Map::kAlongDepth) {
        load_matrices<false>(of[part % 2][half], (from[half] ^ part * 16) + buffer * Map::kStageBytes);
      } else {
        load_matrices<true>(of[part % 2][half], from[half] + buffer * Map::kStageBytes + part * kEight * Map::kRowBytes);
      }
    }
  }
};

template <int kTileColumns, int kTileRows, bool kDepthInB, int kElements>
__device__ __forceinline__ void gemm(const Element* a, const Element* b, Element* c, int rows, int columns, int depth,
                                     float alpha) {
  constexpr int kDepth = 32, kParts = kDepth / kPart;
  constexpr int kWarpsDown = kTileRows / kWarpTile, kWarps = kWarpsDown * (kTileColumns / kWarpTile);
  constexpr int kMmasDown = kWarpTile / kStep, kMmasAcross = kWarpTile / kEight;
  using MapA = Raked<kTileRows, kDepth, 2, true, kWarps * kWarp>;
  using MapB = Raked<kTileColumns, kDepth, 2, kDepthInB, kWarps * kWarp>;
  __shared__ __align__(128) unsigned char bytes[MapA::kBytes + MapB::kBytes];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(bytes));

  const int first_row = static_cast<int>(blockIdx.x) * kTileRows, first_column = static_cast<int>(blockIdx.y) * kTileColumns;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int warp_row = warp % kWarpsDown * kWarpTile, warp_column = warp / kWarpsDown * kWarpTile;
  a += static_cast<int64_t>(blockIdx.z) * rows * depth;
  b += static_cast<int64_t>(blockIdx.z) * columns * depth;
  c += static_cast<int64_t>(blockIdx.z) * rows * columns;

  Operands<MapA, MapB, kDepth, kElements> operands(a, b, shared, first_row, first_column, rows, columns, depth);
  Fragments<MapA> of_a(shared, warp_row);
  Fragments<MapB> of_b(shared + MapA::kBytes, warp_column);
  float sum[kMmasDown][kMmasAcross][4] = {};
  operands.store(0);
  __syncthreads();
  of_a.load(0, 0);
  of_b.load(0, 0);
  int buffer = 0;
#pragma unroll 1
  for (; operands.left > 0; --operands.left) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part == kParts - 1) {
        buffer ^= 1;
        operands.store(buffer);
        __syncthreads();
      }
      of_a.load(buffer, (part + 1) % kParts);
      of_b.load(buffer, (part + 1) % kParts);
      if (part == 0) operands.load();
#pragma unroll
      for (int i = 0; i < kMmasDown; ++i) {
#pragma unroll
        for (int j = 0; j < kMmasAcross; ++j) {
          const uint32_t(&from_a)[4] = of_a.of[part % 2][i / 2];
          multiply(sum[i][j], from_a[i % 2 * 2], from_a[i % 2 * 2 + 1], of_b.of[part % 2][j / 4][j % 4]);
        }
      }
    }
  }

  using Stores = Results<kTileColumns, kEight, kWarpsDown, kWarps, kElements>;
  float* const results = reinterpret_cast<float*>(bytes);
  float* const own = results + (warp % kWarpsDown * kEight + lane / 4) * Stores::kRow + warp_column + lane % 4 * 2;
  Stores stores(results, c, first_row, first_column, kWarpTile, rows, columns);
#pragma unroll
  for (int step = 0; step < kWarpTile / kEight; ++step) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kMmasAcross; ++j) {
      const float(&pair)[4] = sum[step / 2][j];
      *reinterpret_cast<float2*>(own + j * kEight) = make_float2(pair[step % 2 * 2], pair[step % 2 * 2 + 1]);
    }
    __syncthreads();
    stores.store(alpha);
  }
}

// wmma ---------------------------------------------------------------------------------------------------------------------------
// Addresses say that they are of shared memory, which a compiler may also find by itself.
constexpr int kSide = 16;  // of wmma, and of a warp

#define WMMA_LOAD(NAME, OPERAND, LAYOUT)                                                                           \
  __device__ __forceinline__ void NAME(uint32_t(&to)[4], uint32_t from, int row) {                                 \
    asm volatile("wmma.load." OPERAND ".sync.aligned." LAYOUT ".m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;" \
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])                                              \
                 : "r"(from), "r"(row));                                                                           \
  }
WMMA_LOAD(load_a_along_depth, "a", "row")
WMMA_LOAD(load_b_along_depth, "b", "col")
WMMA_LOAD(load_b_along_lines, "b", "row")

__device__ __forceinline__ void multiply(float (&sum)[8], const uint32_t (&a)[4], const uint32_t (&b)[4], bool b_along_depth) {
#define WMMA_MULTIPLY(LAYOUT)                                                                                                   \
  asm volatile("wmma.mma.sync.aligned.row." LAYOUT                                                                              \
               ".m16n16k16.f32.bf16.bf16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "                                                \
               "{%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"                                    \
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]) \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]))
  if (b_along_depth) {
    WMMA_MULTIPLY("col");
  } else {
    WMMA_MULTIPLY("row");
  }
}

template <int kTileColumns, int kTileRows, int kDepth, int kStages, bool kDepthInB, int kElements>
__device__ __forceinline__ void gemm_wmma(const Element* a, const Element* b, Element* c, int rows, int columns, int depth,
                                          float alpha) {
  constexpr int kParts = kDepth / kSide, kWarpsDown = kTileRows / kSide, kWarps = kWarpsDown * (kTileColumns / kSide);
  using MapA = Stripmined<kTileRows, kDepth, kStages, true, kWarps * kWarp>;
  using MapB = Stripmined<kTileColumns, kDepth, kStages, kDepthInB, kWarps * kWarp>;
  __shared__ __align__(128) unsigned char bytes[MapA::kBytes + MapB::kBytes];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(bytes));

  const int first_row = static_cast<int>(blockIdx.x) * kTileRows, first_column = static_cast<int>(blockIdx.y) * kTileColumns;
  const int warp = threadIdx.x / kWarp;
  const int warp_row = warp % kWarpsDown * kSide, warp_column = warp / kWarpsDown * kSide;
  a += static_cast<int64_t>(blockIdx.z) * rows * depth;
  b += static_cast<int64_t>(blockIdx.z) * columns * depth;
  c += static_cast<int64_t>(blockIdx.z) * rows * columns;

  Operands<MapA, MapB, kDepth, kElements> operands(a, b, shared, first_row, first_column, rows, columns, depth);
  uint32_t of_a[kStages][4], of_b[kStages][4];
  float sum[8] = {};
  const uint32_t stage_a = shared + warp_row * MapA::kRowBytes;
  const uint32_t stage_b = shared + MapA::kBytes + warp_column * (kDepthInB ? MapB::kRowBytes : 2);
  const auto load_part = [&](int buffer, int part) {
    load_a_along_depth(of_a[part % kStages], stage_a + buffer * MapA::kStageBytes + part * kSide * 2, MapA::kRow);
    if constexpr (kDepthInB) {
      load_b_along_depth(of_b[part % kStages], stage_b + buffer * MapB::kStageBytes + part * kSide * 2, MapB::kRow);
    } else {
      load_b_along_lines(of_b[part % kStages], stage_b + buffer * MapB::kStageBytes + part * kSide * MapB::kRowBytes, MapB::kRow);
    }
  };

  if constexpr (kStages == 2) {
    operands.store(0);
    __syncthreads();
    load_part(0, 0);
    int buffer = 0;
#pragma unroll 1
    for (; operands.left > 0; --operands.left) {
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        if (part == kParts - 1) {
          buffer ^= 1;
          operands.store(buffer);
          __syncthreads();
        }
        load_part(buffer, (part + 1) % kParts);
        if (part == 0) operands.load();
        multiply(sum, of_a[part % 2], of_b[part % 2], kDepthInB);
      }
    }
  } else {
#pragma unroll 1
    for (; operands.left > 0; --operands.left) {
      operands.store(0);
      __syncthreads();
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        load_part(0, part);
        multiply(sum, of_a[0], of_b[0], kDepthInB);
      }
      __syncthreads();
      operands.load();
    }
  }

  using Stores = Results<kTileColumns, kSide, kWarpsDown, kWarps, kElements>;
  Stores stores(reinterpret_cast<const float*>(bytes), c, first_row, first_column, kSide, rows, columns);
  __syncthreads();
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"r"(
                   shared + (warp_row * Stores::kRow + warp_column) * 4),
               "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]), "f"(sum[4]), "f"(sum[5]), "f"(sum[6]), "f"(sum[7]),
               "n"(Stores::kRow)
               : "memory");
  __syncthreads();
  stores.store(alpha);
}

}  // namespace

#define GEMM(COLUMNS, ROWS, LETTERS, DEPTH_IN_B, ALIGN)                                                                     \
  extern "C" __global__ void __launch_bounds__(ROWS / kWarpTile * (COLUMNS / kWarpTile) * kWarp, 1)                         \
      register_gemm_##COLUMNS##x##ROWS##_##LETTERS##_align##ALIGN(const Element* a, const Element* b, Element* c, int rows, \
                                                                  int columns, int depth, float alpha) {                    \
    gemm<COLUMNS, ROWS, DEPTH_IN_B, ALIGN>(a, b, c, rows, columns, depth, alpha);                                           \
  }
#define GEMM_WMMA(COLUMNS, ROWS, DEPTH, STAGES, LETTERS, DEPTH_IN_B, ALIGN)                                \
  extern "C" __global__ void __launch_bounds__(ROWS / kSide * (COLUMNS / kSide) * kWarp, 1)                \
      register_gemm_wmma_##COLUMNS##x##ROWS##_##DEPTH##x##STAGES##_##LETTERS##_align##ALIGN(               \
          const Element* a, const Element* b, Element* c, int rows, int columns, int depth, float alpha) { \
    gemm_wmma<COLUMNS, ROWS, DEPTH, STAGES, DEPTH_IN_B, ALIGN>(a, b, c, rows, columns, depth, alpha);      \
  }

GEMM(256, 128, tn, true, 1)
GEMM(256, 128, nn, false, 1)
GEMM(128, 128, tn, true, 1)
GEMM(128, 128, nn, false, 1)
GEMM_WMMA(32, 32, 128, 2, tn, true, 2)
GEMM_WMMA(32, 32, 128, 2, tn, true, 8)
GEMM_WMMA(32, 32, 32, 1, tn, true, 1)
GEMM_WMMA(32, 32, 32, 1, nn, false, 1)
GEMM_WMMA(16, 16, 32, 1, nn, false, 8)
GEMM_WMMA(16, 16, 64, 1, nn, false, 8)
