#pragma once

#include <optional>
#include <string>

#include "configs/gpu.pb.h"
#include "sim/analytic/tensor_operations.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// The work of a kernel for the tensor cores.
struct TensorWork {
  double flops = 0;                                  // stated by the kernel; 0 if it states none
  sim::OperandWidth width = sim::OperandWidth::k16;  // of the narrowest operands that the kernel multiplies
};
TensorWork tensor_work(const traces::Kernel& kernel);

// Returns a warning if a simulated rate is above the GPU's data sheet: then no real part sustains the file's clock, or a figure of
// the file is wrong. None if the data sheet states no rate, or if a what-if factor changed the resource.
std::optional<std::string> tensor_warning(const configs::Gpu& gpu, const std::string& kernel, const TensorWork& work,
                                          double time_us);
std::optional<std::string> memory_warning(const configs::Gpu& gpu, double bytes, double time_us);

}  // namespace warpfold::cli
