#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Renders a result with `occupancy`: advice, footprints, curves and the gain from smaller footprints. CSV has a row for each
// footprint.
std::string render_occupancy(const configs::Result& result, Format format);

}  // namespace warpfold::cli
