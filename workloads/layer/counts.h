#pragma once

#include <cstdint>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Floating-point operations of an operator for each element of its iteration space. 0 of those that only compare or move, as in the
// table of arXiv 2007.00072. Products and attention have counts of their own.
uint64_t flops_per_element(Work work);

OperatorClass class_of(Work work);

}  // namespace warpfold::layer
