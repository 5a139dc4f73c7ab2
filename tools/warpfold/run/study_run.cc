#include "tools/warpfold/run/study_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "configs/load.h"
#include "configs/near_miss.h"
#include "configs/printable.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/figures/study_record.h"
#include "tools/warpfold/run/input_files.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/point_store.h"
#include "tools/warpfold/run/progress.h"
#include "tools/warpfold/run/record_store.h"
#include "tools/warpfold/run/runner.h"
#include "tools/warpfold/run/study_layers.h"

namespace warpfold::cli {

namespace {

class StudyRunner {
 public:
  explicit StudyRunner(const StudyRequest& request)
      : study_(request.study),
        places_(request.places),
        settings_(request.settings),
        layers_(request.study, request.places, request.settings),
        store_(study_, request.folder + "/points"),
        command_line_(request.command_line),
        how_(request.how),
        program_(program_hash()) {}

  Outcome<PointRecords> run() {
    if (auto opened = store_.open(); !opened) return std::unexpected(opened.error());
    const std::vector<Point> points = points_of(study_);
    // A mistake in one of them is found before the first one runs.
    std::vector<std::vector<Variant>> scenarios;
    for (const Point& point : points) {
      auto loaded = load(point);
      if (!loaded) return std::unexpected(loaded.error());
      scenarios.push_back(std::move(*loaded));
    }
    auto known = study_.has_layer() ? layers_.check_operators(points.front()) : check_kernels(scenarios.front());
    if (!known) return std::unexpected(known.error());
    std::vector<std::optional<Outcome<configs::StudyPoint>>> ended(points.size());
    ProgressBar bar(study_.name(), points.size());
    in_parallel(points.size(), how_.jobs, [&](size_t i) {
      ended[i] = finish(points[i], scenarios[i]);
      bar.step();
    });
    PointRecords records;
    for (size_t i = 0; i < points.size(); ++i) {
      if (!*ended[i]) return std::unexpected(failure_at(points[i], "", ended[i]->error()));
      records.emplace(points[i], std::move(**ended[i]));
    }
    return records;
  }

 private:
  // The study's scenario at one point under one policy.
  struct Variant {
    configs::Scenario scenario;
    configs::Places places;  // where it was written
  };

  std::string setting(const Point& point, size_t axis) const {
    return study_.axis(static_cast<int>(axis)).name() + "=" + point[axis];
  }

  // The value of an axis that `named`, a diagnostic's file, says is wrong; else the name of the scenario.
  std::string path_of(const Point& point, const std::string& named) const {
    for (size_t a = 0; a < point.size(); ++a) {
      if (named != "--set " + printable(setting(point, a))) continue;
      const auto& values = study_.axis(static_cast<int>(a)).value();
      const auto value = std::ranges::find(values, point[a]) - values.begin();
      return "axis[" + std::to_string(a) + "].value[" + std::to_string(value) + "]";
    }
    return "scenario_file";
  }

  Failure failure_at(const Point& point, const std::string& named, const Failure& why) const {
    Diagnostic place = places_.find(path_of(point, named));
    place.message = "study " + study_.name() + " at " + point_name(study_, point) + ": " + why.text;
    return {why.exit_code, place.text()};
  }

  // None of a study of layers.
  Outcome<std::vector<Variant>> load(const Point& point) const {
    std::vector<Variant> scenarios;
    if (study_.has_layer()) {
      if (auto checked = layers_.key(point); !checked) return std::unexpected(checked.error());
      return scenarios;
    }
    for (const int policy : study_.policy()) {
      std::vector<std::string> settings = settings_;
      for (size_t a = 0; a < point.size(); ++a) settings.push_back(setting(point, a));
      settings.push_back("policy.kind=" + configs::PolicyKind_Name(static_cast<configs::PolicyKind>(policy)));
      configs::Places places;
      auto scenario = configs::load_scenario(study_.scenario_file(), settings, &places);
      if (!scenario) return std::unexpected(failure_at(point, scenario.error().file, Failure(scenario.error())));
      scenarios.push_back({std::move(*scenario), std::move(places)});
    }
    return scenarios;
  }

  // The kernels that figures show are launched by the policies that they name.
  Outcome<void> check_kernels(const std::vector<Variant>& scenarios) const {
    workloads::KernelMaker kernels(study_.scenario_file());
    for (int f = 0; f < study_.figure_size(); ++f) {
      const configs::Figure& figure = study_.figure(f);
      for (int q = 0; q < figure.quantity_size(); ++q) {
        const auto* which = kernel_of(figure.quantity(q));
        if (which == nullptr) continue;
        const auto policy = std::ranges::find(study_.policy(), which->policy());
        const Variant& variant = scenarios[static_cast<size_t>(policy - study_.policy().begin())];
        const auto plan = plan_scenario(variant.scenario, kernels, variant.places);
        if (!plan) return std::unexpected(plan.error());
        std::vector<std::string> known;
        for (const auto& kernel : plan->plan.kernels) known.push_back(kernel.kernel.name);
        if (std::ranges::find(known, which->kernel()) != known.end()) continue;
        Diagnostic unknown = places_.find("figure[" + std::to_string(f) + "].quantity[" + std::to_string(q) + "]");
        unknown.message = "study " + study_.name() + ", figure " + figure.name() + ": " +
                          configs::PolicyKind_Name(which->policy()) + " launches no kernel called \"" + which->kernel() + "\"" +
                          suggestion(which->kernel(), known);
        return std::unexpected(Failure(unknown));
      }
    }
    return {};
  }

  Outcome<std::string> key(const Point& point, const std::vector<Variant>& scenarios) const {
    const sim::FoldOptions& fold = how_.folding.options;
    std::string all = program_ + " fold " + std::to_string(static_cast<int>(fold.mode)) + " " + std::to_string(fold.error) + " " +
                      std::to_string(fold.sampling_delay) + (how_.folding.shadow ? " shadow" : "") +
                      (how_.all_sms ? " all SMs" : "");
    if (study_.has_layer()) {
      const auto of_layer = layers_.key(point);
      return of_layer ? content_hash(all + *of_layer) : of_layer;
    }
    for (const auto& [scenario, places] : scenarios)
      all += scenario.DebugString() + hash_of_inputs(scenario, study_.scenario_file());
    return content_hash(all);
  }

  Outcome<configs::StudyPoint> finish(const Point& point, const std::vector<Variant>& scenarios) const {
    const auto wanted = key(point, scenarios);
    if (!wanted) return std::unexpected(wanted.error());
    if (auto known = store_.find(point, *wanted)) return std::move(*known);
    RunOptions alone = how_;
    alone.jobs = 1;  // points run beside each other
    auto record = study_.has_layer() ? layers_.simulate(point, alone) : simulate(scenarios, alone);
    if (!record) return record;
    for (size_t a = 0; a < point.size(); ++a) {
      configs::FixedAxis& at = *record->add_at();
      at.set_axis(study_.axis(static_cast<int>(a)).name());
      at.set_value(point[a]);
    }
    record->set_key(*wanted);
    if (auto saved = store_.save(point, *record); !saved) return std::unexpected(saved.error());
    return record;
  }

  Outcome<configs::StudyPoint> simulate(const std::vector<Variant>& scenarios, const RunOptions& alone) const {
    workloads::KernelMaker kernels(study_.scenario_file());
    std::vector<Planned> planned;
    for (const auto& [scenario, places] : scenarios) {
      auto each = plan_scenario(scenario, kernels, places);
      if (!each) return std::unexpected(each.error());
      planned.push_back(std::move(*each));
    }
    const auto results = Runner(kernels, command_line_, alone, known_).run(planned);
    if (!results) return std::unexpected(results.error());
    configs::StudyPoint record;
    for (const configs::Result& result : *results) add_simulated_run(result, record);
    const auto& [scenario, places] = scenarios.front();
    if (auto modelled = add_limiter_model(scenario, study_.scenario_file(), *results, record); !modelled) {
      return std::unexpected(Failure(places.located(modelled.error())));
    }
    return record;
  }

  const configs::Study& study_;
  const configs::Places& places_;  // of the study
  std::vector<std::string> settings_;
  StudyLayers layers_;
  PointStore store_;
  std::string command_line_;
  RunOptions how_;
  std::string program_;
  std::shared_ptr<sim::RunCache> known_ = std::make_shared<sim::RunCache>();  // points have kernels in common
};

}  // namespace

Outcome<PointRecords> run_study(const StudyRequest& request) { return StudyRunner(request).run(); }

}  // namespace warpfold::cli
