#include "tools/warpfold/run/planned.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/gpu/admission.h"
#include "sim/sm/make_spec.h"
#include "tools/warpfold/run/launches.h"
#include "tools/warpfold/run/log.h"
#include "workloads/policies/plan.h"

namespace warpfold::cli {
namespace {

std::string path_of_kernel(const configs::Scenario& scenario, const std::string& name) {
  const auto found = std::ranges::find(scenario.kernel(), name, &configs::Kernel::name);
  return policies::path_of_kernel(static_cast<int>(found - scenario.kernel().begin()));
}

// Returns the path of a kernel's bounds: the kernel's entry in the policy, otherwise the policy itself.
std::string path_of_bounds(const configs::Policy& policy, const std::string& kernel) {
  const auto entry_for = [&](const auto& entries, const std::string& field) {
    const auto found = std::ranges::find_if(entries, [&](const auto& entry) { return entry.kernel() == kernel; });
    return found == entries.end() ? "policy" : "policy." + field + "[" + std::to_string(found - entries.begin()) + "]";
  };
  switch (policy.kind()) {
    case configs::CARVE_OUT:
      return entry_for(policy.reserve(), "reserve");
    case configs::SLICED:
      return entry_for(policy.quota(), "quota");
    default:
      return "policy";
  }
}

// Fails if a launch of the plan could never run.
Expected<void> check_launches(const configs::Scenario& scenario, const policies::Plan& plan) {
  const auto spec = sim::make_spec(scenario.gpu());
  if (!spec) return fail_in("gpu.architecture", spec.error().message);
  const std::vector<sim::Launch> launches = make_launches(plan);
  for (size_t l = 0; l < launches.size(); ++l) {
    const std::string& kernel = plan.kernels[l].of;
    const auto alone = sim::occupancy_of(*spec, *launches[l].kernel);
    if (!alone) return fail_in(path_of_kernel(scenario, kernel), alone.error().message);
    const auto fits = sim::check_bounds(*spec, launches[l], alone->footprint);
    if (fits) continue;
    return fail_in(path_of_bounds(scenario.policy(), kernel),
                   "policy " + configs::PolicyKind_Name(scenario.policy().kind()) + ": " + fits.error().message);
  }
  return {};
}

// Adds the position of the fault in the scenario's files. If the policy has no field at fault, the position is that of the whole
// policy.
Diagnostic placed(Diagnostic problem, const workloads::KernelMaker& kernels, const configs::Places& places) {
  if (problem.file.empty() && problem.path.empty()) problem.path = "policy";
  problem = places.located(std::move(problem));
  if (problem.file.empty()) problem.file = kernels.file();
  return problem;
}

}  // namespace

Expected<Planned> plan_scenario(configs::Scenario scenario, workloads::KernelMaker& kernels, const configs::Places& places) {
  TileTuner tuner;
  return plan_scenario(std::move(scenario), kernels, places, tuner);
}

Expected<Planned> plan_scenario(configs::Scenario scenario, workloads::KernelMaker& kernels, const configs::Places& places,
                                TileTuner& tuner) {
  const LoggedPhase phase(LogLevel::kDebug, "planning of policy " + configs::PolicyKind_Name(scenario.policy().kind()));
  auto choices = tuner.tune(scenario);
  if (!choices) return std::unexpected(placed(choices.error(), kernels, places));
  auto plan = policies::make_plan(scenario, kernels);
  if (!plan) return std::unexpected(placed(plan.error(), kernels, places));
  if (const auto runs = check_launches(scenario, *plan); !runs) return std::unexpected(placed(runs.error(), kernels, places));
  return Planned{std::move(scenario), std::move(*plan), std::move(*choices)};
}

}  // namespace warpfold::cli
