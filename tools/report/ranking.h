#pragma once

#include <cstdint>
#include <vector>

#include "configs/result.pb.h"

namespace warpfold::report {

// Places by total time, in the order of `runs`: 1 + how many others are faster by more than bounded folding leaves open in the two
// of them (Fold.error_bound). Runs in one place cannot be told apart, though one of them may be apart from a third.
std::vector<uint32_t> ranks(const std::vector<const configs::Result*>& runs);

}  // namespace warpfold::report
