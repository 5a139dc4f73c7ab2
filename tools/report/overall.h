#pragma once

#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// What several runs say together, in plain words: which is the fastest, what changed from A to B, how near the limiter model
// comes. Fields are full paths, the run's before the result's. Empty for a single run.
std::vector<configs::Statement> overall_findings(const configs::Report& report);

}  // namespace warpfold::report
