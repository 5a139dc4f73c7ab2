#pragma once

#include <optional>
#include <string>

#include "configs/gpu.pb.h"
#include "sim/analytic/tensor_operations.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// What a kernel has the tensor cores do.
struct TensorWork {
  double flops = 0;                                  // as the kernel states them; 0 where it does not
  sim::OperandWidth width = sim::OperandWidth::k16;  // the narrowest that it multiplies
};
TensorWork tensor_work(const traces::Kernel& kernel);

// A sentence where a rate is above what the GPU's data sheet states: the clock of the file is then one that no part sustains, or a
// figure of it is wrong. None where the data sheet says nothing, or where a what-if factor makes the resource another than the
// part's.
std::optional<std::string> tensor_warning(const configs::Gpu& gpu, const std::string& kernel, const TensorWork& work,
                                          double time_us);
std::optional<std::string> memory_warning(const configs::Gpu& gpu, double bytes, double time_us);

}  // namespace warpfold::cli
