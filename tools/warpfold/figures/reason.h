#pragma once

#include <string>

#include "configs/result.pb.h"

namespace warpfold::cli {

// What limits a run under its policy, in a phrase that follows "limited by", with the figures behind it: kernels that could have
// run side by side, a kernel that the others slow down and what they take from it, SMs without work. A loss of less than 1 % of the
// run is none; of a run that others beat (Result.rank above 1) one that folding's error bound could be.
std::string reason_of(const configs::Result& result);

}  // namespace warpfold::cli
