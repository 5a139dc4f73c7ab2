#pragma once

#include <cstdint>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Floating-point operations of an operator per element of its iteration space; 0 if the operator only compares or moves, as in the
// table of arXiv 2007.00072. Products and attention are counted elsewhere and return 0 as well.
uint64_t flops_per_element(Work work);

OperatorClass class_of(Work work);

}  // namespace warpfold::layer
