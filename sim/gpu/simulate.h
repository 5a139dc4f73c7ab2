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

// Runs the launches on the GPU: one representative SM for each class of SMs that receive the same CTAs, or, with Options::all_sms,
// every SM. They share L2 and DRAM. Fails where a CTA can never fit or a kernel is for another architecture.
Expected<Outcome> simulate(const Spec& spec, const std::vector<Launch>& launches, const Options& options = {});
// On the machine that make_spec makes of `gpu`.
Expected<Outcome> simulate(const configs::Gpu& gpu, const std::vector<Launch>& launches, const Options& options = {});

// The same simulation with every instruction replayed; looked up in the run cache of its options where it was.
std::shared_ptr<const Outcome> replayed(const MadeRun& run);

// Two lists of launches of which one may be simulated as other bounds of the other: they are the same in all but these.
bool same_but_for_bounds(const std::vector<Launch>& one, const std::vector<Launch>& other);
std::vector<PlacementBounds> bounds_of(const std::vector<Launch>& launches);
// What simulate() would return for Options::alternative_bounds[which] of `outcome`; nothing where it is not the same.
std::optional<Outcome> under_alternative_bounds(const Outcome& outcome, size_t which);

}  // namespace warpfold::sim
