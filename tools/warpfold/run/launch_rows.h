#pragma once

#include <string>

#include "tools/validation/map_row.h"

namespace warpfold::cli {

// A row that is one launch of a profile: it states a grid and a block, and `impl` or `kernel` is a kernel's name as profilers print
// it. Read as `warpfold profile` reads launches: sizes of the operator (op and dims, or M, N and K, or rows and cols), else of the
// grid; the measured time is the kernel's alone. Not mapped: no rule of kernel_names.textproto knows the name, or its kernel has no
// generator.
validation::Mapped<validation::Comparison> map_launch_row(const validation::MeasuredRow& row, validation::RowMapper& mapper,
                                                          const std::string& operators);

// Whether a row states the shape of a launch.
bool states_launch(const validation::MeasuredRow& row);

}  // namespace warpfold::cli
