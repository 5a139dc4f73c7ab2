#pragma once

#include <cstdint>

// Instructions, each written as PTX that ptxas translates to exactly that instruction; `asm volatile` keeps every one.
namespace silicon {

// Combines both halves of a result, because ptxas drops a half that is not read.
template <typename Register>
__device__ inline unsigned folded(Register value) {
  if constexpr (sizeof(Register) == 8) return static_cast<unsigned>(value) ^ static_cast<unsigned>(value >> 32);
  return static_cast<unsigned>(value);
}

// First value of a chain: it differs between threads, including the upper half.
template <typename Register>
__device__ inline Register first_of(unsigned value) {
  if constexpr (sizeof(Register) == 8) return static_cast<Register>((static_cast<std::uint64_t>(value) + 2) << 32 | value);
  return static_cast<Register>(value);
}

struct Alu {  // LOP3
  using Register = std::uint32_t;
  static constexpr const char* kName = "LOP3";
  __device__ static void run(Register& r, std::uint32_t a, std::uint32_t b) {
    asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(r) : "r"(a), "r"(b));
  }
};

struct Imad {
  using Register = std::uint32_t;
  static constexpr const char* kName = "IMAD";
  __device__ static void run(Register& r, std::uint32_t a, std::uint32_t b) {
    asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(r) : "r"(a), "r"(b));
  }
};

// 32 x 32 -> 64, as in Philox. The factors are the halves of the last result: ptxas would compute a recurring product only once and
// add it up, and it splits a 64-bit addend off into another instruction.
struct ImadWide {
  using Register = std::uint64_t;
  static constexpr const char* kName = "IMAD.WIDE";
  __device__ static void run(Register& r, std::uint32_t, std::uint32_t) {
    asm volatile("{ .reg .u32 low, high; mov.b64 {low, high}, %0; mul.wide.u32 %0, low, high; }" : "+l"(r));
  }
};

struct Ffma {
  using Register = float;
  static constexpr const char* kName = "FFMA";
  __device__ static void run(Register& r, std::uint32_t a, std::uint32_t b) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(r) : "f"(__uint_as_float(a)), "f"(__uint_as_float(b)));
  }
};

struct Hfma2 {  // ptxas alternates between the two
  using Register = std::uint32_t;
  static constexpr const char* kName = "HFMA2 and HFMA2.MMA in turn";
  __device__ static void run(Register& r, std::uint32_t a, std::uint32_t b) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(r) : "r"(a), "r"(b));
  }
};

struct F2fp {  // packs two floats
  using Register = std::uint32_t;
  static constexpr const char* kName = "F2FP";
  __device__ static void run(Register& r, std::uint32_t, std::uint32_t b) {
    asm volatile("{ .reg .f32 x; mov.b32 x, %0; cvt.rn.bf16x2.f32 %0, x, %1; }" : "+r"(r) : "f"(__uint_as_float(b)));
  }
};

struct Mufu {
  using Register = float;
  static constexpr const char* kName = "MUFU.EX2";
  __device__ static void run(Register& r, std::uint32_t, std::uint32_t) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(r)); }
};

struct Shfl {
  using Register = std::uint32_t;
  static constexpr const char* kName = "SHFL.BFLY";
  __device__ static void run(Register& r, std::uint32_t, std::uint32_t) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+r"(r));
  }
};

// Shared memory that holds its own addresses, so that each load's result is the next address: lane i at byte 4 i.
struct Lds {
  using Register = std::uint32_t;
  static constexpr const char* kName = "LDS.32";
  __device__ static void run(Register& r, std::uint32_t, std::uint32_t) {
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(r)::"memory");
  }
};

struct Ldsm {  // LDSM.x4; the four 8 x 8 matrices lie in 512 bytes
  using Register = std::uint32_t;
  static constexpr const char* kName = "LDSM.x4";
  __device__ static void run(Register& r, std::uint32_t, std::uint32_t) {
    asm volatile("{ .reg .b32 x, y, z; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, x, y, z}, [%0]; }" : "+r"(r)::"memory");
  }
};

}  // namespace silicon
