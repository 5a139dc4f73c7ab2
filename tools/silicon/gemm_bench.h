#pragma once

#include <cuda_bf16.h>

#include "tools/silicon/device.h"

namespace silicon {

struct GemmShape {
  int m, n, k;
};

// Random numbers of [-1, 1): zeros would draw less power and raise the clock.
void fill_random(__nv_bfloat16* values, std::size_t count, unsigned seed);

// The matrices of one GEMM.
struct GemmData {
  explicit GemmData(const GemmShape& shape);
  Buffer<__nv_bfloat16> a, b, c;
};

// The largest deviation of sampled elements of C = A B^T from sums in double, relative to sqrt(k): our own GEMM is checked before
// it is measured.
double worst_deviation(const GemmShape& shape, const GemmData& data);

}  // namespace silicon
