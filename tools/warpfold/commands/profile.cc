#include "tools/warpfold/run/profile_run.h"

#include <array>
#include <optional>

#include "tools/perfetto/step_trace.h"
#include "tools/profile/replay.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/commands/html_option.h"
#include "tools/warpfold/render/profile_report.h"
#include "tools/warpfold/run/file_kind.h"

namespace warpfold::cli {

namespace {

namespace po = boost::program_options;

constexpr uint32_t kMostCandidates = 12;  // the matching tries every subset of them

// The choices of --opaque before `out`; none: the demand of each launch's family.
constexpr std::array<std::optional<configs::OpaqueDemand>, 4> kDemands{std::nullopt, configs::DRAM, configs::ISSUE,
                                                                       configs::LATENCY};

Outcome<ProfileRequest> request_of(const Options& options, const Invocation& invocation) {
  ProfileRequest request;
  const auto how = run_options(options);
  if (!how) return std::unexpected(how.error());
  if (how->folding.self_check || how->reference || how->folding.shadow)
    return user_error("--self-check, --reference and --fold shadow are of one simulation; profile has many");
  request.how = *how;
  request.trace = options.arguments().front();
  request.gpu = options.text("gpu");
  request.names = options.text("names");
  const auto kernels = options.number("kernels", 1, 100000);
  if (!kernels) return std::unexpected(kernels.error());
  const auto candidates = options.number("candidates", 0, kMostCandidates);
  if (!candidates) return std::unexpected(candidates.error());
  request.kernels = *kernels;
  request.candidates = *candidates;
  for (const std::string& pair : options.texts("independent")) {
    if (auto added = request.independence.add(pair); !added) return std::unexpected(Failure(added.error()));
  }
  request.execution_trace = options.text("execution-trace");
  request.range = options.text("range");
  if (!request.range.empty() && !request.execution_trace.empty())
    return user_error("--range with --execution-trace: launches outside the range may carry dependences, and are left out");
  const auto opaque = options.choice("opaque", {"family", "dram", "issue", "latency", "out"});
  if (!opaque) return std::unexpected(opaque.error());
  request.opaque = *opaque < kDemands.size();
  if (request.opaque) request.demand = kDemands[*opaque];
  request.command_line = invocation.command_line;
  return request;
}

// Returns the step's launches, with measured and simulated times.
perfetto::StepTrace step_trace_of(const ProfiledStep& step) {
  perfetto::StepTrace trace;
  trace.gpu = step.report.gpu();
  trace.description = step.report.trace() + ", by Warpfold " + step.report.version();
  for (const configs::ProfiledKernel& kernel : step.report.kernels())
    trace.kernels.push_back({kernel.short_name(), kernel.bound_by(), kernel.opaque()});
  std::vector<double> us;
  us.reserve(step.kernel_of_shape.size());
  for (const uint32_t kernel : step.kernel_of_shape) us.push_back(step.report.kernels(static_cast<int>(kernel)).simulated_us());
  const std::vector<profile::LaunchSpan> replayed = profile::replayed(step.profile, us);
  trace.launches.reserve(replayed.size());
  for (size_t l = 0; l < replayed.size(); ++l) {
    const profile::Launch& launch = step.profile.launches[l];
    const bool copy = launch.shape == profile::Launch::kCopy;
    trace.launches.push_back({copy ? perfetto::StepLaunch::kCopy : step.kernel_of_shape[launch.shape], launch.stream,
                              launch.start_us - step.profile.launches.front().start_us, launch.us, replayed[l].start_us,
                              replayed[l].us});
  }
  return trace;
}

}  // namespace

Outcome<void> profile_command(const Invocation& invocation) {
  Options options(
      "warpfold profile TRACE [options]",
      "Reads a profile and simulates its kernels on a GPU. Reports the pairs of the longest kernels that could run side by side,\n"
      "and the gain of the step. A profile is one of: a trace of torch.profiler (export_chrome_trace; also .gz); Nsight Systems'\n"
      "export (nsys export --type sqlite) or table (nsys stats --report cuda_gpu_trace --format csv); Nsight Compute's table\n"
      "(ncu --csv --page raw). Kernels are known by their names, grids and the recorded shapes of operators\n"
      "(record_shapes=True). A kernel that is not simulated keeps its measured time, and the report says why (docs/profile.md).",
      "  warpfold profile trace.json.gz\n"
      "  warpfold profile trace.json --gpu b200\n"
      "  warpfold profile trace.json --independent gemm,softmax --plan plan.textproto\n"
      "  warpfold profile trace.json --format json --output profile.json\n");
  options.positional("TRACE", 1, 1);
  options.add()("gpu", po::value<std::string>()->value_name("GPU"),
                "file or name of the GPU to simulate; default: the GPU that was traced");
  options.add()("names", po::value<std::string>()->value_name("FILE"),
                "a table of kernels' names (KernelNames), tried before the program's own: kernels and sizes that it cannot know");
  options.add()("kernels", po::value<std::string>()->default_value("100")->value_name("N"),
                "distinct kernels to simulate, the longest first");
  options.add()("candidates", po::value<std::string>()->default_value("6")->value_name("N"),
                "kernels to try in pairs, the longest first; 0 to 12");
  options.add()(
      "independent", po::value<std::vector<std::string>>()->composing()->value_name("A,B"),
      "kernels with A in their names, or in that of a range in which they are launched, do not depend on those with B (RE2); only "
      "such pairs are tried; repeatable. Default: every pair is tried as if it were independent");
  options.add()("range", po::value<std::string>()->value_name("NAME"),
                "only launches in ranges of this name: torch.profiler.record_function(NAME), or NVTX of Nsight Systems");
  options.add()(
      "execution-trace", po::value<std::string>()->value_name("FILE"),
      "execution trace of the same run (torch.profiler.ExecutionTraceObserver): only launches that need no result of each "
      "other are paired");
  options.add()("opaque", po::value<std::string>()->default_value("family")->value_name("KIND"),
                "what binds kernels that are not simulated, which keep their measured time in the plan: dram, issue or latency; "
                "family: what their family is assumed to be bound by; out: they have no part in the plan");
  options.add()("rows", po::value<std::string>()->default_value("20")->value_name("N"), "kernels in the table");
  options.add()("plan", po::value<std::string>()->value_name("FILE"),
                "write the plan as a scenario for warpfold simulate; no file if no pair gains");
  options.writes_file("plan");
  add_run_options(options);
  options.add_perfetto();
  options.add_html();
  options.add_output();
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;

  const Destination& destination = options.destination();
  const auto rows = options.number("rows", 1, 100000);
  if (!rows) return std::unexpected(rows.error());
  const auto request = request_of(options, invocation);
  if (!request) return std::unexpected(request.error());
  const auto step = run_profile(*request);
  if (!step && step.error().exit_code == kUserError) {
    if (const auto kind = find_of_kind(request->trace, FileKind::kProfile, "profile"); !kind) return std::unexpected(kind.error());
  }
  if (!step) return std::unexpected(step.error());
  const configs::ProfileReport& report = step->report;
  if (options.has("plan") && !report.plan().empty()) {
    if (auto written = write_output(options.text("plan"), report.plan()); !written) return written;
  }
  if (options.has("perfetto")) {
    if (auto written = write_output(options.text("perfetto"), perfetto::step_trace(step_trace_of(*step))); !written) return written;
  }
  if (auto written = write_html_option(options, report); !written) return written;
  return write_output(destination.path, render_profile(report, *rows, destination.format));
}

}  // namespace warpfold::cli
