#include "tools/warpfold/run/variant_runs.h"

#include <regex>
#include <utility>

#include "configs/load.h"

namespace warpfold::cli {

namespace {

Expected<Planned> plan_with(const VariedScenario& scenario, const std::vector<std::string>& extra,
                            workloads::KernelMaker& kernels) {
  std::vector<std::string> settings = scenario.settings;
  settings.insert(settings.end(), extra.begin(), extra.end());
  configs::Places places;
  const auto loaded = configs::load_scenario(scenario.file, settings, &places);
  if (!loaded) return std::unexpected(loaded.error());
  return plan_scenario(*loaded, kernels, places);
}

}  // namespace

Expected<Planned> plan_variant(const VariedScenario& scenario, const std::vector<std::string>& extra) {
  workloads::KernelMaker kernels(scenario.file);
  return plan_with(scenario, extra, kernels);
}

Outcome<configs::Result> simulate_variant(const VariedScenario& scenario, const std::vector<std::string>& extra,
                                          const RunOptions& how, std::shared_ptr<sim::RunCache> known) {
  workloads::KernelMaker kernels(scenario.file);
  auto planned = plan_with(scenario, extra, kernels);
  if (!planned && !extra.empty()) {
    // The fault may be the variant's or a disk's. The scenario without the variant's settings was simulated before, so its failure
    // is the disk's.
    if (const auto base = plan_with(scenario, {}, kernels); !base) return cannot_write(base.error().text());
    planned = plan_with(scenario, extra, kernels);
  }
  if (!planned) return std::unexpected(Failure(planned.error()));
  auto results = Runner(kernels, scenario.command_line, how, std::move(known)).run({std::move(*planned)});
  if (!results) return std::unexpected(results.error());
  return std::move(results->front());
}

bool is_of_the_variant(const Failure& failure) { return failure.exit_code == kUserError || failure.exit_code == kDeadlock; }

std::string why_not_run(const Failure& failure) {
  static const std::regex kPlace(R"(--set [^:]*: |.*?:\d+:\d+: )");
  const std::string text = failure.text.substr(0, failure.text.find('\n'));
  std::smatch place;
  return std::regex_search(text, place, kPlace, std::regex_constants::match_continuous) ? place.suffix().str() : text;
}

}  // namespace warpfold::cli
