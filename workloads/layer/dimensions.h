#pragma once

#include <algorithm>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Bytes per word: of a dropout mask, as arXiv 2007.00072 counts it, and of an optimiser's state.
constexpr uint32_t kMaskBytes = 2;
constexpr uint32_t kStateBytes = 4;

inline bool has(const Dimensions& all, const Dimension& one) { return std::ranges::find(all, one) != all.end(); }

inline Dimensions without(Dimensions all, const Dimensions& left_out) {
  std::erase_if(all, [&](const Dimension& each) { return has(left_out, each); });
  return all;
}

}  // namespace warpfold::layer
