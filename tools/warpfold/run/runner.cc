#include "tools/warpfold/run/runner.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "configs/escape/quoted.h"
#include "tools/report/number_text.h"
#include "tools/warpfold/figures/binding.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/figures/estimated_runs.h"
#include "tools/warpfold/figures/fold.h"
#include "tools/warpfold/figures/invariants.h"
#include "tools/warpfold/figures/reason.h"
#include "tools/warpfold/figures/result.h"
#include "tools/warpfold/figures/slowdown.h"
#include "tools/warpfold/run/launches.h"
#include "tools/warpfold/run/log.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"
#include "tools/warpfold/run/reference_check.h"
#include "tools/warpfold/run/self_check.h"
#include "workloads/policies/plan.h"

namespace warpfold::cli {

// The distinct kernels of some plans. Kernels with the same program, whatever their names, on the same number of SMs behave the
// same alone.
class Runner::Kernels {
 public:
  void add(const policies::PlannedKernel& planned) {
    traces::Kernel program = traces::without_provenance(planned.kernel);
    const auto same = [&](const Program& known) { return known.sms == planned.sms.count && known.kernel == program; };
    const auto place = static_cast<size_t>(std::ranges::find_if(programs_, same) - programs_.begin());
    of_[&planned] = place;
    if (place < programs_.size()) return;
    programs_.push_back({std::move(program), planned.sms.count});
    distinct_.push_back(&planned);
  }
  void add_all(const std::vector<Planned>& planned, const policies::Plan& written) {
    for (const policies::PlannedKernel& kernel : written.kernels) add(kernel);
    for (const Planned& each : planned) {
      for (const policies::PlannedKernel& kernel : each.plan.kernels) add(kernel);
    }
  }
  const std::vector<const policies::PlannedKernel*>& distinct() const { return distinct_; }
  // Returns the indices of the kernels alone that a result is compared with.
  std::vector<size_t> indices(const Planned& planned, const policies::Plan& written) const {
    std::vector<size_t> indices;
    for (const policies::Plan* plan : {&planned.plan, &written}) {
      for (const policies::PlannedKernel& kernel : plan->kernels) indices.push_back(index(kernel));
    }
    return indices;
  }
  size_t index(const policies::PlannedKernel& planned) const { return of_.at(&planned); }

 private:
  struct Program {
    traces::Kernel kernel;  // without a name
    uint32_t sms;
  };
  std::vector<Program> programs_;                        // by index of distinct_
  std::map<const policies::PlannedKernel*, size_t> of_;  // for look-ups only, never iterated: its order is that of addresses
  std::vector<const policies::PlannedKernel*> distinct_;
};

namespace {

std::string_view how_folded(sim::Folded mode) {
  switch (mode) {
    case sim::Folded::kOff:
      return "replayed as asked";
    case sim::Folded::kNone:
      return "replayed, since no state recurred";
    case sim::Folded::kExact:
      return "fast-forwarded where states recurred";
    case sim::Folded::kBounded:
      return "sampled where no state recurred";
  }
  return "";
}

// "71,173 cycles; 3 of 132 SMs simulated, sampled where no state recurred, within 0.15 %: 1,200 of 3,400 instructions replayed"
std::string text_of_run(const sim::Outcome& outcome, uint32_t sms) {
  const auto text = [](uint64_t count) { return report::with_thousands(std::to_string(count)); };
  const sim::FoldReport& fold = outcome.fold;
  return text(outcome.total_cycles) + " cycles; " + std::to_string(outcome.sms_simulated) + " of " + std::to_string(sms) +
         " SMs simulated, " + std::string(how_folded(fold.mode)) +
         (fold.error_bound > 0 ? ", within " + report::percent_text(fold.error_bound) : "") + ": " +
         text(fold.instructions_replayed) + " of " + text(fold.instructions_of_classes) + " instructions replayed";
}

// How many of the runs that an outcome is made of an earlier one has as well.
class SharedRuns {
 public:
  size_t count(const sim::Outcome& outcome) {
    size_t shared = 0;
    for (const auto& fold : outcome.folds) shared += seen_.insert(fold).second ? 0 : 1;
    return shared;
  }

 private:
  std::set<std::shared_ptr<const sim::FoldReport>> seen_;  // looked up, never walked: its order is that of addresses
};

}  // namespace

// `others` may differ from `simulation` only in bounds; the outcome may then also hold for them.
Outcome<sim::Outcome> Runner::simulate(const Simulation& simulation, const std::vector<const Simulation*>& others,
                                       const sim::FoldOptions& fold) const {
  sim::Options options{.serialise = simulation.serialise,
                       .all_sms = options_.all_sms,
                       .threads = options_.threads,
                       .account = options_.account,
                       .fold = fold,
                       .timeline = simulation.timeline,
                       .run_cache = known_.get(),
                       .keep_runs = true};
  for (const Simulation* other : others) options.alternative_bounds.push_back(sim::bounds_of(other->launches));
  const Stopwatch watch;
  auto outcome = sim::simulate(simulation.gpu, simulation.launches, options);
  if (outcome)
    log_info([&] { return simulation.what + ": " + text_of_run(*outcome, simulation.gpu.sm_count()) + ", in " + watch.text(); });
  if (!outcome) {
    Diagnostic diagnostic = outcome.error();
    if (diagnostic.file.empty()) diagnostic.file = kernels_.file();
    return std::unexpected(Failure(diagnostic));
  }
  if (outcome->deadlocked) return std::unexpected(Failure(kDeadlock, outcome->deadlock.report));
  return std::move(*outcome);
}

bool Runner::differ_only_in_bounds(const Simulation& one, const Simulation& other) {
  return one.serialise == other.serialise && one.timeline == other.timeline &&
         one.gpu.SerializeAsString() == other.gpu.SerializeAsString() && sim::differ_in_bounds_only(one.launches, other.launches);
}

// Runs simulations that differ only in bounds as one simulation, for as many of them as its outcome holds.
Outcome<std::vector<sim::Outcome>> Runner::simulate_all(const std::vector<Simulation>& simulations,
                                                        const sim::FoldOptions& fold) const {
  std::vector<std::optional<Outcome<sim::Outcome>>> ended(simulations.size());
  std::vector<size_t> left(simulations.size());
  std::iota(left.begin(), left.end(), size_t{0});
  while (!left.empty()) {
    std::vector<std::vector<size_t>> groups;  // of each group the first simulation runs
    for (const size_t i : left) {
      const auto group = std::ranges::find_if(
          groups, [&](const auto& each) { return differ_only_in_bounds(simulations[each.front()], simulations[i]); });
      if (group == groups.end()) {
        groups.push_back({i});
      } else {
        group->push_back(i);
      }
    }
    ProgressBar bar("simulations", groups.size());
    in_parallel(groups.size(), options_.jobs, [&](size_t g) {
      std::vector<const Simulation*> others;
      for (size_t n = 1; n < groups[g].size(); ++n) others.push_back(&simulations[groups[g][n]]);
      bar.log(simulations[groups[g].front()].what);
      ended[groups[g].front()] = simulate(simulations[groups[g].front()], others, fold);
      bar.step();
    });
    left.clear();
    for (const std::vector<size_t>& group : groups) {
      const Outcome<sim::Outcome>& first = *ended[group.front()];
      for (size_t n = 1; n < group.size(); ++n) {
        auto same = first ? sim::under_alternative_bounds(*first, n - 1) : std::nullopt;
        log_info([&] {
          return simulations[group[n]].what + ": " +
                 (same ? "the run of " + simulations[group.front()].what + ", in which no CTA met the bounds that differ"
                       : "a simulation of its own, since the bounds differ from those of " + simulations[group.front()].what);
        });
        if (same) {
          ended[group[n]] = std::move(*same);
        } else {
          left.push_back(group[n]);
        }
      }
    }
  }
  std::vector<sim::Outcome> outcomes;
  SharedRuns shared;
  for (size_t i = 0; i < ended.size(); ++i) {
    if (!*ended[i]) return std::unexpected(ended[i]->error());
    outcomes.push_back(std::move(**ended[i]));
    const size_t count = shared.count(outcomes.back());
    if (count == 0) continue;
    log_info([&] {
      return simulations[i].what + ": " + std::to_string(count) + " of its " + std::to_string(outcomes.back().folds.size()) +
             " runs are shared with simulations above";
    });
  }
  return outcomes;
}

// Fills in each kernel's slowdown against its run alone, and the causes.
void Runner::compare_with_alone(const Planned& planned, const policies::Plan& written, const Kernels& kernels,
                                const sim::Outcome& together, const std::vector<sim::Outcome>& outcomes, configs::Result& result) {
  const configs::Gpu& gpu = planned.scenario.gpu();
  std::vector<const sim::Outcome*> used;
  for (size_t k = 0; k < planned.plan.kernels.size(); ++k) {
    const sim::Outcome& alone = outcomes[kernels.index(planned.plan.kernels[k])];
    const uint64_t solo_cycles = alone.kernels.front().end_cycle - alone.kernels.front().start_cycle;
    configs::KernelResult& kernel = *result.mutable_kernels(static_cast<int>(k));
    kernel.set_solo_cycles(solo_cycles);
    kernel.set_slowdown_vs_solo(static_cast<double>(kernel.cycles()) / static_cast<double>(solo_cycles));
    kernel.set_bound_by(binding_of(gpu, kernel.sms(), alone));
    fill_slowdown(planned.plan, k, together.kernels[k], alone.kernels.front(), kernel);
    used.push_back(&alone);
  }
  for (const policies::PlannedKernel& kernel : written.kernels) {
    const sim::Outcome& outcome = outcomes[kernels.index(kernel)];
    const sim::KernelCounters& counters = outcome.kernels.front();
    configs::Alone& alone = *result.add_alone();
    alone.set_name(kernel.kernel.name);
    alone.set_cycles(counters.end_cycle - counters.start_cycle);
    alone.set_time_us(static_cast<double>(alone.cycles()) / gpu.clock_mhz());
    alone.set_bound_by(binding_of(gpu, gpu.sm_count(), outcome));
    alone.set_average_warps(average_warps(gpu.sm_count(), counters));
    used.push_back(&outcome);
  }
  fill_fold(together, used, result);
  result.set_reason(reason_of(result).text);
}

configs::Result Runner::result_of(const Planned& planned, const policies::Plan& written, const Kernels& kernels,
                                  const sim::Outcome& together, const std::vector<sim::Outcome>& outcomes) const {
  configs::Result result = make_result(planned.scenario, planned.plan, together);
  for (const policies::PlannedKernel& kernel : planned.plan.kernels)
    result.mutable_provenance()->add_trace_hash(kernel_hash(kernel.kernel));
  result.mutable_provenance()->set_command_line(command_line_);
  if (planned.choices.choice_size() > 0) *result.mutable_tile_choices() = planned.choices;
  if (options_.alone) {
    compare_with_alone(planned, written, kernels, together, outcomes, result);
  } else {
    fill_fold(together, {}, result);
  }
  return result;
}

std::vector<Runner::Simulation> Runner::simulations_of(const std::vector<Planned>& planned, const Kernels& kernels) const {
  std::vector<Simulation> simulations;
  for (const policies::PlannedKernel* kernel : kernels.distinct()) {
    simulations.push_back({gpu_of(planned.front().scenario),
                           {launch_alone(*kernel)},
                           false,
                           false,
                           "kernel " + escape::unquoted(kernel->kernel.name) + " alone"});
  }
  for (const Planned& each : planned) {
    simulations.push_back({gpu_of(each.scenario, each.plan), make_launches(each.plan), each.plan.serialise, options_.timeline,
                           "policy " + configs::PolicyKind_Name(each.scenario.policy().kind())});
  }
  return simulations;
}

// Repeats the simulation of each plan whose clock has moved; the kernels alone are repeated with the first plan.
Outcome<std::vector<sim::Outcome>> Runner::simulate_at_clocks(std::vector<Planned>& planned, const Kernels& kernels, Clocks& clocks,
                                                              const sim::FoldOptions& fold) const {
  constexpr int kMostRounds = 4;
  const size_t alone = kernels.distinct().size();
  std::vector<sim::Outcome> outcomes(alone + planned.size());
  std::vector<bool> moved(planned.size(), true);
  for (int round = 1; round <= kMostRounds && std::ranges::find(moved, true) != moved.end(); ++round) {
    for (size_t p = 0; p < planned.size(); ++p) {
      if (!moved[p] || !clocks[p]) continue;
      planned[p].scenario.mutable_gpu()->set_clock_mhz(clocks[p]->mhz());
      log_info([&] {
        return "policy " + configs::PolicyKind_Name(planned[p].scenario.policy().kind()) + ": simulated at " +
               report::rounded(clocks[p]->mhz()) + " MHz, the clock that the power limit leaves, round " + std::to_string(round);
      });
    }
    const std::vector<Simulation> all = simulations_of(planned, kernels);
    std::vector<size_t> wanted;
    for (size_t s = 0; s < all.size(); ++s) {
      if (moved[s < alone ? 0 : s - alone]) wanted.push_back(s);
    }
    std::vector<Simulation> simulations;
    for (const size_t s : wanted) simulations.push_back(all[s]);
    auto made = simulate_all(simulations, fold);
    if (!made) return made;
    for (size_t n = 0; n < wanted.size(); ++n) outcomes[wanted[n]] = std::move((*made)[n]);
    for (size_t p = 0; p < planned.size(); ++p) moved[p] = moved[p] && clocks[p] && !clocks[p]->settles(outcomes[alone + p]);
  }
  return outcomes;
}

Outcome<std::vector<configs::Result>> Runner::run_folded(std::vector<Planned>& planned, const policies::Plan& written,
                                                         const sim::FoldOptions& fold) const {
  Kernels kernels;
  if (options_.alone) kernels.add_all(planned, written);
  Clocks clocks;
  for (const Planned& each : planned) {
    auto clock = PlanClock::of(each);
    if (!clock) return std::unexpected(Failure(clock.error()));
    clocks.push_back(std::move(*clock));
  }
  auto outcomes = simulate_at_clocks(planned, kernels, clocks, fold);
  if (!outcomes) return std::unexpected(outcomes.error());
  std::optional<SelfCheck> check;
  if (options_.folding.self_check) check.emplace(*outcomes, *options_.folding.self_check, options_.jobs);
  const std::vector<Simulation> simulations = simulations_of(planned, kernels);
  std::optional<ReferenceCheck> reference;
  if (options_.reference) {
    std::vector<ReferenceCheck::Simulation> all;
    for (size_t s = 0; s < simulations.size(); ++s)
      all.push_back({&simulations[s].gpu, &simulations[s].launches, simulations[s].serialise, &(*outcomes)[s]});
    reference.emplace(all, options_.jobs);
  }
  EstimatedRuns estimated;
  std::vector<configs::Result> results;
  for (size_t p = 0; p < planned.size(); ++p) {
    if (clocks[p]) planned[p].scenario.mutable_gpu()->set_clock_mhz(clocks[p]->mhz());
    const sim::Outcome& together = (*outcomes)[kernels.distinct().size() + p];
    results.push_back(result_of(planned[p], written, kernels, together, *outcomes));
    estimated.fill(together, results.back());
    if (clocks[p]) clocks[p]->fill(results.back());
    std::vector<size_t> parts = {kernels.distinct().size() + p};
    if (options_.alone) {
      for (const size_t k : kernels.indices(planned[p], written)) parts.push_back(k);
    }
    if (reference) *results.back().mutable_fold()->mutable_reference() = reference->of(parts);
    if (!check) continue;
    std::vector<const sim::Outcome*> used;
    for (const size_t part : parts) used.push_back(&(*outcomes)[part]);
    *results.back().mutable_fold()->mutable_self_check() = check->of(used);
  }
  return results;
}

Outcome<std::vector<configs::Result>> Runner::run(std::vector<Planned> planned) const {
  const auto written = policies::plan_in_sequence(planned.front().scenario, kernels_);
  if (!written) return std::unexpected(Failure(written.error()));
  auto results = run_folded(planned, *written, options_.folding.options);
  if (!results) return results;
  for (const configs::Result& result : *results) {
    if (const auto broken = broken_invariant(result)) throw std::logic_error("the result breaks an invariant: " + *broken);
  }
  if (!options_.folding.shadow) return results;
  const auto replayed = run_folded(planned, *written, {.mode = sim::FoldMode::kOff});
  if (!replayed) return std::unexpected(replayed.error());
  for (size_t p = 0; p < planned.size(); ++p) {
    const auto error = compare_with_replay((*results)[p], (*replayed)[p]);
    if (!error) return std::unexpected(error.error());
    (*results)[p].mutable_fold()->set_shadow_error(*error);
  }
  return results;
}

}  // namespace warpfold::cli
