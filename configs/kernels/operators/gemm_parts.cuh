// Parts of register_gemm.cu and copy_gemm.cu: accesses to global memory, places in shared memory, results. The facts are those of
// the files of CUTLASS that register_gemm.cu names.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

namespace {

using Element = __nv_bfloat16;

constexpr int kWarp = 32;
constexpr int kPiece = 8;    // elements of 16 bytes
constexpr int kSpacing = 8;  // floats between rows of results, elements between rows of wmma's operands

// An access of a thread to global memory.
template <int kElements>
struct Access;
template <>
struct Access<1> {
  unsigned short word;
  __device__ __forceinline__ void load(const Element* from, bool guard) {
    word = 0;
    asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.u16 %0, [%1];}"
                 : "+h"(word)
                 : "l"(from), "r"(static_cast<int>(guard)));
  }
  static __device__ __forceinline__ void store(Element* to, const float* value, float alpha, bool guard) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.u16 [%0], %1;}" ::"l"(to),
                 "h"(__bfloat16_as_ushort(__float2bfloat16(alpha * value[0]))), "r"(static_cast<int>(guard))
                 : "memory");
  }
};
__device__ __forceinline__ uint32_t packed(const float* value, float alpha) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(alpha * value[0], alpha * value[1]);
  return *reinterpret_cast<const uint32_t*>(&pair);
}
template <>
struct Access<2> {
  uint32_t word;
  __device__ __forceinline__ void load(const Element* from, bool guard) {
    word = 0;
    asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.u32 %0, [%1];}"
                 : "+r"(word)
                 : "l"(from), "r"(static_cast<int>(guard)));
  }
  static __device__ __forceinline__ void store(Element* to, const float* value, float alpha, bool guard) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.u32 [%0], %1;}" ::"l"(to), "r"(packed(value, alpha)),
                 "r"(static_cast<int>(guard))
                 : "memory");
  }
};
template <>
struct Access<8> {
  uint4 word;
  __device__ __forceinline__ void load(const Element* from, bool guard) {
    word = make_uint4(0, 0, 0, 0);
    asm volatile("{.reg .pred p; setp.ne.b32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%4];}"
                 : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w)
                 : "l"(from), "r"(static_cast<int>(guard)));
  }
  static __device__ __forceinline__ void store(Element* to, const float* value, float alpha, bool guard) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, %5, 0; @p st.global.v4.u32 [%0], {%1, %2, %3, %4};}" ::"l"(to),
                 "r"(packed(value, alpha)), "r"(packed(value + 2, alpha)), "r"(packed(value + 4, alpha)),
                 "r"(packed(value + 6, alpha)), "r"(static_cast<int>(guard))
                 : "memory");
  }
};

__device__ __forceinline__ uint4 piece_of(const Access<1> (&at)[8]) {
  return make_uint4(at[0].word | static_cast<uint32_t>(at[1].word) << 16, at[2].word | static_cast<uint32_t>(at[3].word) << 16,
                    at[4].word | static_cast<uint32_t>(at[5].word) << 16, at[6].word | static_cast<uint32_t>(at[7].word) << 16);
}
__device__ __forceinline__ uint4 piece_of(const Access<2> (&at)[4]) {
  return make_uint4(at[0].word, at[1].word, at[2].word, at[3].word);
}
__device__ __forceinline__ uint4 piece_of(const Access<8> (&at)[1]) { return at[0].word; }

// Which pieces of a stage a thread copies, and where they lie in shared memory. `kLines` rows of a or columns of b; `kAlong`: k is
// contiguous, otherwise the lines are.
//
// A warp has neighbouring rows. Pieces are swizzled so that neither stores nor ldmatrix have bank conflicts.
template <int kLines, int kDepth, int kStages, bool kAlong, int kThreads>
struct Raked {
  static constexpr bool kAlongDepth = kAlong;
  static constexpr int kPieces = (kAlong ? kDepth : kLines) / kPiece, kStrided = kAlong ? kLines : kDepth;
  static constexpr int kAcross = kPieces < 8 ? kPieces : 8;  // lanes of a warp side by side
  static constexpr int kDown = kWarp / kAcross;
  static constexpr int kTurnsAcross = kPieces / kAcross, kTurnsDown = kStrided / kDown / (kThreads / kWarp);
  static constexpr int kRowBytes = kPieces * 16, kStageBytes = kStrided * kRowBytes, kBytes = kStages * kStageBytes;
  static __device__ __forceinline__ int row() { return threadIdx.x / kWarp * kTurnsDown * kDown + threadIdx.x % kWarp / kAcross; }
  static __device__ __forceinline__ int piece() { return threadIdx.x % kAcross; }
  static __device__ __forceinline__ uint32_t place(int row, int piece) {
    return (row * kPieces + (piece ^ (kPieces == 4 ? row / 2 % 4 : row % 8))) * 16;
  }
};
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

// Stores kStep rows of each of kGroups groups of warps from shared memory, `kElements` a lane.
template <int kColumns, int kStep, int kGroups, int kWarps, int kElements>
struct Results {
  static constexpr int kRow = kColumns + kSpacing;  // floats
  static constexpr int kAcross = kColumns / kElements < kWarp ? kColumns / kElements : kWarp, kDown = kWarp / kAcross;
  static constexpr int kWarpsOfGroup = kWarps / kGroups, kRows = kStep / kWarpsOfGroup;
  static constexpr int kTurns = kColumns / kElements / kAcross;
  const float* stored;
  Element* to;
  int row, rows, columns;
  bool inside[kTurns];

  __device__ __forceinline__ Results(const float* results, Element* c, int first_row, int first_column, int rows_of_group,
                                     int all_rows, int all_columns)
      : rows(all_rows), columns(all_columns) {
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, group = warp / kWarpsOfGroup;
    const int own_row = warp % kWarpsOfGroup * kRows + lane / kAcross, own_column = lane % kAcross * kElements;
    stored = results + (group * kStep + own_row) * kRow + own_column;
    row = first_row + group * rows_of_group + own_row;
    to = c + static_cast<int64_t>(row) * columns + first_column + own_column;
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) inside[turn] = first_column + own_column + turn * kAcross * kElements < columns;
  }
  __device__ __forceinline__ void store(float alpha) {
    float value[kRows / kDown][kTurns][kElements];
#pragma unroll
    for (int i = 0; i < kRows / kDown; ++i) {
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
#pragma unroll
        for (int e = 0; e < kElements; ++e) value[i][turn][e] = stored[i * kDown * kRow + turn * kAcross * kElements + e];
      }
    }
#pragma unroll
    for (int i = 0; i < kRows / kDown; ++i) {
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        Access<kElements>::store(to + static_cast<int64_t>(i * kDown) * columns + turn * kAcross * kElements, value[i][turn], alpha,
                                 row + i * kDown < rows && inside[turn]);
      }
    }
    row += kStep;
    to += static_cast<int64_t>(kStep) * columns;
  }
};

}  // namespace
