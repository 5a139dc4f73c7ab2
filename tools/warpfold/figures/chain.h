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

// A scenario's kernels as the limiter model sees them.
struct Chain {
  std::vector<sim::Limiters> limiters;  // by kernel of the scenario
  std::vector<TensorWork> work;         // the same
  sim::Limiters any_policy{{}};         // of all of them together
  sim::ChainTimes times;                // cycles
  double dropping = 1;                  // attention with stored bits over attention without dropout, by their limiters
  bool has_gemm = false;
  bool has_rng = false;
  bool has_attention = false;
};

// Counts the scenario's kernels. In a chain with random numbers, attention with dropout is counted both without dropout and with
// stored bits, whatever the source of its bits. `published`: published interference includes the cost of stored bits, so that
// attention is counted without dropout alone.
Expected<Chain> make_chain(const configs::Scenario& scenario, const std::string& file, bool published);

// The scenario's GEMMs and random numbers alone, under a policy that overlaps their launches. The scenario's own policy stays if it
// does; CONCURRENT replaces a policy that runs launches in sequence, makes one of two, or cuts them.
configs::Scenario pair_of(const configs::Scenario& scenario);
// The slowdowns of GEMMs and random numbers that a simulation of a scenario shows, kernel by kernel as it is written.
sim::Interference measured_interference(const configs::Scenario& scenario, const configs::Result& simulated);
// In sequence; fused and overlapped where the chain has the kernels for it.
std::vector<sim::Composition> compositions_of(const Chain& chain, const sim::Interference& interference);

}  // namespace warpfold::cli
