#pragma once

#include "configs/scenario.pb.h"

// The schema's part of the example of docs/policies.md, as if it were among the policies.
namespace warpfold::configs {

inline constexpr PolicyKind LONGEST_FIRST = static_cast<PolicyKind>(1000);

}  // namespace warpfold::configs
