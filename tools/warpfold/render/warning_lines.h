#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "configs/validation.pb.h"
#include "tools/warpfold/figures/study_figures.h"

namespace warpfold::cli {

// Returns warnings as lines below a table; empty if there is none.
std::string warning_lines(const configs::Result& result);
std::string warning_lines(const configs::Comparison& comparison);                     // each with its policy
std::string warning_lines(const configs::Validation& validation);                     // each with its row
std::string warning_lines(const configs::Study& study, const PointRecords& records);  // the first warning, and the number of
                                                                                      // warnings

}  // namespace warpfold::cli
