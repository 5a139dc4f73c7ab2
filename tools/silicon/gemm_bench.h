#pragma once

#include <cuda_bf16.h>

#include "tools/silicon/device.h"

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

}  // namespace silicon
