#include <google/protobuf/message.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "configs/gemm_library.pb.h"
#include "configs/layer.pb.h"
#include "configs/load.h"
#include "configs/model.h"
#include "configs/operator_kernels.h"
#include "configs/read_file.h"
#include "configs/report.pb.h"
#include "configs/search_path.h"
#include "configs/validation.pb.h"
#include "isa/architecture.h"
#include "tools/profile/profile_reader.h"
#include "tools/report/json_reader.h"
#include "tools/report/number_text.h"
#include "tools/report/saved_kinds.h"
#include "tools/validation/measured_row.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/kernels.h"
#include "tools/warpfold/run/runner.h"
#include "traces/import/listed_sections.h"
#include "traces/import/listing.h"
#include "traces/import/text_form.h"
#include "workloads/layer/graph.h"
#include "workloads/layer/listed.h"

namespace warpfold::cli {

namespace {

using report::counted;

Outcome<std::string> check_gpu_file(const std::string& path) {
  const auto gpu = configs::load_gpu(path);
  if (!gpu) return std::unexpected(Failure(gpu.error()));
  const auto architecture = isa::Architecture::find(gpu->architecture());
  if (!architecture) return user_error(path + ": " + architecture.error().message);
  return "GPU " + gpu->name();
}

// Makes the launch plan too, with all kernels: only then do shapes, segments and shares that do not fit show.
Outcome<std::string> check_scenario_file(const std::string& path, const std::vector<std::string>& settings) {
  configs::Places places;
  const auto scenario = configs::load_scenario(path, settings, &places);
  if (!scenario) return std::unexpected(Failure(scenario.error()));
  workloads::KernelMaker kernels(path);
  const auto planned = plan_scenario(*scenario, kernels, places);
  if (!planned) return std::unexpected(planned.error());
  return "scenario " + scenario->name() + " on " + scenario->gpu().name();
}

Outcome<std::string> check_study_file(const std::string& path) {
  const auto study = configs::load_study(path);
  if (!study) return std::unexpected(Failure(study.error()));
  return "study " + study->name() + " of " + (study->has_layer() ? study->layer().model() : study->scenario_file());
}

Outcome<std::string> check_model_file(const std::string& path, const std::vector<std::string>& settings) {
  configs::Places places;
  const auto model = configs::load_model(path, settings, &places);
  if (!model) return std::unexpected(Failure(model.error()));
  if (model->operator__size() == 0) return "model card " + model->name();
  if (const auto listed = layer::listed_layer(*model); !listed)
    return std::unexpected(Failure(places.fail(listed.error()).error()));
  return "model card " + model->name() + " of " + counted(static_cast<size_t>(model->operator__size()), "operator");
}

// Also reads the listing that the launch description names.
Outcome<std::string> check_launch_file(const std::string& path, const std::vector<std::string>& settings) {
  const auto launch = configs::load_kernel_launch(path, settings);
  if (!launch) return std::unexpected(Failure(launch.error()));
  const std::string of = launch->has_function() ? " of " + launch->function() : "";
  if (!launch->has_listing()) return "launch description" + of;
  const std::string listing = (std::filesystem::path(path).parent_path() / launch->listing()).lexically_normal().string();
  if (const auto readable = read_file(listing); !readable) return user_error(path + ": " + readable.error().message);
  return "launch description" + of + " in " + listing;
}

Outcome<std::string> check_operators_file(const std::string& path) {
  const auto table = configs::load_operator_kernels(path, layer::work_names());
  if (!table) return std::unexpected(Failure(table.error()));
  return "table of listings that run operators, " + counted(static_cast<size_t>(table->kernel_size()), "row");
}

Outcome<std::string> check_library_file(const std::string& path, const std::string& text) {
  configs::GemmLibraries libraries;
  if (const auto parsed = configs::parse_text(path, text, libraries); !parsed) return std::unexpected(Failure(parsed.error()));
  std::string names;
  for (const configs::GemmLibrary& library : libraries.library()) names += (names.empty() ? "" : ", ") + library.name();
  return "library of GEMM kernels: " + names;
}

Outcome<std::string> check_trace_file(const std::string& path) {
  const auto kernels = file_kernels(path);
  if (!kernels) return std::unexpected(kernels.error());
  return "trace of " + counted(kernels->size(), "kernel");
}

// Returns the listing's functions for one architecture. Fails at the first instruction that the architecture lacks.
Expected<std::string> functions_of(const std::string& path, const std::string& text, const std::string& name, bool alone) {
  const auto architecture = isa::Architecture::find(name);
  if (!architecture) return fail(path + ": " + architecture.error().message);
  const auto listing = sass::read_listing(path, text, **architecture, alone ? std::string() : name);
  if (!listing) return std::unexpected(listing.error());
  std::string functions;
  for (const sass::Function& function : listing->functions) {
    for (const sass::ListedInstruction& listed : function.code) {
      if (listed.unreadable) return std::unexpected(*listed.unreadable);
    }
    functions += (functions.empty() ? "" : ", ") + function.name;
  }
  return functions;
}

// Checks the listing for each architecture that it names. If it names none, takes the first architecture that has all of its
// opcodes.
Outcome<std::string> check_listing_file(const std::string& path, const std::string& text) {
  if (const auto checked = sass::check_text_form(path, text); !checked) return std::unexpected(Failure(checked.error()));
  const std::vector<std::string> named = sass::architectures_of(text);
  std::optional<Diagnostic> wrong;
  std::string found;
  for (const std::string& name : named.empty() ? isa::Architecture::known() : named) {
    const auto functions = functions_of(path, text, name, named.size() < 2);
    if (functions && named.empty()) return "SASS listing, without an architecture's name: " + *functions;
    if (functions) found += (found.empty() ? "" : "; ") + name + ": " + *functions;
    if (!functions && (!wrong || functions.error().line > wrong->line)) wrong = functions.error();
  }
  if (wrong) return std::unexpected(Failure(*wrong));
  return "SASS listing, " + found;
}

Outcome<std::string> check_measurements_file(const std::string& path) {
  const auto rows = validation::read_measured_rows(path);
  if (!rows) return std::unexpected(Failure(rows.error()));
  return "table of measurements, " + counted(rows->size(), "row");
}

// Returns the first kind of result whose schema has all fields of the file. If no schema has, fails with the error of the schema
// that gets furthest into the file.
Outcome<std::string> check_result_file(const std::string& path, const std::string& text) {
  std::optional<Diagnostic> wrong;
  for (const auto& [schema, words] : report::saved_kinds()) {
    const std::unique_ptr<google::protobuf::Message> message(schema->New());
    const auto read = report::read_json(path, text, *message);
    if (read) return std::string(words);
    if (!wrong || std::pair(read.error().line, read.error().column) > std::pair(wrong->line, wrong->column)) wrong = read.error();
  }
  return std::unexpected(Failure(*wrong));
}

Outcome<std::string> check_profile_file(const std::string& path) {
  const auto profile = profile::read_profile(path);
  if (!profile) return std::unexpected(Failure(profile.error()));
  return "profile (" + std::to_string(profile->launches.size()) + " launches and copies, " +
         std::to_string(profile->shapes.size()) + " kernels and shapes)";
}

// Finds a configuration by name; takes the first kind that has the name.
Outcome<std::string> named_file(const std::string& named) {
  const auto scenario = configs::find_config(named, "scenarios");
  if (scenario) return *scenario;
  for (const std::string_view kind : {"gpus", "studies", "models", "kernels"}) {
    if (const auto file = configs::find_config(named, kind)) return *file;
  }
  return std::unexpected(Failure(scenario.error()));
}

Outcome<std::string> check_file(const std::string& named, const std::vector<std::string>& settings) {
  const auto path = named_file(named);
  if (!path) return std::unexpected(path.error());
  const auto kind = kind_of_file(*path);
  if (!kind) return std::unexpected(kind.error());
  const auto text = read_file(*path);
  if (!text) return std::unexpected(Failure(text.error()));
  switch (*kind) {
    case FileKind::kScenario:
      return check_scenario_file(*path, settings);
    case FileKind::kGpu:
      return check_gpu_file(*path);
    case FileKind::kStudy:
      return check_study_file(*path);
    case FileKind::kModel:
      return check_model_file(*path, settings);
    case FileKind::kLaunch:
      return check_launch_file(*path, settings);
    case FileKind::kOperators:
      return check_operators_file(*path);
    case FileKind::kLibrary:
      return check_library_file(*path, *text);
    case FileKind::kTrace:
      return check_trace_file(*path);
    case FileKind::kListing:
      return check_listing_file(*path, *text);
    case FileKind::kMeasurements:
      return check_measurements_file(*path);
    case FileKind::kResult:
      return check_result_file(*path, *text);
    case FileKind::kProfile:
      return check_profile_file(*path);
    case FileKind::kRecorded:
      return user_error(*path + ": a trace of Accel-Sim's tracer is checked by import-trace, which reads all of it");
    case FileKind::kUnknown:
      break;
  }
  // The file's extension says which kind it must be, so that the message names the fault within that kind.
  const std::string extension = std::filesystem::path(*path).extension().string();
  if (extension == ".csv") return check_measurements_file(*path);
  if (extension == ".json") return check_result_file(*path, *text);
  return user_error(*path + ": no file of Warpfold's: neither text-format protobuf, trace, SASS listing, CSV nor JSON");
}

}  // namespace

Outcome<void> check_command(const Invocation& invocation) {
  Options options(
      "warpfold check FILE... [options]",
      "Tells the kind of each file and whether it is valid: scenarios (with a policy that applies), GPUs, studies, model\n"
      "cards, launch descriptions, traces, SASS listings, measurements (CSV), results and traces of\n"
      "torch.profiler (JSON). No simulation runs.",
      "  warpfold check h100_sxm\n"
      "  warpfold check configs/scenarios/*.textproto\n"
      "  warpfold check scenario.textproto --set seq=1000\n"
      "  warpfold check kernel.sass launch.textproto result.json\n");
  options.positional("FILE", 1, -1);
  options.add_settings();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  for (const std::string& file : options.arguments()) {
    const auto valid = check_file(file, options.settings());
    if (!valid) return std::unexpected(valid.error());
    if (auto written = write_output("", file + ": valid " + *valid + "\n"); !written) return written;
  }
  return {};
}

}  // namespace warpfold::cli
