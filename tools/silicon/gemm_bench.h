#pragma once

#include <cuda_bf16.h>

#include <functional>

#include "tools/silicon/device.h"
#include "tools/silicon/sm_work.h"

namespace silicon {

struct GemmShape {
  int m, n, k;
};

// Random numbers of [-1, 1): zeros would draw less power and raise the clock.
void fill_random(__nv_bfloat16* values, std::size_t count, unsigned seed);

// The matrices of one GEMM: random numbers that differ from run to run, and a C of NaN.
struct GemmData {
  explicit GemmData(const GemmShape& shape);
  Buffer<__nv_bfloat16> a, b, c;
};

// Throws where C = A B^T has an element that nothing wrote, or where one of a thousand is farther from its sum in double than
// rounding to bf16 (a 256th of it) and sums in fp32 explain.
void check_product(const GemmShape& shape, const GemmData& data);

// A GEMM of the kit's own, over the matrices that it was made for.
struct GemmKernel {
  std::string impl;
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
