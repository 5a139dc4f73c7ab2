#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/profile/profile.h"

namespace warpfold::profile {

// The product that a kernel makes of a convolution. Its elements of A or B are those of an image, which positions of the filter
// share: each is read `a_repeats` or `b_repeats` times.
struct ImplicitProduct {
  uint64_t m = 0, n = 0, k = 0;
  uint64_t a_repeats = 1, b_repeats = 1;
  uint64_t channels = 0;  // of the image
  uint64_t filter_height = 0, filter_width = 0;
};

// Returns the product of a pass: fprop, dgrad or wgrad. None if the operator's image, filter, padding or stride are not recorded,
// or if it is no convolution of two dimensions and one group. Each position of the filter takes whole tiles of `tile_k` channels.
// Source: NVIDIA/cutlass @03447b6, media/docs/implicit_gemm_convolution.md and include/cutlass/conv/conv2d_problem_size.h
// (implicit_gemm_k_iterations).
std::optional<ImplicitProduct> implicit_product(const Operator& op, std::string_view pass, uint64_t tile_k);

}  // namespace warpfold::profile
