#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Renders a result with what_if: as a tornado chart in text, as JSON, or as CSV with a row for each kernel of each variation.
std::string render_what_if(const configs::Result& result, Format format);

}  // namespace warpfold::cli
