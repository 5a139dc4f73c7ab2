#pragma once

#include <string>

#include "configs/scenario.pb.h"

namespace warpfold::cli {

// Hashes of the traces and listings that the scenario's kernels are read from, one behind the other: part of the key of what was
// simulated. `file` is the scenario's.
std::string hash_of_inputs(const configs::Scenario& scenario, const std::string& file);

}  // namespace warpfold::cli
