#pragma once

#include <string>

#include "configs/report.pb.h"

namespace warpfold::cli {

// Returns a sentence broken at spaces into lines of at most 100 columns; lines after the first are indented by two.
std::string wrapped(const std::string& sentence);

// Returns one screen for people: statements about the run in plain words, and its kernels in a table. At most 24 lines of 100
// columns for two kernels; of many kernels, the longest are shown.
std::string summary_text(const configs::Run& run);

// Returns the statements alone: the total time first, then the bound of each kernel, the largest contention and the limit of the
// run.
std::string findings_text(const configs::Result& result);

// Returns the changes from one run to another, the largest first; at most one screen.
std::string difference_text(const configs::Difference& difference);

}  // namespace warpfold::cli
