#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "configs/diagnostic.h"
#include "sim/plan/made_run.h"
#include "sim/plan/options.h"
#include "sim/plan/outcome.h"
#include "sim/sm/spec.h"
#include "traces/launch.h"

namespace warpfold::configs {
class Gpu;
}

namespace warpfold::sim {

using traces::Launch;
using traces::SmRange;

// Simulates the launches on the GPU: one SM for each class of SMs that receive the same CTAs, or every SM with
// Options::all_sms. The SMs share L2 and DRAM. Fails if a CTA can never fit or a kernel is for another architecture.
Expected<Outcome> simulate(const Spec& spec, const std::vector<Launch>& launches, const Options& options = {});
// Simulates the launches on the machine that make_spec makes of `gpu`. Also fails if make_spec does.
Expected<Outcome> simulate(const configs::Gpu& gpu, const std::vector<Launch>& launches, const Options& options = {});

// Repeats a simulation with every instruction replayed. If the run is an epoch of a plan, the replay is looked up in
// the run cache of its options.
std::shared_ptr<const Outcome> replayed(const MadeRun& run);

// True if the two lists of launches differ in reservations and quotas only. The bounds of one list may then be
// alternative bounds in a simulation of the other.
bool differ_in_bounds_only(const std::vector<Launch>& one, const std::vector<Launch>& other);
std::vector<PlacementBounds> bounds_of(const std::vector<Launch>& launches);
// Returns the outcome that the launches would have under Options::alternative_bounds[which]; none if those bounds would
// have changed the run.
std::optional<Outcome> under_alternative_bounds(const Outcome& outcome, size_t which);

}  // namespace warpfold::sim
