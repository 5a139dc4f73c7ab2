#include "sim/plan/executor.h"

#include <algorithm>
#include <iterator>

#include "sim/plan/assemble.h"
#include "sim/plan/repeated_prefix.h"

namespace warpfold::sim {
namespace {

// Returns the positions of `launches` in the epoch `of`.
Epoch places_in(const Epoch& of, const Epoch& launches) {
  Epoch places;
  for (const size_t l : launches) places.push_back(static_cast<size_t>(std::ranges::lower_bound(of, l) - of.begin()));
  return places;
}

}  // namespace

uint64_t MadeRun::instructions_of_replay() const {
  uint64_t issued = 0;
  for (const auto& each : outcome->folds) issued += each->instructions_of_classes;
  return issued * outcome->sm_classes / std::max(outcome->sms_simulated, 1U);
}

// Runs epoch by epoch as long as each one leaves the GPU idle. If an epoch does not, it and all later ones are
// simulated as one epoch.
Outcome Executor::run() {
  RunPlan plan = planner_.plan();
  std::vector<Shared> outcomes;
  std::vector<std::shared_ptr<const FoldReport>> discarded_reports;
  for (size_t e = 0; e < plan.epochs.size(); ++e) {
    outcomes.push_back(repeated(plan, e, outcomes));
    const uint64_t dirty_bytes = e == 0 ? all_.options.dirty_bytes : outcomes[e - 1]->dirty_bytes;
    if (outcomes.back() == nullptr) outcomes.back() = run_epoch(plan.epochs[e], dirty_bytes);
    split_epoch(plan, e, outcomes.back()->ran);
    // The report of a deadlock names all launches that wait, so all are simulated together.
    if (outcomes.back()->deadlocked) return simulate_(all_, false);
    if (outcomes.back()->left_idle || e + 1 == plan.epochs.size()) continue;
    discarded_reports = outcomes.back()->folds;
    join_epochs(plan, e);
    outcomes.back() = run_epoch(plan.epochs[e], dirty_bytes);
    split_epoch(plan, e, outcomes.back()->ran);
    if (outcomes.back()->deadlocked) return simulate_(all_, false);
  }
  Outcome whole =
      in_sequence(all_.launches.size(), plan.epochs, outcomes, all_.options.alternative_bounds.size(), spec_.kernel_launch);
  std::ranges::copy(discarded_reports, std::back_inserter(whole.folds));
  whole.made = made_of(outcomes);
  return whole;
}

Executor::Shared Executor::run_epoch(const Epoch& launches, uint64_t dirty_bytes) {
  const RunInputs inputs = inputs_of(launches, dirty_bytes);
  const Options& options = inputs.options;
  const auto simulate = [&] { return restrict_to_ran(simulate_(inputs, true)); };
  Shared outcome = options.fold.enables(Mechanism::kRunCache)
                       ? options.run_cache->get(spec_, launches_of(all_.launches, launches), options, simulate)
                       : std::make_shared<const Outcome>(simulate());
  if (options.keep_runs) made_.push_back(std::make_shared<const MadeRun>(MadeRun{spec_, inputs, true, outcome}));
  return outcome;
}

// Returns the simulations that the outcomes come from: each once, and none that was discarded.
std::vector<std::shared_ptr<const MadeRun>> Executor::made_of(const std::vector<Shared>& outcomes) const {
  std::vector<std::shared_ptr<const MadeRun>> made;
  for (const auto& run : made_) {
    const auto same = [&run](const auto& each) { return each->outcome == run->outcome; };
    if (std::ranges::find(outcomes, run->outcome) != outcomes.end() && std::ranges::none_of(made, same)) made.push_back(run);
  }
  return made;
}

// Returns the outcome of an earlier epoch whose launches epoch `e` repeats, with as many dirty bytes in L2; null if
// there is none. The run cache is no substitute: other threads fill it, and the choice between two bounded runs must
// not depend on them.
Executor::Shared Executor::repeated(const RunPlan& plan, size_t e, const std::vector<Shared>& outcomes) const {
  if (!all_.options.alternative_bounds.empty() || !all_.options.fold.enables(Mechanism::kRunCache)) return nullptr;
  const Epoch& launches = plan.epochs[e];
  const auto dirty_before = [&](size_t epoch) { return epoch == 0 ? all_.options.dirty_bytes : outcomes[epoch - 1]->dirty_bytes; };
  for (size_t before = 0; before < outcomes.size(); ++before) {
    if (dirty_before(before) != dirty_before(e)) continue;
    const auto prefix = repeated_prefix(all_.launches, launches, plan.epochs[before], *outcomes[before], all_.options.serialise);
    if (!prefix) continue;
    auto again = std::make_shared<Outcome>(*outcomes[before]);
    again->ran = places_in(launches, *prefix);
    return again;
  }
  return nullptr;
}

Options Executor::options_of(const Epoch& launches, uint64_t dirty_bytes) const {
  Options options = all_.options;
  options.dirty_bytes = dirty_bytes;
  options.serialise = options.serialise && launches.size() > 1;
  options.alternative_bounds = bounds_of_epoch(options.alternative_bounds, launches);
  return options;
}

RunInputs Executor::inputs_of(const Epoch& launches, uint64_t dirty_bytes) const {
  RunInputs inputs{.launches = launches_of(all_.launches, launches), .images = {}, .options = options_of(launches, dirty_bytes)};
  for (const size_t l : launches) inputs.images.push_back(all_.images[l]);
  return inputs;
}

}  // namespace warpfold::sim
