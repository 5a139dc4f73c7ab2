#pragma once

#include <optional>
#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// Returns statements about several runs in plain words: which run to choose, the changes from A to B, the error of the limiter
// model. Fields are full paths: the run's path, then the result's. Empty for a single run.
std::vector<configs::Statement> overall_findings(const configs::Report& report);

// Returns the statement about the kernel whose time changes most from `before` to another run, with the states that its warps' time
// went to: "The random numbers take 4.08 us less; of the warp time that they save, 42 % went into waiting for ...". With `longer`,
// only kernels that take longer, or less, count. None if both runs have no such kernel in common.
std::optional<configs::Statement> kernel_change(const configs::Result& before, const configs::Difference& difference,
                                                std::optional<bool> longer = {});

}  // namespace warpfold::report
