#pragma once

#include <string>

#include "configs/result.pb.h"

namespace warpfold::cli {

// The limit of a run under its policy.
struct Reason {
  std::string text;      // a phrase that follows "limited by", with its figures
  std::string resource;  // of `warpfold whatif`, more of which relieves the limit; empty: no machine has more of it
};

// Returns the largest loss of a run. A loss is one of these: kernels that could have run side by side, a kernel slowed by other
// kernels with the resource that they hold, or SMs without work.
//
// A loss below 1 % of the run does not count. If another run is faster (Result.rank above 1), a loss below folding's error bound
// does not count. If more of the busiest resource would gain more than the largest loss, the reason is that resource.
Reason reason_of(const configs::Result& result);

}  // namespace warpfold::cli
