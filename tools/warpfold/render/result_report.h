#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Renders one run: as tables for people, as JSON, or as CSV with a row for each kernel.
std::string render_result(const configs::Result& result, Format format);

// Renders runs of the same kernels under several policies; speed-ups are over the first run.
std::string render_comparison(const configs::Comparison& comparison, Format format);
// Renders the same tables for labelled runs that are not policies of one scenario, with a line for each run.
std::string comparison_of_runs(const configs::Comparison& comparison, const std::vector<std::string>& labels);

}  // namespace warpfold::cli
