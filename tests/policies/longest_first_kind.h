#pragma once

#include "configs/scenario.pb.h"

// What the schema would say if the example of docs/policies.md were among the policies.
namespace warpfold::configs {

inline constexpr PolicyKind LONGEST_FIRST = static_cast<PolicyKind>(1000);

}  // namespace warpfold::configs
