#include <filesystem>
#include <utility>
#include <vector>

#include "configs/load.h"
#include "configs/read_file.h"
#include "configs/search_path.h"
#include "isa/architecture.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/run/kernels.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::cli {

namespace {

namespace fs = std::filesystem;

enum class Kind { kTrace, kGpu, kScenario };

// Which schema a text file is written in: the one that it parses as or, where it has a mistake, the one that follows it
// further. A file with nothing but fields of both schemas is what its base is.
Outcome<Kind> kind_of(const std::string& path, int depth) {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".wft" || extension == ".wfs") return Kind::kTrace;
  const auto text = read_file(path);
  if (!text) return std::unexpected(Failure(text.error()));
  configs::Gpu gpu;
  configs::Scenario scenario;
  const auto as_gpu = configs::parse_text(path, *text, gpu);
  const auto as_scenario = configs::parse_text(path, *text, scenario);
  if (as_gpu && as_scenario) {
    constexpr int kDeepest = 64;  // a cycle of bases, which loading reports
    if (!gpu.has_base() || depth == kDeepest) return Kind::kScenario;
    const std::string base = (fs::path(path).parent_path() / gpu.base()).string();
    if (configs::is_config_name(gpu.base()) && !fs::is_regular_file(base))
      return configs::find_config(gpu.base(), "gpus") ? Kind::kGpu : Kind::kScenario;
    return fs::exists(base) ? kind_of(base, depth + 1) : Kind::kScenario;
  }
  if (as_gpu || as_scenario) return as_gpu ? Kind::kGpu : Kind::kScenario;
  const auto place = [](const Diagnostic& diagnostic) { return std::pair(diagnostic.line, diagnostic.column); };
  return place(as_gpu.error()) > place(as_scenario.error()) ? Kind::kGpu : Kind::kScenario;
}

Outcome<std::string> check_gpu_file(const std::string& path) {
  const auto gpu = configs::load_gpu(path);
  if (!gpu) return std::unexpected(Failure(gpu.error()));
  const auto architecture = isa::Architecture::find(gpu->architecture());
  if (!architecture) return user_error(path + ": " + architecture.error().message);
  return "GPU " + gpu->name();
}

// Its policy is carried out, kernels and all, for that is where shapes, segments and shares are found not to fit.
Outcome<std::string> check_scenario_file(const std::string& path, const std::vector<std::string>& settings) {
  configs::Places places;
  const auto scenario = configs::load_scenario(path, settings, &places);
  if (!scenario) return std::unexpected(Failure(scenario.error()));
  workloads::KernelMaker kernels(path);
  const auto planned = plan_scenario(*scenario, kernels, places);
  if (!planned) return std::unexpected(planned.error());
  return "scenario " + scenario->name() + " on " + scenario->gpu().name();
}

// A name is a scenario's or a GPU's.
Outcome<std::string> named_file(const std::string& named) {
  const auto scenario = configs::find_config(named, "scenarios");
  if (scenario) return *scenario;
  if (const auto gpu = configs::find_config(named, "gpus")) return *gpu;
  return std::unexpected(Failure(scenario.error()));
}

Outcome<std::string> check_file(const std::string& named, const std::vector<std::string>& settings) {
  const auto found = named_file(named);
  if (!found) return std::unexpected(found.error());
  const std::string& path = *found;
  const auto kind = kind_of(path, 0);
  if (!kind) return std::unexpected(kind.error());
  if (*kind == Kind::kGpu) return check_gpu_file(path);
  if (*kind == Kind::kScenario) return check_scenario_file(path, settings);
  const auto kernels = file_kernels(path);
  if (!kernels) return std::unexpected(kernels.error());
  return "trace of " + std::to_string(kernels->size()) + (kernels->size() == 1 ? " kernel" : " kernels");
}

}  // namespace

Outcome<void> check_command(const Invocation& invocation) {
  Options options("warpfold check FILE... [options]",
                  "Checks scenarios, GPU files and traces, and that a scenario's policy can be carried out. Simulates nothing.",
                  "  warpfold check h100_sxm\n"
                  "  warpfold check configs/scenarios/*.textproto\n"
                  "  warpfold check scenario.textproto --set seq=1000\n");
  options.positional("FILE", 1, -1);
  options.add_settings();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (options.help_wanted()) return write_output("", options.help());
  for (const std::string& file : options.arguments()) {
    const auto valid = check_file(file, options.settings());
    if (!valid) return std::unexpected(valid.error());
    if (auto written = write_output("", file + ": valid " + *valid + "\n"); !written) return written;
  }
  return {};
}

}  // namespace warpfold::cli
