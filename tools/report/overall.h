#pragma once

#include <optional>
#include <vector>

#include "configs/report.pb.h"

namespace warpfold::report {

// What several runs say together, in plain words: which to take, what changed from A to B, how near the limiter model
// comes. Fields are full paths, the run's before the result's. Empty for a single run.
std::vector<configs::Statement> overall_findings(const configs::Report& report);

// "The random numbers take 4.08 us less; of the warp time that they save, 42 % went into waiting for ...": the kernel whose time
// moves most from `before` to another run, and where its warps' time went; with `longer`, of the kernels that take longer, or less.
// None where no such kernel is in both runs.
std::optional<configs::Statement> kernel_change(const configs::Result& before, const configs::Difference& difference,
                                                std::optional<bool> longer = {});

}  // namespace warpfold::report
