#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "tools/warpfold/figures/chain.h"

namespace warpfold::cli {

// The interference between the chain's kernels, and the times alone from the simulation that measured it.
struct MeasuredInterference {
  sim::Interference interference;
  std::map<std::string, uint64_t> alone;  // simulated cycles of kernels alone, by name
};

// Returns the limiter model's result for a scenario's chain: each kernel's limiters, the compositions, and the composition that
// corresponds to the policy.
configs::Result model_result(const configs::Scenario& scenario, const Chain& chain, const MeasuredInterference& measured);

}  // namespace warpfold::cli
