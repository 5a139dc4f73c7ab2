#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// One run: as tables for people, as JSON, or as CSV with a row for each kernel.
std::string render_result(const configs::Result& result, Format format);

// Runs of the same kernels under several policies; speed-ups are over the first.
std::string render_comparison(const configs::Comparison& comparison, Format format);

}  // namespace warpfold::cli
