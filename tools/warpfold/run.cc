#include "tools/warpfold/run.h"

#include <utility>

#include "tools/warpfold/kernels.h"
#include "tools/warpfold/launches.h"
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

}  // namespace

Outcome<Runner> Runner::prepare(const configs::Scenario& scenario, std::string file, std::string command_line) {
  Runner runner;
  runner.file_ = std::move(file);
  runner.command_line_ = std::move(command_line);
  auto kernels = scenario_kernels(scenario, runner.file_);
  if (!kernels) return std::unexpected(kernels.error());
  runner.kernels_ = std::move(*kernels);
  for (const traces::Kernel& kernel : runner.kernels_) runner.hashes_.push_back(kernel_hash(kernel));
  return runner;
}

Outcome<sim::Outcome> Runner::simulate(const configs::Scenario& scenario, const std::vector<sim::Launch>& launches,
                                       bool serialise) const {
  auto outcome = sim::simulate(scenario.gpu(), launches, serialise);
  if (!outcome) {
    Diagnostic diagnostic = outcome.error();
    if (diagnostic.file.empty()) diagnostic.file = file_;
    return std::unexpected(Failure(diagnostic));
  }
  if (outcome->deadlocked) return std::unexpected(Failure(kDeadlock, outcome->deadlock.report));
  return std::move(*outcome);
}

Outcome<Runner::Alone> Runner::run_alone(const configs::Scenario& scenario, size_t kernel) {
  const auto known = alone_.find(kernel);
  if (known != alone_.end()) return known->second;
  report_progress("kernel " + kernels_[kernel].name + " alone");
  sim::Launch launch;
  launch.kernel = &kernels_[kernel];
  const auto outcome = simulate(scenario, {launch}, false);
  if (!outcome) return std::unexpected(outcome.error());
  const sim::KernelCounters& counters = outcome->kernels.front();
  const Alone alone{counters.end_cycle - counters.start_cycle, busiest(outcome->resources)};
  alone_[kernel] = alone;
  return alone;
}

Outcome<configs::Result> Runner::run(const configs::Scenario& scenario) {
  auto launches = make_launches(scenario, kernels_);
  if (!launches) return user_error(file_ + ": " + launches.error().text);
  std::vector<Alone> alone;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    auto solo = run_alone(scenario, k);
    if (!solo) return std::unexpected(solo.error());
    alone.push_back(std::move(*solo));
  }
  report_progress("policy " + configs::PolicyKind_Name(scenario.policy().kind()));
  const auto outcome = simulate(scenario, *launches, scenario.policy().kind() == configs::SEQUENTIAL);
  if (!outcome) return std::unexpected(outcome.error());

  configs::Result result = make_result(scenario, kernels_, *outcome);
  for (size_t k = 0; k < kernels_.size(); ++k) {
    configs::KernelResult& kernel = *result.mutable_kernels(static_cast<int>(k));
    kernel.set_solo_cycles(alone[k].cycles);
    kernel.set_slowdown_vs_solo(static_cast<double>(kernel.cycles()) / static_cast<double>(alone[k].cycles));
    kernel.set_bound_by(alone[k].bound_by);
    result.mutable_provenance()->add_trace_hash(hashes_[k]);
  }
  result.mutable_provenance()->set_command_line(command_line_);
  return result;
}

}  // namespace warpfold::cli
