// Matrix products whose operands come by cp.async of fewer than 16 bytes, the order of CUTLASS's cutlass_80_tensorop_*_align2: c =
// a b in BF16 with FP32 sums by mma.sync.m16n8k16. Names, sizes and layouts are those of register_gemm.cu; 256x128_64x3 has tiles
// of 64 k and three stages, of which two are on their way. The facts are those of NVIDIA/cutlass @7107b05, include/cutlass:
//
//   gemm/threadblock/mma_multistage.h          each 16 of k issue their share of a later stage's copies, behind their products; the
//                                              stage's last copies, its group and the wait come before the last 16
//   gemm/threadblock/default_mma_core_sm80.h   copies of fewer than 16 bytes go through L1
//
//   nvcc -O3 -std=c++17 -arch=sm_80 -cubin -o copy_gemm.cubin copy_gemm.cu
//   nvdisasm -c -hex copy_gemm.cubin | tr -s " " > copy_gemm_sm_80.sass
#include "gemm_parts.cuh"

namespace {

constexpr int kPart = 16;              // k of one mma.sync
constexpr int kWarpTile = 64;          // rows and columns of a warp
constexpr int kEight = 8, kStep = 16;  // rows of a matrix of ldmatrix, of one mma.sync

__device__ __forceinline__ void multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A thread's copies of one operand. k is contiguous.
template <typename Map, int kDepth, int kElements>
struct Operand {
  static constexpr int kAccesses = kPiece / kElements;                                      // of a piece
  static constexpr int kAPart = (Map::kTurnsDown + kDepth / kPart - 1) / (kDepth / kPart);  // pieces with each 16 of k
  const Element* from;
  int stride;
  int line, k;  // of the thread's first element
  uint32_t mask[2];
  uint32_t to[2];  // the thread's first piece in the first stage: even and odd turns down

  __device__ __forceinline__ Operand(const Element* matrix, uint32_t stages, int first_line, int lines, int depth)
      : stride(depth), line(first_line + Map::row()), k(Map::piece() * kPiece) {
    from = matrix + static_cast<int64_t>(line) * stride + k;
    for (int odd = 0; odd < 2; ++odd) to[odd] = stages + Map::place(Map::row() + odd * Map::kDown, Map::piece());
    set_mask(lines, (depth - 1) % kDepth + 1);
  }

  // Which accesses of a stage lie in the matrix: bits 0 to 3 of each byte.
  static __device__ __forceinline__ uint32_t bit_of(int access) { return 1U << (access % 16 / 4 * 8 + access % 4); }
  __device__ __forceinline__ void set_mask(int lines, int until) {
    mask[0] = mask[1] = 0;
#pragma unroll
    for (int access = 0; access < Map::kTurnsDown * kAccesses; ++access) {
      const bool inside = line + access / kAccesses * Map::kDown < lines && k + access % kAccesses * kElements < until;
      if (inside) mask[access / 16] |= bit_of(access);
    }
  }
  __device__ __forceinline__ void clear_mask_if(bool clear) {
    mask[0] = clear ? 0 : mask[0];
    mask[1] = clear ? 0 : mask[1];
  }
  // Copies `kAPart` pieces from the `part`-th share on.
  __device__ __forceinline__ void copy(int part, int stage) const {
#pragma unroll
    for (int down = part * kAPart; down < (part + 1) * kAPart && down < Map::kTurnsDown; ++down) {
#pragma unroll
      for (int i = 0; i < kAccesses; ++i) {
        const int access = down * kAccesses + i;
        const uint32_t at =
            to[down % 2] + stage * Map::kStageBytes + down / 2 * 2 * Map::kDown * Map::kRowBytes + i * kElements * 2;
        asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3;}" ::"r"(at),
                     "l"(from + static_cast<int64_t>(down) * (Map::kDown * stride) + i * kElements),
                     "r"(static_cast<int>((mask[access / 16] & bit_of(access)) != 0)), "n"(kElements * 2)
                     : "memory");
      }
    }
  }
};

template <int kTileColumns, int kTileRows, int kDepth, int kStages, int kElements>
__device__ __forceinline__ void gemm(const Element* a, const Element* b, Element* c, int rows, int columns, int depth,
                                     float alpha) {
  constexpr int kParts = kDepth / kPart;
  constexpr int kWarpsDown = kTileRows / kWarpTile, kWarps = kWarpsDown * (kTileColumns / kWarpTile);
  constexpr int kMmasDown = kWarpTile / kStep, kMmasAcross = kWarpTile / kEight;
  using MapA = Raked<kTileRows, kDepth, kStages, true, kWarps * kWarp>;
  using MapB = Raked<kTileColumns, kDepth, kStages, true, kWarps * kWarp>;
  extern __shared__ __align__(128) unsigned char bytes[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(bytes));

  const int first_row = static_cast<int>(blockIdx.x) * kTileRows, first_column = static_cast<int>(blockIdx.y) * kTileColumns;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int warp_row = warp % kWarpsDown * kWarpTile, warp_column = warp / kWarpsDown * kWarpTile;
  a += static_cast<int64_t>(blockIdx.z) * rows * depth;
  b += static_cast<int64_t>(blockIdx.z) * columns * depth;
  c += static_cast<int64_t>(blockIdx.z) * rows * columns;

  Operand<MapA, kDepth, kElements> copies_a(a, shared, first_row, rows, depth);
  Operand<MapB, kDepth, kElements> copies_b(b, shared + MapA::kBytes, first_column, columns, depth);
  int to_copy = (depth + kDepth - 1) / kDepth;
  const auto copy_part = [&](int part, int stage) {
    copies_a.copy(part, stage);
    copies_b.copy(part, stage);
  };
  const auto end_stage = [&](int by) {
    asm volatile("cp.async.commit_group;" ::: "memory");
    copies_a.from += by;
    copies_b.from += by;
    --to_copy;
    copies_a.clear_mask_if(to_copy == 0);
    copies_b.clear_mask_if(to_copy == 0);
  };
  const auto wait = [] {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
  };
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) copy_part(part, stage);
    if (stage == 0) {
      copies_a.set_mask(rows, kDepth);
      copies_b.set_mask(columns, kDepth);
    }
    end_stage(stage == 0 ? (depth - 1) % kDepth + 1 : kDepth);
  }
  wait();

  const uint32_t from_a = shared + MapA::place(warp_row + lane % 16, lane / 16);
  const uint32_t from_b = shared + MapA::kBytes + MapB::place(warp_column + lane % 8 + lane / 16 * 8, lane / 8 % 2);
  uint32_t of_a[2][kMmasDown][4], of_b[2][kMmasAcross / 2][4];
  float sum[kMmasDown][kMmasAcross][4] = {};
  const auto load = [&](int stage, int part) {
#pragma unroll
    for (int i = 0; i < kMmasDown; ++i)
      load_matrices<false>(of_a[part % 2][i], (from_a ^ part * 32) + stage * MapA::kStageBytes + i * kStep * MapA::kRowBytes);
#pragma unroll
    for (int j = 0; j < kMmasAcross / 2; ++j)
      load_matrices<false>(of_b[part % 2][j], (from_b ^ part * 32) + stage * MapB::kStageBytes + j * kStep * MapB::kRowBytes);
  };
  load(0, 0);
  int read = 0, write = kStages - 1;
#pragma unroll 1
  for (; to_copy > -(kStages - 1);) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      load(read, (part + 1) % kParts);
#pragma unroll
      for (int i = 0; i < kMmasDown; ++i) {
#pragma unroll
        for (int j = 0; j < kMmasAcross; ++j)
          multiply(sum[i][j], of_a[part % 2][i], of_b[part % 2][j / 2][j % 2 * 2], of_b[part % 2][j / 2][j % 2 * 2 + 1]);
      }
      if (part < kParts - 1) copy_part(part, write);
      if (part == kParts - 2) {
        copy_part(part + 1, write);
        end_stage(kDepth);
        wait();
        read = read == kStages - 1 ? 0 : read + 1;
        write = write == kStages - 1 ? 0 : write + 1;
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

}  // namespace

#define GEMM(COLUMNS, ROWS, DEPTH, STAGES, ALIGN)                                                                          \
  extern "C" __global__ void __launch_bounds__(ROWS / kWarpTile * (COLUMNS / kWarpTile) * kWarp, 1)                        \
      copy_gemm_##COLUMNS##x##ROWS##_##DEPTH##x##STAGES##_tn_align##ALIGN(const Element* a, const Element* b, Element* c,  \
                                                                          int rows, int columns, int depth, float alpha) { \
    gemm<COLUMNS, ROWS, DEPTH, STAGES, ALIGN>(a, b, c, rows, columns, depth, alpha);                                       \
  }

GEMM(256, 128, 64, 3, 2)
