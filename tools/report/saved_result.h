#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/report.pb.h"

namespace warpfold::report {

// The format of results that this version writes. Older ones are read, later ones refused (docs/compatibility.md).
inline constexpr uint32_t kResultFormat = 1;

// Reads files that `simulate`, `compare` and `model` wrote as JSON. JSON of another kind is named in the diagnostic.
Expected<configs::Report> read_results(const std::vector<std::string>& files);

// Results that were just made, as a report of one input.
configs::Report report_of(const configs::Result& result);
configs::Report report_of(const configs::Comparison& comparison);
// Measured rows beside their simulations, as a report without runs.
configs::Report report_of(const configs::Validation& validation);
// A profiled step, as a report without runs.
configs::Report report_of(const configs::ProfileReport& profile);
// A transformer's layer with the pictures of its graphs, as a report without runs.
configs::Report report_of(const configs::LayerReport& layer);

}  // namespace warpfold::report
