#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/study.pb.h"

namespace warpfold::configs {

// Makes a study of one scenario, a file or a name, from the options --axis, --where and --policies. Diagnostics name
// these options.
Expected<Study> study_of_scenario(const std::string& named, const std::vector<std::string>& axes,
                                  const std::vector<std::string>& where, const std::vector<PolicyKind>& policies);

}  // namespace warpfold::configs
