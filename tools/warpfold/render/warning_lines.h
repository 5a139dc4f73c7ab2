#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "configs/validation.pb.h"
#include "tools/warpfold/figures/study_figures.h"

namespace warpfold::cli {

// Warnings as lines of a table's text; empty where there is none.
std::string warning_lines(const configs::Result& result);
std::string warning_lines(const configs::Comparison& comparison);                     // each behind its policy
std::string warning_lines(const configs::Validation& validation);                     // each behind its row
std::string warning_lines(const configs::Study& study, const PointRecords& records);  // the first one, and how many there are

}  // namespace warpfold::cli
