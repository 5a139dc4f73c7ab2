#pragma once

#include <string>

#include "configs/diagnostic.h"
#include "configs/operator_kernels.pb.h"

namespace warpfold::configs {

// Reads a table of listings for operators. Its paths become relative to the current folder.
Expected<OperatorKernels> load_operator_kernels(const std::string& path);

}  // namespace warpfold::configs
