#pragma once

#include <cstdint>

#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// A pass over arrays with every default filled in: 4-byte elements, one access of 16 bytes per thread and array, CTAs of 256
// threads.
struct ElementwisePlan {
  configs::ElementwiseOperation operation;
  uint32_t inputs;
  uint32_t flops;  // per element
  uint32_t element_bytes;
  uint32_t access_bytes;  // of a load
  uint32_t stored_bytes;  // of a store
  uint32_t accesses;  // per thread and array
  uint32_t warps;     // per CTA
  uint64_t elements;

  static constexpr uint32_t kWarpThreads = 32;
};

ElementwisePlan plan_elementwise(const configs::Elementwise& elementwise);

}  // namespace warpfold::workloads
