#pragma once

#include "tools/profile/name_table.h"
#include "tools/profile/profile.h"

namespace warpfold::profile {

// Tells apart launches of one shape whose sizes differ by their rule: each takes the rule's values in turn, and has its own launch
// near it. Such launches become shapes of their own.
//
//   rule of "gemm" with value: ["1536", "576"]     launches gemm copy gemm gemm     turns 0 - 1 0
void tell_apart(const NameTable& names, Profile& profile);

}  // namespace warpfold::profile
