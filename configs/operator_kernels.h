#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/operator_kernels.pb.h"

namespace warpfold::configs {

// Reads a table of listings for operators. Its paths become relative to the current folder. `known`: names that an operator may
// have; none: any.
Expected<OperatorKernels> load_operator_kernels(const std::string& path, const std::vector<std::string>& known = {});

}  // namespace warpfold::configs
