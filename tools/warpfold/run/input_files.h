#pragma once

#include <string>

#include "configs/scenario.pb.h"

namespace warpfold::cli {

// Returns the concatenated hashes of the traces and listings that the scenario's kernels are read from, a part of the key of its
// simulation. `file` is the scenario's.
std::string hash_of_inputs(const configs::Scenario& scenario, const std::string& file);

// Returns a hash of this program's own file, since another build may simulate the same scenario differently.
std::string program_hash();

}  // namespace warpfold::cli
