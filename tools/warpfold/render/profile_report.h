#pragma once

#include <string>

#include "configs/profile.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Renders the step, its kernels by time, errors by family, and the plan; CSV has a row per kernel. `rows`: number of kernels in the
// table.
std::string render_profile(const configs::ProfileReport& report, uint32_t rows, Format format);

}  // namespace warpfold::cli
