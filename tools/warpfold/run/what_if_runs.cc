#include "tools/warpfold/run/what_if_runs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/warpfold/figures/what_if.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"

namespace warpfold::cli {

namespace {

using configs::ResourceKind;

// A machine to try: a resource and a direction.
struct Trial {
  size_t resource;
  bool better;
  configs::Variation variation;
  double error_bound = 0;
};

// True if a better machine is slower, or a worse machine faster, by more than half a percent beyond folding's bounds.
bool unexpected(const Trial& trial) {
  constexpr double kWorthTelling = 0.005;
  const double gain = trial.variation.speedup() - 1;
  return (trial.better ? -gain : gain) > kWorthTelling + trial.error_bound;
}

std::vector<Trial> trials_of(const WhatIfQuestion& question, const configs::Gpu& gpu) {
  std::vector<Trial> trials;
  for (size_t r = 0; r < question.resources.size(); ++r) {
    const configs::ScalableResource& resource = *question.resources[r];
    for (const bool better : {true, false}) {
      const bool more = better != (resource.kind == ResourceKind::kLatency);
      Trial trial{r, better, {}};
      trial.variation.set_factor(more ? question.factor : 1 / question.factor);
      std::string arguments;
      for (const std::string& setting : configs::scaled_by(gpu, resource, trial.variation.factor())) {
        trial.variation.add_setting(setting);
        arguments.append(arguments.empty() ? "--set " : " --set ").append(setting);
      }
      trial.variation.set_arguments(std::move(arguments));
      trials.push_back(std::move(trial));
    }
  }
  return trials;
}

// The power cap has no effect if the clock is fixed; clock_mhz has none if the clock follows from power.
Outcome<void> check_clock(const WhatIfQuestion& question, const configs::Result& base) {
  for (const configs::ScalableResource* resource : question.resources) {
    if (resource->name == "power_cap" && !base.has_power())
      return user_error("--resources: power_cap changes nothing while gpu.clock is FIXED; add --set gpu.clock=POWER");
    if (resource->name == "clock" && base.has_power())
      return user_error("--resources: clock follows from power while gpu.clock is POWER; ask for power_cap");
  }
  return {};
}

configs::WhatIf gather(const WhatIfQuestion& question, std::vector<Trial> trials) {
  configs::WhatIf what_if;
  what_if.set_factor(question.factor);
  for (const configs::ScalableResource* resource : question.resources) {
    configs::VariedResource& entry = *what_if.add_resources();
    entry.set_resource(std::string(resource->name));
    entry.set_kind(std::string(configs::resource_kind_name(resource->kind)));
    entry.set_what(std::string(resource->what));
  }
  for (Trial& trial : trials) {
    configs::VariedResource& entry = *what_if.mutable_resources(static_cast<int>(trial.resource));
    *(trial.better ? entry.mutable_better() : entry.mutable_worse()) = std::move(trial.variation);
    what_if.set_noise(std::max(what_if.noise(), trial.error_bound));
  }
  rank_resources(what_if);
  return what_if;
}

}  // namespace

Outcome<configs::Result> ask_what_if(const WhatIfQuestion& question, const RunOptions& how) {
  auto base = simulate_variant(question.scenario, {}, how);
  if (!base) return base;
  if (const auto clock = check_clock(question, *base); !clock) return std::unexpected(clock.error());
  std::vector<Trial> trials = trials_of(question, base->provenance().scenario().gpu());
  std::vector<std::optional<Failure>> failures(trials.size());
  RunOptions one_at_a_time = how;
  one_at_a_time.jobs = 1;
  {
    ProgressBar bar("what if", trials.size());
    in_parallel(trials.size(), how.jobs, [&](size_t t) {
      configs::Variation& variation = trials[t].variation;
      const auto varied =
          simulate_variant(question.scenario, {variation.setting().begin(), variation.setting().end()}, one_at_a_time);
      if (varied) {
        fill_variation(*base, *varied, variation);
        trials[t].error_bound = base->fold().error_bound() + varied->fold().error_bound();
        if (unexpected(trials[t])) explain(*base, *varied, variation);
      } else if (is_of_the_variant(varied.error())) {
        variation.set_not_run(why_not_run(varied.error()));
      } else {
        failures[t] = varied.error();
      }
      bar.step();
    });
  }
  for (const auto& failure : failures) {
    if (failure) return std::unexpected(*failure);
  }
  *base->mutable_what_if() = gather(question, std::move(trials));
  return base;
}

}  // namespace warpfold::cli
