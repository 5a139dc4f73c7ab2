#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "tools/warpfold/figures/chain.h"

namespace warpfold::cli {

// What the chain's kernels do to each other, and what a simulation said on the way.
struct MeasuredInterference {
  sim::Interference interference;
  std::map<std::string, uint64_t> alone;  // simulated cycles of kernels alone, by name
};

// What the limiter model says of a scenario's chain: each kernel's limiters, the compositions, and the one that the policy comes
// to.
configs::Result model_result(const configs::Scenario& scenario, const Chain& chain, const MeasuredInterference& measured);

}  // namespace warpfold::cli
