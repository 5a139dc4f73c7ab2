#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Renders the place of each kernel of a result in the roofline: as tables, as JSON (the whole result), or as CSV with a row for
// each ceiling and each level of each kernel.
std::string render_roofline(const configs::Result& result, Format format);

}  // namespace warpfold::cli
