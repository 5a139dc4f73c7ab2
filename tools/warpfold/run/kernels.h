#pragma once

#include <string>
#include <vector>

#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "tools/warpfold/failure.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::cli {

// The kernels of a scenario, generated or read, in its order and under its names. `file` is the scenario's,
// `places` says where it was written.
Outcome<std::vector<traces::Kernel>> scenario_kernels(const configs::Scenario& scenario, const std::string& file,
                                                      const configs::Places& places);

// The kernels of a trace file, or of its text form where the name ends in .wfs; `places` is given where
// each stands in that.
Outcome<std::vector<traces::Kernel>> file_kernels(const std::string& path, std::vector<traces::TextPlaces>* places = nullptr);

}  // namespace warpfold::cli
