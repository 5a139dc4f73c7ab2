// Chains of products for which sm_120 has no instruction: m16n8k64 of 4-bit integers, and mma.sp without ordered
// metadata. ptxas calls a subroutine in place of each. It unpacks the 4-bit elements into two products of 8 bits, or
// sorts the metadata. A loop has `unroll` independent packets of one or two dependent products, and stores the sums of
// the first packet, as sm120_mma_sparse of lookup1980/microbench-blackwell @a5eef42 does. ptxas keeps the calls of all
// packets.
//
//   nvcc -O3 -std=c++17 -arch=sm_120 -cubin -o mma_replaced.cubin mma_replaced.cu
//   nvdisasm -c -hex mma_replaced.cubin | tr -s " " > mma_replaced_sm_120.sass
//
// The listing was printed by nvdisasm 11.8, which knows sm_90, whose encodings these instructions have. LDCU, which sm_90 lacks,
// was written in by its two words.
#include <cstdint>

namespace {

template <int kKind>
struct Product;

// The operands behind the sums are those of the instruction's text.
#define PRODUCT(KIND, SUM, AS, INSTRUCTION, ...)                                                                             \
  template <>                                                                                                                \
  struct Product<KIND> {                                                                                                     \
    using Sum = SUM;                                                                                                         \
    static __device__ __forceinline__ void add(Sum (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], uint32_t meta) { \
      asm volatile(INSTRUCTION : "+" AS(d[0]), "+" AS(d[1]), "+" AS(d[2]), "+" AS(d[3]) : __VA_ARGS__);                      \
    }                                                                                                                        \
  };
#define DENSE(KIND, TYPES)                                                                                                \
  PRODUCT(KIND, uint32_t, "r",                                                                                            \
          "mma.sync.aligned.m16n8k64.row.col." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};", "r"(a[0]), \
          "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define SPARSE(KIND, SUM, AS, SHAPE)                                                                                          \
  PRODUCT(KIND, SUM, AS, "mma.sp.sync.aligned." SHAPE " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, 0x0;", "r"(a[0]), \
          "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(meta))
#define WIDE_SPARSE(KIND, SUM, AS, SHAPE)                                                                                         \
  PRODUCT(KIND, SUM, AS, "mma.sp.sync.aligned." SHAPE " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;", \
          "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(meta))

enum Kind { kU4U4, kU4S4, kS4U4, kS4S4, kSparseU4U4, kSparseU4S4, kSparseS4U4, kSparseS4S4, kSparseF16, kSparseF16Wide };
DENSE(kU4U4, "s32.u4.u4.s32")
DENSE(kU4S4, "s32.u4.s4.s32")
DENSE(kS4U4, "s32.s4.u4.s32")
DENSE(kS4S4, "s32.s4.s4.s32")
SPARSE(kSparseU4U4, uint32_t, "r", "m16n8k64.row.col.s32.u4.u4.s32")
SPARSE(kSparseU4S4, uint32_t, "r", "m16n8k64.row.col.s32.u4.s4.s32")
SPARSE(kSparseS4U4, uint32_t, "r", "m16n8k64.row.col.s32.s4.u4.s32")
SPARSE(kSparseS4S4, uint32_t, "r", "m16n8k64.row.col.s32.s4.s4.s32")
SPARSE(kSparseF16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
WIDE_SPARSE(kSparseF16Wide, float, "f", "m16n8k32.row.col.f32.f16.f16.f32")

template <Kind kKind, int kUnroll, int kRepeats>
__device__ __forceinline__ void chain(uint64_t* out, int iterations) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t a[4], b[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a[i] = thread + 0x100 * i + 1;
    b[i] = thread + 0x100 * i + 0x501;
  }
  typename Product<kKind>::Sum d[kUnroll][4];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
    for (int i = 0; i < 4; ++i) d[u][i] = thread % 8 + u + i;
  }
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int r = 0; r < kRepeats; ++r) Product<kKind>::add(d[u], a, b, 0);
    }
  }
  if (threadIdx.x % 32 == 0) {
    uint64_t all = 0;
    for (int i = 0; i < 4; ++i) all ^= static_cast<uint64_t>(d[0][i]) << (16 * i);
    out[thread / 32] = all;
  }
}

}  // namespace

#define CHAIN(NAME, KIND, UNROLL, REPEATS)                                                                       \
  extern "C" __global__ void __launch_bounds__(256) NAME##_##UNROLL##x##REPEATS(uint64_t* out, int iterations) { \
    chain<KIND, UNROLL, REPEATS>(out, iterations);                                                               \
  }
#define DENSE_CHAINS(NAME, KIND) CHAIN(NAME, KIND, 8, 1) CHAIN(NAME, KIND, 8, 2) CHAIN(NAME, KIND, 1, 1)

DENSE_CHAINS(u4_u4, kU4U4)
DENSE_CHAINS(u4_s4, kU4S4)
DENSE_CHAINS(s4_u4, kS4U4)
DENSE_CHAINS(s4_s4, kS4S4)
CHAIN(sparse_u4_u4, kSparseU4U4, 8, 1)
CHAIN(sparse_u4_s4, kSparseU4S4, 8, 1)
CHAIN(sparse_s4_u4, kSparseS4U4, 8, 1)
CHAIN(sparse_s4_s4, kSparseS4S4, 8, 1)
CHAIN(sparse_f16_k16, kSparseF16, 8, 1)
CHAIN(sparse_f16_k32, kSparseF16Wide, 8, 1)
