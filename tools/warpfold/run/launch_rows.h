#pragma once

#include <string>

#include "tools/validation/map_row.h"

namespace warpfold::cli {

// Makes a scenario of a row: of a launch of a profile by its kernel's name, its grid and its operator, of any other row as the
// mapper does.
//
// A launch states a grid and a block, and `impl` or `kernel` is a kernel's name as profilers print it. It is read as `warpfold
// profile` reads launches: sizes of the operator (op and dims, or M, N and K, or rows and cols), else of the grid; the measured
// time is the kernel's alone. Not mapped: no rule of kernel_names.textproto knows the name or its kernel has no generator, and the
// mapper has none for the row either. `operators`: the folder of launch descriptions.
validation::Mapped<validation::Comparison> map_row_or_launch(const validation::MeasuredRow& row, validation::RowMapper& mapper,
                                                             const std::string& operators);

}  // namespace warpfold::cli
