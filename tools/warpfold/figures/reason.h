#pragma once

#include <string>

#include "configs/result.pb.h"

namespace warpfold::cli {

// The limit of a run under its policy.
struct Reason {
  std::string text;      // a phrase that follows "limited by", with the figures behind it
  std::string resource;  // of `warpfold whatif`, more of which relieves it; empty: no machine has more of it
};

// The largest loss: kernels that could have run side by side, a kernel that the others slow down and what they take from it, SMs
// without work. A loss of less than 1 % of the run is none; of a run that others beat (Result.rank above 1) one that folding's
// error bound could be. Without a loss that is larger than what more of the busiest resource could gain, that resource is the
// reason.
Reason reason_of(const configs::Result& result);

}  // namespace warpfold::cli
