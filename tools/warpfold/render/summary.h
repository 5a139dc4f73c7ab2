#pragma once

#include <string>

#include "configs/report.pb.h"

namespace warpfold::cli {

// One screen for people: what a run comes to in plain words, its kernels in a table. At most 24 lines of 100 columns for two
// kernels; of many kernels the longest are shown.
std::string summary_text(const configs::Run& run);

// The statements alone, without the total: what each kernel is bound by, the largest theft, what the policy loses most by.
std::string findings_text(const configs::Result& result);

// What changed from one run to another: the largest movers first, at most one screen.
std::string difference_text(const configs::Difference& difference);

}  // namespace warpfold::cli
