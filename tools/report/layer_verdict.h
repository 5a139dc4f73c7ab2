#pragma once

#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// Returns statements about a layer: its time by class, and the savings of fusion. Also the cost of memory and communication if the
// user asked about them. Field paths begin at `layer`.
std::vector<configs::Statement> layer_verdict(const configs::LayerReport& layer);

}  // namespace warpfold::report
