#include <algorithm>
#include <filesystem>

#include "configs/load.h"
#include "configs/near_miss.h"
#include "configs/printable.h"
#include "configs/read_file.h"
#include "tools/warpfold/chain.h"
#include "tools/warpfold/commands.h"
#include "tools/warpfold/gnuplot.h"
#include "tools/warpfold/kernels.h"
#include "tools/warpfold/parallel.h"
#include "tools/warpfold/progress.h"
#include "tools/warpfold/record_store.h"
#include "tools/warpfold/run.h"
#include "tools/warpfold/study_figures.h"
#include "tools/warpfold/study_points.h"

namespace warpfold::cli {

namespace {

namespace fs = std::filesystem;

class StudyRunner {
 public:
  StudyRunner(const configs::Study& study, const configs::Places& places, std::vector<std::string> settings, std::string folder,
              const Invocation& invocation, const RunOptions& how)
      : study_(study),
        places_(places),
        settings_(std::move(settings)),
        store_(study_, folder + "/points"),
        command_line_(invocation.command_line),
        how_(how),
        program_(program_hash()) {}

  // Every point of the study: those that are there from an earlier run are not simulated again.
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
    if (auto known = check_kernels(scenarios.front()); !known) return std::unexpected(known.error());
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

  Outcome<std::vector<Variant>> load(const Point& point) const {
    std::vector<Variant> scenarios;
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

  std::string key(const std::vector<Variant>& scenarios) const {
    const sim::FoldOptions& fold = how_.folding.options;
    std::string all = program_ + " fold " + std::to_string(static_cast<int>(fold.mode)) + " " + std::to_string(fold.error) + " " +
                      std::to_string(fold.sampling_delay) + (how_.folding.shadow ? " shadow" : "") +
                      (how_.all_sms ? " all SMs" : "");
    for (const auto& [scenario, places] : scenarios) {
      all += to_text(scenario);
      for (const configs::Kernel& kernel : scenario.kernel()) {
        if (!kernel.has_trace()) continue;
        const auto trace = read_file((fs::path(study_.scenario_file()).parent_path() / kernel.trace().path()).string());
        if (trace) all += content_hash(*trace);
      }
    }
    return content_hash(all);
  }

  static std::string to_text(const configs::Scenario& scenario) { return scenario.DebugString(); }

  Outcome<configs::StudyPoint> finish(const Point& point, const std::vector<Variant>& scenarios) const {
    const std::string wanted = key(scenarios);
    if (auto known = store_.find(point, wanted)) return std::move(*known);
    RunOptions alone = how_;
    alone.jobs = 1;  // points run beside each other
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
    for (size_t a = 0; a < point.size(); ++a) {
      configs::FixedAxis& at = *record.add_at();
      at.set_axis(study_.axis(static_cast<int>(a)).name());
      at.set_value(point[a]);
    }
    record.set_key(wanted);
    for (const configs::Result& result : *results) add_run(result, record);
    if (auto modelled = add_model(scenarios.front(), *results, record); !modelled) return std::unexpected(modelled.error());
    if (auto saved = store_.save(point, record); !saved) return std::unexpected(saved.error());
    return record;
  }

  // The limiter model of the same point, for chains that it knows, with the interference that the simulation has shown.
  Outcome<void> add_model(const Variant& variant, const std::vector<configs::Result>& results, configs::StudyPoint& record) const {
    const configs::Scenario& scenario = variant.scenario;
    const auto chain = make_chain(scenario, study_.scenario_file(), false);
    if (!chain) return std::unexpected(Failure(variant.places.located(chain.error())));
    if (!chain->has_gemm || !chain->has_rng) return {};
    sim::Interference interference;
    for (const configs::Result& result : results) {
      if (composition_of(result.policy()) != "overlapped" || result.kernels_size() != scenario.kernel_size()) continue;
      interference = measured_interference(scenario, result);
      break;
    }
    add_region("simulation", simulated_times(scenario, results.front()), interference, record);
    interference.dropping = chain->dropping;
    add_region("limiter_model", chain->times, interference, record);
    const auto compositions = compositions_of(*chain, interference);
    for (const configs::Result& result : results) {
      const auto found = std::ranges::find(compositions, composition_of(result.policy()), &sim::Composition::name);
      if (found == compositions.end()) continue;
      configs::StudyRun& run = *record.add_run();
      run.set_policy(result.policy());
      run.set_estimator("limiter_model");
      run.set_total_time_us(found->total / scenario.gpu().clock_mhz());
      for (int k = 0; k < scenario.kernel_size(); ++k) {
        configs::StudyKernel& kernel = *run.add_kernel();
        kernel.set_name(scenario.kernel(k).name());
        kernel.set_alone_us(chain->limiters[static_cast<size_t>(k)].cycles() / scenario.gpu().clock_mhz());
      }
    }
    return {};
  }

  static void add_region(const std::string& estimator, const sim::ChainTimes& times, const sim::Interference& interference,
                         configs::StudyPoint& record) {
    configs::StudyRegion& region = *record.add_region();
    region.set_estimator(estimator);
    region.set_region(static_cast<uint32_t>(sim::region_of(times, interference)));
  }

  // The scenario's kernels alone; attention as it is written, which reads stored bits.
  static sim::ChainTimes simulated_times(const configs::Scenario& scenario, const configs::Result& result) {
    sim::ChainTimes times;
    for (int k = 0; k < scenario.kernel_size(); ++k) {
      const auto cycles = static_cast<double>(result.alone(k).cycles());
      switch (kind_of(scenario.kernel(k))) {
        case KernelKind::kGemm:
          times.gemm += cycles;
          break;
        case KernelKind::kRng:
          times.rng += cycles;
          break;
        case KernelKind::kAttention:
          times.attention += cycles;
          break;
        case KernelKind::kOther:
          times.others += cycles;
          break;
      }
    }
    return times;
  }

  // The limiter model's name for what a policy does.
  static std::string composition_of(const std::string& policy) {
    if (policy == "SEQUENTIAL") return "sequential";
    return policy == "FUSED" ? "fused" : "overlapped";
  }

  static void add_run(const configs::Result& result, configs::StudyPoint& record) {
    configs::StudyRun& run = *record.add_run();
    run.set_policy(result.policy());
    run.set_estimator("simulation");
    run.set_total_time_us(result.total_time_us());
    run.set_fold(result.fold().mode());
    run.set_stored_bits_bytes(result.stored_bits_bytes());
    for (const configs::KernelResult& kernel : result.kernels()) {
      configs::StudyKernel& entry = *run.add_kernel();
      entry.set_name(kernel.name());
      entry.set_time_us(kernel.time_us());
      entry.set_alone_us(kernel.time_us() / kernel.slowdown_vs_solo());
      entry.set_slowdown(kernel.slowdown_vs_solo());
    }
  }

  const configs::Study& study_;
  const configs::Places& places_;  // of the study
  std::vector<std::string> settings_;
  PointStore store_;
  std::string command_line_;
  RunOptions how_;
  std::string program_;
  std::shared_ptr<sim::RunCache> known_ = std::make_shared<sim::RunCache>();  // points have kernels in common
};

// One line a figure, and whether the pictures could be drawn.
Outcome<std::string> write_figures(const configs::Study& study, const PointRecords& records, const std::string& folder) {
  std::string said;
  bool drawn = true;
  for (const configs::Figure& figure : study.figure()) {
    const std::string stem = folder + "/" + figure.name();
    if (auto written = write_output(stem + ".csv", figure_csv(study, figure, records)); !written)
      return std::unexpected(written.error());
    if (auto written = write_output(stem + ".gp", figure_plot(study, figure, records)); !written)
      return std::unexpected(written.error());
    const auto drew = drawn ? draw(folder, figure.name() + ".gp") : false;
    if (!drew) return std::unexpected(drew.error());
    drawn = *drew;
    said += stem + (drawn ? ".svg" : ".csv") + "  " + figure.title() + "\n";
  }
  if (!drawn) said += "gnuplot is not installed, so there are tables and gnuplot scripts, but no pictures.\n";
  return said;
}

// A name in place of a file, "dropout-overlap", is that of a study among the configs below the present folder.
Outcome<std::string> study_file(const std::string& named) {
  if (named.find_first_of("./") != std::string::npos || fs::exists(named)) return named;
  std::string stem = named;
  std::ranges::replace(stem, '-', '_');
  const fs::path folder = fs::path("configs") / "studies";
  const fs::path file = folder / (stem + ".textproto");
  if (fs::exists(file)) return file.string();
  std::vector<std::string> known;
  std::error_code none;
  for (const auto& each : fs::directory_iterator(folder, none)) known.push_back(each.path().stem().string());
  std::ranges::sort(known);
  return user_error("there is neither a file \"" + named + "\" nor a study of that name in " + folder.string() +
                    suggestion(stem, known));
}

}  // namespace

Outcome<void> study_command(const Invocation& invocation) {
  Options options("warpfold study STUDY [options]",
                  "Simulates a scenario over a grid of values under several policies and writes a table (CSV) and a picture\n"
                  "(SVG, drawn by gnuplot) for each of the study's figures. Points that are finished stay: an interrupted study\n"
                  "goes on where it was. STUDY is a file, or the name of one in the folder configs/studies below the present one.",
                  "  warpfold study dropout-overlap --output dropout\n"
                  "  warpfold study study.textproto --gpu configs/gpus/h200_sxm.textproto --output h200\n");
  options.positional("STUDY", 1, 1);
  options.add_settings();
  add_run_options(options, "0.01");  // enough for a map, at half the time
  options.add()("output,o", boost::program_options::value<std::string>()->value_name("FOLDER"),
                "where tables, pictures and finished points go; default: the study's name");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (options.help_wanted()) return write_output("", options.help());

  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  const auto file = study_file(options.arguments().front());
  if (!file) return std::unexpected(file.error());
  configs::Places places;
  const auto study = configs::load_study(*file, &places);
  if (!study) return std::unexpected(Failure(study.error()));
  const std::string folder = options.has("output") ? options.text("output") : study->name();
  if (folder.empty()) return user_error("--output: the folder's name is empty");
  for (const std::string& setting : options.settings()) {
    const std::string name = setting.substr(0, setting.find('='));
    const bool varied = std::ranges::find(study->axis(), name, &configs::Axis::name) != study->axis().end();
    if (varied) return user_error("--set " + setting + ": the study varies " + name + " itself");
  }
  StudyRunner runner(*study, places, options.settings(), folder, invocation, *how);
  const auto records = runner.run();
  if (!records) return std::unexpected(records.error());
  const auto said = write_figures(*study, *records, folder);
  if (!said) return std::unexpected(said.error());
  return write_output("", *said);
}

}  // namespace warpfold::cli
