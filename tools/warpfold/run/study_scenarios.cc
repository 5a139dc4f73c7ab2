#include "tools/warpfold/run/study_scenarios.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/load.h"
#include "configs/near_miss.h"
#include "configs/search_path.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/figures/study_figures.h"
#include "tools/warpfold/figures/study_record.h"
#include "tools/warpfold/run/input_files.h"

namespace warpfold::cli {

namespace {

// Returns the setting of an axis value. An axis called gpu takes the same values as --gpu.
Outcome<std::string> setting_of(const std::string& name, const std::string& value) {
  if (name != "gpu") return name + "=" + value;
  const auto file = configs::find_config(value, "gpus");
  if (!file) return std::unexpected(Failure(file.error()));
  return "gpu_file=" + std::filesystem::absolute(*file).string();
}

}  // namespace

StudyScenarios::StudyScenarios(const StudyRequest& request)
    : study_(request.study),
      places_(request.places),
      settings_(request.settings),
      command_line_(request.command_line),
      how_(request.how),
      program_(program_hash()) {}

// Returns the path of the axis value that a diagnostic's file, `named`, names; otherwise the path of the scenario's name.
std::string StudyScenarios::path_of(const Point& point, const std::string& named) const {
  const std::vector<Placed> values = placed_values(study_, point);
  const auto wrong = std::ranges::find_if(values, [&](const Placed& each) {
    return named == "--set " + escape::unquoted(each.name + "=" + each.value) || named == each.name;
  });
  return wrong == values.end() ? "scenario_file" : wrong->path;
}

Failure StudyScenarios::failure_at(const Point& point, const std::string& named, const Failure& why) const {
  Diagnostic place = places_.find(path_of(point, named));
  place.message = "study " + escape::unquoted(study_.name()) + " at " + point_name(study_, point) + ": " + why.text;
  return {why.exit_code, place.text()};
}

Outcome<std::vector<StudyScenarios::Variant>> StudyScenarios::load(const Point& point) const {
  std::vector<std::string> settings = settings_;
  for (const Placed& each : placed_values(study_, point)) {
    auto setting = setting_of(each.name, each.value);
    if (!setting) return std::unexpected(failure_at(point, each.name, setting.error()));
    settings.push_back(std::move(*setting));
  }
  std::vector<Variant> scenarios;
  const auto add = [&](const std::vector<std::string>& all) -> Outcome<void> {
    configs::Places places;
    auto scenario = configs::load_scenario(study_.scenario_file(), all, &places);
    if (!scenario) return std::unexpected(failure_at(point, scenario.error().file, Failure(scenario.error())));
    scenarios.push_back({std::move(*scenario), std::move(places)});
    return {};
  };
  if (study_.policy().empty()) {
    if (auto added = add(settings); !added) return std::unexpected(added.error());
  }
  for (const int policy : study_.policy()) {
    std::vector<std::string> all = settings;
    all.push_back("policy.kind=" + configs::PolicyKind_Name(static_cast<configs::PolicyKind>(policy)));
    if (auto added = add(all); !added) return std::unexpected(added.error());
  }
  return scenarios;
}

Outcome<void> StudyScenarios::check_figures(const Point& point) const {
  const auto scenarios = load(point);
  if (!scenarios) return std::unexpected(scenarios.error());
  workloads::KernelMaker kernels(study_.scenario_file());
  for (int f = 0; f < study_.figure_size(); ++f) {
    const configs::Figure& figure = study_.figure(f);
    for (int q = 0; q < figure.quantity_size(); ++q) {
      const auto* which = kernel_of(figure.quantity(q));
      if (which == nullptr) continue;
      const auto policy = std::ranges::find(study_.policy(), which->policy());
      const Variant& variant = (*scenarios)[static_cast<size_t>(policy - study_.policy().begin())];
      const auto plan = plan_scenario(variant.scenario, kernels, variant.places);
      if (!plan) return std::unexpected(plan.error());
      std::vector<std::string> known;
      for (const auto& kernel : plan->plan.kernels) known.push_back(kernel.kernel.name);
      if (std::ranges::find(known, which->kernel()) != known.end()) continue;
      Diagnostic unknown = places_.find("figure[" + std::to_string(f) + "].quantity[" + std::to_string(q) + "]");
      unknown.message = "study " + escape::unquoted(study_.name()) + ", figure " + figure.name() + ": " +
                        configs::PolicyKind_Name(which->policy()) + " launches no kernel called " +
                        escape::quoted(which->kernel()) + suggestion(which->kernel(), known);
      return std::unexpected(Failure(unknown));
    }
  }
  return {};
}

std::string StudyScenarios::key_of(const std::vector<Variant>& scenarios) const {
  std::string all = key_of_program(program_, how_);
  for (const auto& [scenario, places] : scenarios) all += scenario.DebugString() + hash_of_inputs(scenario, study_.scenario_file());
  return content_hash(all);
}

Outcome<std::string> StudyScenarios::key(const Point& point) const {
  const auto scenarios = load(point);
  if (!scenarios) return std::unexpected(scenarios.error());
  return key_of(*scenarios);
}

Outcome<configs::StudyPoint> StudyScenarios::simulate(const Point& point, const std::string& key) const {
  const auto scenarios = load(point);
  if (!scenarios) return std::unexpected(scenarios.error());
  if (key_of(*scenarios) != key) return changed_since(study_, point);
  auto record = simulate(*scenarios);
  return record ? std::move(*record) : failed_point(record.error());
}

std::shared_ptr<sim::RunCache> StudyScenarios::known_runs() const {
  const std::lock_guard lock(mutex_);
  if (points_of_cache_++ % kPointsOfACache == 0) known_ = std::make_shared<sim::RunCache>();
  return known_;
}

Outcome<configs::StudyPoint> StudyScenarios::simulate(const std::vector<Variant>& scenarios) const {
  RunOptions alone = how_;
  alone.jobs = 1;  // points run in parallel
  workloads::KernelMaker kernels(study_.scenario_file());
  std::vector<Planned> planned;
  for (const auto& [scenario, places] : scenarios) {
    auto each = plan_scenario(scenario, kernels, places);
    if (!each) return std::unexpected(each.error());
    planned.push_back(std::move(*each));
  }
  const auto results = Runner(kernels, command_line_, alone, known_runs()).run(planned);
  if (!results) return std::unexpected(results.error());
  configs::StudyPoint record;
  for (const configs::Result& result : *results) add_simulated_run(result, record);
  const auto& [scenario, places] = scenarios.front();
  if (auto modelled = add_limiter_model(scenario, study_.scenario_file(), *results, record); !modelled)
    return std::unexpected(Failure(places.located(modelled.error())));
  return record;
}

}  // namespace warpfold::cli
