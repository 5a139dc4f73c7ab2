#pragma once

#include <string>

#include "configs/layer.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Renders a layer: its operators with their times, its classes, and the savings of fusion. CSV has a row for each kernel of each
// version.
std::string render_layer(const configs::LayerReport& report, Format format);

}  // namespace warpfold::cli
