#pragma once

#include <cstdint>

// wgmma of sm_90a, with bf16 or fp8 sources and fp32 sums. For other architectures the kernels compile to nothing.
namespace silicon {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SILICON_WGMMA 1
#else
#define SILICON_WGMMA 0
#endif

// Matrix descriptor of shared memory for wgmma: rows of 128 bytes along k in the 128-byte swizzle, groups of eight rows 1024 bytes
// apart. PTX ISA, "Matrix descriptor": start address / 16 (bits 0-13), leading offset (16-29, not used here), stride offset / 16
// (32-45), swizzle (62-63: 1 is 128 bytes).
__device__ inline std::uint64_t descriptor(unsigned shared_address) {
  return ((shared_address & 0x3ffffU) >> 4) | (std::uint64_t{1} << 16) | (std::uint64_t{64} << 32) | (std::uint64_t{1} << 62);
}

// Makes ordinary stores and cp.async visible to wgmma.
__device__ inline void publish_to_wgmma() {
#if SILICON_WGMMA
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

__device__ inline void wgmma_fence() {
#if SILICON_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ inline void wgmma_commit() {
#if SILICON_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
template <int kPending>
__device__ inline void wgmma_wait() {
#if SILICON_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
}

// Sums as asm operands, eight at a time, and their placeholders in the instruction's text.
#define SILICON_D8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SILICON_D32(d, i) SILICON_D8(d, i), SILICON_D8(d, i + 8), SILICON_D8(d, i + 16), SILICON_D8(d, i + 24)
#define SILICON_P32                                                                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, " \
  "%25, %26, %27, %28, %29, %30, %31"
#define SILICON_P64                                                                                        \
  SILICON_P32                                                                                              \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, " \
  "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SILICON_P128                                                                                            \
  SILICON_P64                                                                                                   \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, " \
  "%85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, "   \
  "%105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, "      \
  "%122, %123, %124, %125, %126, %127"

// One m64nNk16 (bf16) or m64nNk32 (fp8); A from shared memory (SS) or registers (RS).
enum class Source { kShared, kRegisters };
enum class Type { kBf16, kFp8 };

template <int kColumns, Source kSource, Type kType>
struct Wgmma;

#if SILICON_WGMMA
#define SILICON_RUN_SS(columns, text, places, last, next, tail, ...)                                           \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns text " {" places "}, %" #last ", %" #next tail ";" \
               : __VA_ARGS__                                                                                   \
               : "l"(a), "l"(b))
#define SILICON_RUN_RS(columns, text, places, r0, r1, r2, r3, next, tail, ...)                                         \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns text " {" places "}, {%" #r0 ", %" #r1 ", %" #r2 ", %" #r3 \
               "}, %" #next tail ";"                                                                                   \
               : __VA_ARGS__                                                                                           \
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b))
#else
#define SILICON_RUN_SS(...)
#define SILICON_RUN_RS(...)
#endif

#define SILICON_WGMMA_OF(columns, places, i0, i1, i2, i3, i4, ...)                                                 \
  template <>                                                                                                      \
  struct Wgmma<columns, Source::kShared, Type::kBf16> {                                                            \
    __device__ static void run(float (&d)[columns / 2], const unsigned (&)[4], std::uint64_t a, std::uint64_t b) { \
      SILICON_RUN_SS(columns, "k16.f32.bf16.bf16", places, i0, i1, ", 1, 1, 1, 0, 0", __VA_ARGS__);                \
    }                                                                                                              \
  };                                                                                                               \
  template <>                                                                                                      \
  struct Wgmma<columns, Source::kShared, Type::kFp8> {                                                             \
    __device__ static void run(float (&d)[columns / 2], const unsigned (&)[4], std::uint64_t a, std::uint64_t b) { \
      SILICON_RUN_SS(columns, "k32.f32.e4m3.e4m3", places, i0, i1, ", 1, 1, 1", __VA_ARGS__);                      \
    }                                                                                                              \
  };                                                                                                               \
  template <>                                                                                                      \
  struct Wgmma<columns, Source::kRegisters, Type::kBf16> {                                                         \
    __device__ static void run(float (&d)[columns / 2], const unsigned (&r)[4], std::uint64_t, std::uint64_t b) {  \
      SILICON_RUN_RS(columns, "k16.f32.bf16.bf16", places, i0, i1, i2, i3, i4, ", 1, 1, 1, 0", __VA_ARGS__);       \
    }                                                                                                              \
  };                                                                                                               \
  template <>                                                                                                      \
  struct Wgmma<columns, Source::kRegisters, Type::kFp8> {                                                          \
    __device__ static void run(float (&d)[columns / 2], const unsigned (&r)[4], std::uint64_t, std::uint64_t b) {  \
      SILICON_RUN_RS(columns, "k32.f32.e4m3.e4m3", places, i0, i1, i2, i3, i4, ", 1, 1, 1", __VA_ARGS__);          \
    }                                                                                                              \
  }

SILICON_WGMMA_OF(64, SILICON_P32, 32, 33, 34, 35, 36, SILICON_D32(d, 0));
SILICON_WGMMA_OF(128, SILICON_P64, 64, 65, 66, 67, 68, SILICON_D32(d, 0), SILICON_D32(d, 32));
SILICON_WGMMA_OF(256, SILICON_P128, 128, 129, 130, 131, 132, SILICON_D32(d, 0), SILICON_D32(d, 32), SILICON_D32(d, 64),
                 SILICON_D32(d, 96));

}  // namespace silicon
