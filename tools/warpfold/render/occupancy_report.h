#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// A result with its `occupancy`: advice, footprints, curves and what smaller footprints gain; CSV has a row for each footprint.
std::string render_occupancy(const configs::Result& result, Format format);

}  // namespace warpfold::cli
