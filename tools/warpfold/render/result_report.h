#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// One run: as tables for people, as JSON, or as CSV with a row for each kernel.
std::string render_result(const configs::Result& result, Format format);

// Runs of the same kernels under several policies; speed-ups are over the first.
std::string render_comparison(const configs::Comparison& comparison, Format format);
// The same as tables, of runs that are no policies of one scenario but have labels, a line each.
std::string comparison_of_runs(const configs::Comparison& comparison, const std::vector<std::string>& labels);

}  // namespace warpfold::cli
