#include <filesystem>

#include "configs/search_path.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/html_option.h"
#include "tools/warpfold/render/gnuplot.h"
#include "tools/warpfold/render/validation_errors_plot.h"
#include "tools/warpfold/render/validation_report.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/profile_errors.h"
#include "tools/warpfold/run/validation_run.h"

namespace warpfold::cli {

namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

using Plot = std::string (*)(const configs::Validation& validation, const std::string& picture);

// Draws a picture to the file that `option` names.
Outcome<void> draw_picture(const configs::Validation& validation, const std::string& option, const std::string& picture,
                           Plot plot_of) {
  const fs::path path(picture);
  if (path.extension() != ".svg") return user_error(option + " " + picture + ": expected a name that ends in .svg");
  const std::string plot = plot_of(validation, path.filename().string());
  if (plot.empty()) return user_error(option + " " + picture + ": no row has a simulated time to draw");
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  const std::string script = path.stem().string() + ".gp";
  if (auto written = write_output((fs::path(folder) / script).string(), plot); !written) return written;
  const auto drawn = draw(folder, plot, picture);
  if (!drawn) return std::unexpected(drawn.error());
  if (!*drawn) return user_error("gnuplot is not installed: the script is " + (fs::path(folder) / script).string());
  return {};
}

constexpr uint32_t kProfiledKernels = 1000;  // of each profile; assumed: the largest trace that was tried has 369 with a simulation

Outcome<ProfileValidationRequest> profile_request_of(const ValidationRequest& request) {
  if (!request.settings.empty())
    return user_error("--set is of rows of measurements; a profile is compared with the GPU that was traced");
  if (!request.only_rows.empty()) return user_error("--row is of rows of measurements; a profile has launches");
  ProfileValidationRequest profiles;
  profiles.files = request.data;
  profiles.only_gpu = request.only_gpu;
  profiles.only_kernel = request.only_kernel;
  profiles.kernels = kProfiledKernels;
  profiles.resume = request.resume;
  profiles.command_line = request.command_line;
  profiles.how = request.how;
  return profiles;
}

// Compares profiles with simulations. Whether a file is a profile at all is checked only after reading failed, since a profile may
// have gigabytes.
Outcome<configs::Validation> validate_profiles(const ValidationRequest& request) {
  const auto profiles = profile_request_of(request);
  if (!profiles) return std::unexpected(profiles.error());
  auto validation = run_profile_validation(*profiles);
  if (validation || validation.error().exit_code != kUserError) return validation;
  for (const std::string& file : request.data) {
    if (const auto kind = find_of_kind(file, FileKind::kProfile, "validate --profile"); !kind) return std::unexpected(kind.error());
  }
  return validation;
}

Outcome<configs::Validation> validate_rows(const ValidationRequest& request) {
  for (const std::string& file : request.data) {
    if (const auto rows = find_of_kind(file, FileKind::kMeasurements, "validate"); !rows) return std::unexpected(rows.error());
  }
  return run_validation(request);
}

Outcome<ValidationRequest> request_of(const Options& options, const Invocation& invocation) {
  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  if (how->folding.self_check) return user_error("--self-check is of results of simulations; validate has none to say it in");
  if (how->reference) return user_error("--reference is of results of simulations; validate has none to say it in");
  if (how->folding.shadow)
    return user_error("--fold shadow compares one simulation with its replay; validate takes auto, exact or off");
  ValidationRequest request;
  request.data = options.arguments();
  if (options.has("gpus")) {
    request.gpus = options.text("gpus");
  } else if (const auto folders = configs::config_folders(); !folders.empty()) {
    request.gpus = (folders.front() / "gpus").string();
  }
  request.only_gpu = options.text("gpu");
  request.only_kernel = options.text("kernel");
  const auto ids = options.texts("row");
  request.only_rows = {ids.begin(), ids.end()};
  request.resume = options.text("resume");
  request.settings = options.texts("set");
  for (const std::string& setting : request.settings) {
    if (!setting.starts_with("gpu."))
      return user_error("--set " + setting + ": expected gpu.FIELD=VALUE; rows share no other fields");
  }
  request.command_line = invocation.command_line;
  request.how = *how;
  return request;
}

}  // namespace

Outcome<void> validate_command(const Invocation& invocation) {
  Options options(
      "warpfold validate DATA... [options]",
      "Compares simulations with measurements: makes a scenario from every row, simulates each once, and reports errors by\n"
      "kernel and GPU, the rows with the largest errors, and the rows without a simulation. docs/validate.md has the columns.\n"
      "With --profile the files are profiles, as warpfold profile reads them: errors of launches that overlap no other kernel, by\n"
      "family of kernels, each launch counted; launches of 8 us or more apart from shorter ones.",
      "  warpfold validate tests/validation/data/*.csv\n"
      "  warpfold validate tests/validation/data/*.csv --gpu H100 --kernel GEMM --set gpu.clock_mhz=1830\n"
      "  warpfold validate --profile trace.json.gz --markdown trace.md\n"
      "  warpfold validate my_gpu.csv --output my_gpu.json --html my_gpu.html\n"
      "  warpfold validate tests/validation/data/*.csv --plot-errors errors.svg\n");
  options.positional("DATA", 1, -1);
  options.add()("profile", "the files are profiles of torch.profiler or Nsight, each compared with the GPU that it traced");
  options.add()("gpu", po::value<std::string>()->value_name("NAME"), "only rows of GPUs with this in their name");
  options.add()("kernel", po::value<std::string>()->value_name("NAME"),
                "only rows of kernels with this in their name, such as forward");
  options.add()("row", po::value<std::vector<std::string>>()->composing()->value_name("ID"),
                "only the row with this id, without a simulation of the others; repeatable");
  options.add()("gpus", po::value<std::string>()->value_name("FOLDER"), "folder of the GPU files; default: the installed ones");
  options.add()("set", po::value<std::vector<std::string>>()->composing()->value_name("gpu.FIELD=VALUE"),
                "change the GPU of every row; repeatable");
  options.add()("resume", po::value<std::string>()->value_name("FOLDER"),
                "folder of finished simulations, which are kept and reused");
  options.add()("plot", po::value<std::string>()->value_name("FILE.svg"), "draw simulated over measured times (gnuplot)");
  options.add()("markdown", po::value<std::string>()->value_name("FILE.md"), "also write the tables as Markdown");
  options.add()("plot-errors", po::value<std::string>()->value_name("FILE.svg"),
                "draw errors by kernel and GPU: mean, bias and rows (gnuplot)");
  options.writes_file("plot");
  options.writes_file("plot-errors");
  options.writes_file("markdown");
  add_run_options(options);
  options.add_html();
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;

  const Destination& destination = options.destination();
  const auto request = request_of(options, invocation);
  if (!request) return std::unexpected(request.error());
  const auto validation = options.has("profile") ? validate_profiles(*request) : validate_rows(*request);
  if (!validation) return std::unexpected(validation.error());
  if (options.has("markdown")) {
    if (auto written = write_output(options.text("markdown"), validation_markdown(*validation)); !written) return written;
  }
  if (auto written = write_html_option(options, *validation); !written) return written;
  Outcome<void> drawn;
  for (const auto& [option, plot] : {std::pair{"plot", Plot{&validation_plot}}, {"plot-errors", Plot{&validation_errors_plot}}}) {
    if (!options.has(option)) continue;
    const auto picture = draw_picture(*validation, "--" + std::string(option), options.text(option), plot);
    if (!picture && picture.error().exit_code != kUserError) return picture;
    if (!picture) drawn = picture;
  }
  if (auto written = write_output(destination.path, render_validation(*validation, destination.format)); !written) return written;
  return drawn;
}

}  // namespace warpfold::cli
