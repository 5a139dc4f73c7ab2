#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "sim/analytic/composition.h"
#include "sim/analytic/limiters.h"
#include "tools/warpfold/figures/data_sheet.h"

namespace warpfold::cli {

enum class KernelKind { kGemm, kRng, kAttention, kOther };
KernelKind kind_of(const configs::Kernel& kernel);

// The kernels of a scenario as the limiter model sees them.
struct Chain {
  std::vector<sim::Limiters> limiters;  // by kernel of the scenario
  std::vector<TensorWork> work;         // by kernel of the scenario
  sim::Limiters any_policy{{}};         // of all kernels together
  sim::ChainTimes times;                // cycles
  double dropping = 1;                  // cycles of attention with stored bits over attention without dropout, by the limiters
  bool has_gemm = false;
  bool has_rng = false;
  bool has_attention = false;
};

// Counts the scenario's kernels. In a chain with random numbers, attention with dropout is counted without dropout and with stored
// bits, whatever the source of its bits. `published` selects the published interference, which includes the cost of stored bits:
// attention is then counted without dropout only.
Expected<Chain> make_chain(const configs::Scenario& scenario, const std::string& file, bool published);

// Returns the scenario's GEMMs and random numbers alone, under a policy that overlaps their launches. The scenario's own policy
// stays if it overlaps them; CONCURRENT replaces a policy that serializes, joins or splits launches.
configs::Scenario pair_of(const configs::Scenario& scenario);
// Returns the slowdowns of GEMMs and random numbers in a simulation of the scenario whose policy launches each kernel once.
sim::Interference measured_interference(const configs::Scenario& scenario, const configs::Result& simulated);
// Returns the sequential composition, and the fused and the overlapped one if the chain has the kernels for them.
std::vector<sim::Composition> compositions_of(const Chain& chain, const sim::Interference& interference);

}  // namespace warpfold::cli
