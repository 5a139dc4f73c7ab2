#pragma once

#include <string>
#include <vector>

#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "tools/warpfold/failure.h"
#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::cli {

// Returns the kernels of a scenario, generated or read, in its order and with its names. `file` is the scenario's; `places` has the
// positions of its fields in files.
Outcome<std::vector<traces::Kernel>> scenario_kernels(const configs::Scenario& scenario, const std::string& file,
                                                      const configs::Places& places);

// Returns the kernels of a trace file, or of its text form if the name ends in .wfs. `places` receives the positions of each
// kernel's parts in the text form.
Outcome<std::vector<traces::Kernel>> file_kernels(const std::string& path, std::vector<traces::TextPlaces>* places = nullptr);

}  // namespace warpfold::cli
