#pragma once

#include <string>

#include "configs/layer.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// A layer's operators with their times, its classes, and what fusion saves. As CSV: a row for each kernel of each version.
std::string render_layer(const configs::LayerReport& report, Format format);

}  // namespace warpfold::cli
