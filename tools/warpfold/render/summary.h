#pragma once

#include <string>

#include "configs/report.pb.h"

namespace warpfold::cli {

// A sentence broken at spaces into lines of at most 100 columns; lines after the first are indented by two.
std::string wrapped(const std::string& sentence);

// One screen for people: what a run comes to in plain words, its kernels in a table. At most 24 lines of 100 columns for two
// kernels; of many kernels the longest are shown.
std::string summary_text(const configs::Run& run);

// The statements alone: the total first, what each kernel is bound by, the largest theft, what limits the run.
std::string findings_text(const configs::Result& result);

// What changed from one run to another: the largest movers first, at most one screen.
std::string difference_text(const configs::Difference& difference);

}  // namespace warpfold::cli
