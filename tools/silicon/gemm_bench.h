#pragma once

#include <cuda_bf16.h>

#include <functional>

#include "tools/silicon/device.h"
#include "tools/silicon/sm_work.h"
#include "tools/silicon/wgmma.h"

namespace silicon {

struct GemmShape {
  int m, n, k;  // k in words of two bytes: elements of bf16, pairs of fp8
};

// The matrices of one GEMM: random numbers in [-1, 1) that differ from run to run (zeros would draw less power and raise the
// clock), and a C of NaN. Each word of an fp8 A or B holds two elements of e4m3.
struct GemmData {
  explicit GemmData(const GemmShape& shape, Type type = Type::kBf16);
  Type type;
  Buffer<__nv_bfloat16> a, b, c;
};

// Elements per word: one of bf16, two of fp8.
constexpr int elements_of_word(Type type) { return type == Type::kBf16 ? 1 : 2; }
constexpr const char* name_of(Type type) { return type == Type::kBf16 ? "bf16" : "fp8"; }

// Checks C = A B^T. Throws if an element of C was not written. Throws also if one of a thousand sampled elements differs from its
// sum in double by more than rounding to bf16 (1/256 of it) and sums in fp32 explain.
void check_product(const GemmShape& shape, const GemmData& data);

// A GEMM of the kit, over the matrices for which it was made.
struct GemmKernel {
  std::string impl;
  Type type;
  const void* kernel;
  int threads;
  std::size_t shared_bytes;
  std::function<void(int ctas, int repeats, SmRange sms, SmWork* own, SmWork* other, cudaStream_t stream)> launch;
};
// Threads copy and multiply in turn.
GemmKernel cp_async_gemm(const GemmShape& shape, const GemmData& data);
// One warp copies while two warpgroups multiply.
GemmKernel tma_gemm(const GemmShape& shape, const GemmData& data);

}  // namespace silicon
