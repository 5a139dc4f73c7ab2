#include <algorithm>
#include <limits>

#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/render/cycle_view.h"
#include "tools/warpfold/run/launches.h"
#include "tools/warpfold/run/policy_names.h"
#include "tools/warpfold/run/request.h"

namespace warpfold::cli {

namespace {

namespace po = boost::program_options;

// More cycles are a file of some hundred megabytes for a full SM.
constexpr uint32_t kMostCycles = 100'000;

// The machine and the launches of a plan.
class PlanRun {
 public:
  PlanRun(const Planned& planned, const std::string& file)
      : gpu_(gpu_of(planned.scenario, planned.plan)),
        launches_(make_launches(planned.plan)),
        serialise_(planned.plan.serialise),
        file_(file) {}

  const configs::Gpu& gpu() const { return gpu_; }

  Outcome<sim::Outcome> simulate(sim::Options options) const {
    options.serialise = serialise_;
    auto outcome = sim::simulate(gpu_, launches_, options);
    if (!outcome) {
      Diagnostic diagnostic = outcome.error();
      if (diagnostic.file.empty()) diagnostic.file = file_;
      return std::unexpected(Failure(diagnostic));
    }
    if (outcome->deadlocked) return std::unexpected(Failure(kDeadlock, outcome->deadlock.report));
    return std::move(*outcome);
  }

 private:
  configs::Gpu gpu_;
  std::vector<sim::Launch> launches_;
  bool serialise_;
  std::string file_;
};

// The window that the options ask for, in a run of `total` cycles. By default it begins in the middle of the run.
Outcome<CycleView> window(const Options& options, uint64_t total) {
  const auto count = options.number("count", 1, kMostCycles);
  if (!count) return std::unexpected(count.error());
  CycleView view;
  view.from = total / 2;
  if (options.has("from")) {
    const auto from = options.number("from", 0, std::numeric_limits<uint32_t>::max());
    if (!from) return std::unexpected(from.error());
    if (*from >= total)
      return user_error("--from " + std::to_string(*from) + ": the run ends after " + std::to_string(total) + " cycles");
    view.from = *from;
  }
  view.until = view.from + *count;
  return view;
}

}  // namespace

Outcome<void> cycles_command(const Invocation& invocation) {
  Options options("warpfold cycles SCENARIO [options]",
                  "Simulates the kernels of a scenario together and shows what each warp of one sub-core does in each cycle of a\n"
                  "window: it issues, or it waits for a reason. The whole run is simulated without folding.",
                  "  warpfold cycles qkv_philox_small\n"
                  "  warpfold cycles scenario.textproto --from 12000 --count 60 --sub-core 1\n"
                  "  warpfold cycles scenario.textproto --count 5000 --output cycles.csv\n");
  add_policy_option(options);
  add_request(options);
  options.add()("from", po::value<std::string>()->value_name("CYCLE"),
                "first cycle of the window (default: the middle of the run)");
  options.add()("count", po::value<std::string>()->default_value("80")->value_name("N"), "cycles of the window");
  options.add()("sub-core", po::value<std::string>()->default_value("0")->value_name("K"), "sub-core of the SM, from 0 on");
  options.add()("sm-class", po::value<std::string>()->default_value("0")->value_name("K"),
                "class of SMs that execute the same CTAs, from 0 on");
  options.add_output();
  auto request = read_request(options, invocation);
  if (!request) return std::unexpected(request.error());
  const auto planned = request->plan();
  if (!planned) return std::unexpected(planned.error());
  const PlanRun run(*planned, request->kernels.file());
  const auto sub_core = options.number("sub-core", 0, run.gpu().sm().sub_cores() - 1);
  if (!sub_core) return std::unexpected(sub_core.error());
  const auto sm_class = options.number("sm-class", 0, run.gpu().sm_count() - 1);
  if (!sm_class) return std::unexpected(sm_class.error());
  const auto whole = run.simulate({.threads = request->how.threads, .fold = request->how.folding.options});
  if (!whole) return std::unexpected(whole.error());
  auto view = window(options, whole->total_cycles);
  if (!view) return std::unexpected(view.error());
  sim::CycleLog log{
      .from = view->from - std::min(view->from, kLogMargin), .until = view->until + kLogMargin, .sm_class = *sm_class};
  const auto logged = run.simulate({.cycle_log = &log});
  if (!logged) return std::unexpected(logged.error());
  if (*sm_class >= logged->sms_simulated)
    return user_error("--sm-class " + std::to_string(*sm_class) + ": the run has " + std::to_string(logged->sms_simulated) +
                      " classes of SMs");
  view->title = planned->scenario.name() + " on " + run.gpu().name() + ", policy " +
                configs::PolicyKind_Name(planned->scenario.policy().kind());
  view->sub_core = *sub_core;
  for (const policies::PlannedKernel& kernel : planned->plan.kernels) view->kernels.push_back(&kernel.kernel);
  view->log = &log;
  return write_output(request->destination.path, render_cycles(*view, request->destination.format));
}

}  // namespace warpfold::cli
