#pragma once

#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// What a layer comes to: its time and where it goes, what fusing saves, what memory and communication cost where they were asked
// for. Fields begin at `layer`.
std::vector<configs::Statement> layer_verdict(const configs::LayerReport& layer);

}  // namespace warpfold::report
