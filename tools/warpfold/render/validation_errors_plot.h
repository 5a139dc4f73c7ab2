#pragma once

#include <string>

#include "configs/validation.pb.h"

namespace warpfold::cli {

// Returns a gnuplot program that draws the errors of each group of kernels and GPU into `picture`, in percent. Each group is a
// line: a bar for the mean of absolute errors, a mark for their bias, and the number of rows. Empty if no row was simulated.
//
//   GEMM, L20 (5)                    |  <> ######
//   GEMM of FP32, GeForce RTX 4090   |  ##############
std::string validation_errors_plot(const configs::Validation& validation, const std::string& picture);

}  // namespace warpfold::cli
