#include "sim/plan/executor.h"

#include <algorithm>
#include <iterator>

#include "sim/plan/assemble.h"
#include "sim/plan/repeated_prefix.h"

namespace warpfold::sim {
namespace {

// The places that launches have among others.
Epoch places_in(const Epoch& of, const Epoch& launches) {
  Epoch places;
  for (const size_t l : launches) places.push_back(static_cast<size_t>(std::ranges::lower_bound(of, l) - of.begin()));
  return places;
}

std::vector<Epoch> places_of_parts(const RunPlan& plan) {
  std::vector<Epoch> places;
  for (const RunPlan& part : plan.parts) places.push_back(places_in(plan.launches, part.launches));
  return places;
}

}  // namespace

Outcome Executor::run() { return run_sequence(planner_.plan()); }

// Epoch by epoch, as far as each of them leaves an idle GPU to the next; what comes after is one epoch.
Outcome Executor::run_sequence(RunPlan plan) const {
  std::vector<Shared> outcomes;
  std::vector<std::shared_ptr<const FoldReport>> discarded_reports;
  for (size_t e = 0; e < plan.parts.size(); ++e) {
    outcomes.push_back(repeated(plan, e, outcomes));
    if (outcomes.back() == nullptr) outcomes.back() = run_epoch(plan.parts[e]);
    planner_.split_epoch(plan, e, outcomes.back()->ran);
    // The report of a deadlock names what all launches wait for.
    if (outcomes.back()->deadlocked) return run_in_one(plan.launches);
    if (outcomes.back()->left_idle || e + 1 == plan.parts.size()) continue;
    discarded_reports = outcomes.back()->folds;
    planner_.join_epochs(plan, e);
    outcomes.back() = run_epoch(plan.parts[e]);
    planner_.split_epoch(plan, e, outcomes.back()->ran);
    if (outcomes.back()->deadlocked) return run_in_one(plan.launches);
  }
  Outcome whole =
      in_sequence(plan.launches.size(), places_of_parts(plan), outcomes, alternative_bounds_of(plan), spec_.kernel_launch);
  std::ranges::copy(discarded_reports, std::back_inserter(whole.folds));
  return whole;
}

Executor::Shared Executor::run_epoch(const RunPlan& plan) const {
  const Options options = options_of(plan.launches);
  if (plan.kind == RunPlan::Kind::kSideBySide) {
    std::vector<Outcome> outcomes;
    for (const RunPlan& group : plan.parts) outcomes.push_back(run_sequence(group));
    return std::make_shared<const Outcome>(
        side_by_side(plan.launches.size(), places_of_parts(plan), outcomes, options.alternative_bounds.size()));
  }
  const auto simulate = [&] { return of_those_that_ran(simulate_(inputs_of(plan.launches), true)); };
  if (!options.fold.enables(Mechanism::kRunCache)) return std::make_shared<const Outcome>(simulate());
  return options.run_cache->get(spec_, launches_of(all_.launches, plan.launches), options, simulate);
}

// The outcome of an earlier epoch, where epoch `e` begins as that one did. It is not looked up in the run cache, which other
// threads fill: which of two bounded runs is taken must not depend on them.
Executor::Shared Executor::repeated(const RunPlan& sequence, size_t e, const std::vector<Shared>& outcomes) const {
  if (alternative_bounds_of(sequence) > 0 || !all_.options.fold.enables(Mechanism::kRunCache)) return nullptr;
  const Epoch& launches = sequence.parts[e].launches;
  for (size_t before = 0; before < outcomes.size(); ++before) {
    const auto prefix =
        repeated_prefix(all_.launches, launches, sequence.parts[before].launches, *outcomes[before], all_.options.serialise);
    if (!prefix) continue;
    auto again = std::make_shared<Outcome>(*outcomes[before]);
    again->ran = places_in(launches, *prefix);
    return again;
  }
  return nullptr;
}

Outcome Executor::run_in_one(const Epoch& launches) const {
  const bool all = launches.size() == all_.launches.size();
  return simulate_(all ? all_ : inputs_of(launches), false);
}

Options Executor::options_of(const Epoch& launches) const {
  Options options = all_.options;
  options.serialise = options.serialise && launches.size() > 1;
  options.alternative_bounds = bounds_of_epoch(options.alternative_bounds, launches);
  return options;
}

size_t Executor::alternative_bounds_of(const RunPlan& sequence) const {
  const auto& bounds = all_.options.alternative_bounds;
  return sequence.launches.size() == all_.launches.size() ? bounds.size() : bounds_of_epoch(bounds, sequence.launches).size();
}

RunInputs Executor::inputs_of(const Epoch& launches) const {
  RunInputs inputs{.launches = launches_of(all_.launches, launches), .images = {}, .options = options_of(launches)};
  for (const size_t l : launches) inputs.images.push_back(all_.images[l]);
  return inputs;
}

}  // namespace warpfold::sim
