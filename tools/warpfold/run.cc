#include "tools/warpfold/run.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <thread>
#include <utility>

#include "configs/near_miss.h"
#include "tools/warpfold/kernels.h"
#include "tools/warpfold/launches.h"
#include "tools/warpfold/parallel.h"
#include "tools/warpfold/progress.h"
#include "tools/warpfold/result.h"

namespace warpfold::cli {

namespace {

std::string busiest(const std::vector<sim::ResourceUse>& resources) {
  const sim::ResourceUse* most = nullptr;
  for (const sim::ResourceUse& use : resources) {
    if (most == nullptr || utilization(use) > utilization(*most)) most = &use;
  }
  return most == nullptr ? "" : most->name;
}

Outcome<bool> all_sms_option(const Options& options) {
  const std::string which = options.text("sms");
  if (which == "classes") return false;
  if (which != "all") return user_error("--sms: unknown choice \"" + which + "\"" + suggestion(which, {"classes", "all"}));
  const std::string fold = options.text("fold");
  if (fold == "auto" || fold == "off") return true;
  return user_error("--sms all replays every instruction; it takes --fold auto or off, not " + fold);
}

}  // namespace

void add_run_options(Options& options) {
  add_fold_options(options);
  options.add()(
      "sms", boost::program_options::value<std::string>()->default_value("classes")->value_name("WHICH"),
      "classes: one SM of each class of SMs that receive the same CTAs, against its exact share of L2 and DRAM; all: every "
      "SM, L2 and DRAM shared, every instruction replayed (takes --fold auto or off)");
  options.add()("jobs,j", boost::program_options::value<std::string>()->default_value("0")->value_name("N"),
                "simulations at a time; 0: as many as there are cores. Results do not depend on it");
}

Outcome<RunOptions> run_options(const Options& options) {
  const auto folding = fold_options(options);
  if (!folding) return std::unexpected(folding.error());
  const auto all_sms = all_sms_option(options);
  if (!all_sms) return std::unexpected(all_sms.error());
  const std::string text = options.text("jobs");
  constexpr unsigned kMostJobs = 1024;
  unsigned jobs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (error != std::errc() || end != text.data() + text.size() || jobs > kMostJobs) {
    return user_error("--jobs takes a number from 0 to " + std::to_string(kMostJobs) + ", not \"" + text + "\"");
  }
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
  return RunOptions{*folding, *all_sms, jobs};
}

Outcome<Runner> Runner::prepare(const configs::Scenario& scenario, std::string file, std::string command_line,
                                const RunOptions& options) {
  Runner runner;
  runner.file_ = std::move(file);
  runner.command_line_ = std::move(command_line);
  runner.options_ = options;
  auto kernels = scenario_kernels(scenario, runner.file_);
  if (!kernels) return std::unexpected(kernels.error());
  runner.kernels_ = std::move(*kernels);
  for (const traces::Kernel& kernel : runner.kernels_) runner.hashes_.push_back(kernel_hash(kernel));
  return runner;
}

Outcome<sim::Outcome> Runner::simulate(const Simulation& simulation, const sim::FoldOptions& fold) const {
  report_progress(simulation.what);
  auto outcome = sim::simulate(simulation.scenario->gpu(), simulation.launches,
                               {.serialise = simulation.serialise, .all_sms = options_.all_sms, .fold = fold});
  if (!outcome) {
    Diagnostic diagnostic = outcome.error();
    if (diagnostic.file.empty()) diagnostic.file = file_;
    return std::unexpected(Failure(diagnostic));
  }
  if (outcome->deadlocked) return std::unexpected(Failure(kDeadlock, outcome->deadlock.report));
  return std::move(*outcome);
}

Outcome<std::vector<sim::Outcome>> Runner::simulate_all(const std::vector<Simulation>& simulations,
                                                        const sim::FoldOptions& fold) const {
  std::vector<std::optional<Outcome<sim::Outcome>>> ended(simulations.size());
  in_parallel(simulations.size(), options_.jobs, [&](size_t i) { ended[i] = simulate(simulations[i], fold); });
  std::vector<sim::Outcome> outcomes;
  for (auto& each : ended) {
    if (!*each) return std::unexpected(each->error());
    outcomes.push_back(std::move(**each));
  }
  return outcomes;
}

configs::Result Runner::result_of(const configs::Scenario& scenario, const sim::Outcome& together,
                                  const std::vector<sim::Outcome>& alone) const {
  configs::Result result = make_result(scenario, kernels_, together);
  std::vector<const sim::FoldReport*> folds{&together.fold};
  for (size_t k = 0; k < kernels_.size(); ++k) {
    const sim::KernelCounters& counters = alone[k].kernels.front();
    const uint64_t solo_cycles = counters.end_cycle - counters.start_cycle;
    configs::KernelResult& kernel = *result.mutable_kernels(static_cast<int>(k));
    kernel.set_solo_cycles(solo_cycles);
    kernel.set_slowdown_vs_solo(static_cast<double>(kernel.cycles()) / static_cast<double>(solo_cycles));
    kernel.set_bound_by(busiest(alone[k].resources));
    result.mutable_provenance()->add_trace_hash(hashes_[k]);
    folds.push_back(&alone[k].fold);
  }
  fill_fold(folds, result);
  result.mutable_provenance()->set_command_line(command_line_);
  return result;
}

// First each kernel alone, then each policy.
Outcome<std::vector<configs::Result>> Runner::run_folded(const std::vector<configs::Scenario>& scenarios,
                                                         const sim::FoldOptions& fold) const {
  std::vector<Simulation> simulations;
  for (const traces::Kernel& kernel : kernels_) {
    sim::Launch launch;
    launch.kernel = &kernel;
    simulations.push_back({&scenarios.front(), {launch}, false, "kernel " + kernel.name + " alone"});
  }
  for (const configs::Scenario& scenario : scenarios) {
    auto launches = make_launches(scenario, kernels_);
    if (!launches) return user_error(file_ + ": " + launches.error().text);
    const configs::PolicyKind policy = scenario.policy().kind();
    simulations.push_back(
        {&scenario, std::move(*launches), policy == configs::SEQUENTIAL, "policy " + configs::PolicyKind_Name(policy)});
  }
  auto outcomes = simulate_all(simulations, fold);
  if (!outcomes) return std::unexpected(outcomes.error());
  std::vector<configs::Result> results;
  for (size_t s = 0; s < scenarios.size(); ++s)
    results.push_back(result_of(scenarios[s], (*outcomes)[kernels_.size() + s], *outcomes));
  return results;
}

Outcome<std::vector<configs::Result>> Runner::run(const std::vector<configs::Scenario>& scenarios) const {
  auto results = run_folded(scenarios, options_.folding.options);
  if (!results || !options_.folding.shadow) return results;
  const auto replayed = run_folded(scenarios, {.mode = sim::FoldMode::kOff});
  if (!replayed) return std::unexpected(replayed.error());
  for (size_t s = 0; s < scenarios.size(); ++s) {
    const auto error = compare_with_replay((*results)[s], (*replayed)[s]);
    if (!error) return std::unexpected(error.error());
    (*results)[s].mutable_fold()->set_shadow_error(*error);
  }
  return results;
}

}  // namespace warpfold::cli
