#pragma once

#include <string>

#include "tools/validation/map_row.h"

namespace warpfold::cli {

// Makes a scenario from a row. A launch of a profile is read by its kernel's name, grid and operator; the mapper reads any other
// row.
//
// A launch states a grid and a block, and its `impl` or `kernel` is a kernel's name as profilers print it. The sizes are read as in
// `warpfold profile`: from the operator (op and dims, or M, N and K, or rows and cols), otherwise from the grid. The measured time
// is the kernel's alone.
//
// A row is not mapped if no rule of kernel_names.textproto knows its name, or if its kernel has no generator, and the mapper cannot
// map it either. `operators`: the folder of launch descriptions.
validation::Mapped<validation::Comparison> map_row_or_launch(const validation::MeasuredRow& row, validation::RowMapper& mapper,
                                                             const std::string& operators);

}  // namespace warpfold::cli
