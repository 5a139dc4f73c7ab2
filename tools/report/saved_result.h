#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/report.pb.h"

namespace warpfold::report {

// The format of results that this version writes. Older formats are read, later formats refused (docs/compatibility.md).
inline constexpr uint32_t kResultFormat = 1;

// Reads files that `simulate`, `compare` and `model` wrote as JSON. For JSON of another kind, the diagnostic names the kind.
Expected<configs::Report> read_results(const std::vector<std::string>& files);

// Returns new results as a report of one input.
configs::Report report_of(const configs::Result& result);
configs::Report report_of(const configs::Comparison& comparison);
// Returns measured rows and their simulations as a report without runs.
configs::Report report_of(const configs::Validation& validation);
// Returns a profiled step as a report without runs.
configs::Report report_of(const configs::ProfileReport& profile);
// Returns a transformer's layer with the pictures of its graphs as a report without runs.
configs::Report report_of(const configs::LayerReport& layer);

}  // namespace warpfold::report
