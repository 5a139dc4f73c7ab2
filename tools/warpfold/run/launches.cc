#include "tools/warpfold/run/launches.h"

namespace warpfold::cli {

configs::Gpu gpu_of(const configs::Scenario& scenario) {
  configs::Gpu gpu = scenario.gpu();
  if (scenario.launch() == configs::GRAPH) gpu.set_kernel_launch_cycles(gpu.graph_launch_cycles());
  if (scenario.launch() == configs::PROGRAMMATIC) gpu.set_kernel_launch_cycles(gpu.programmatic_launch_cycles());
  return gpu;
}

configs::Gpu gpu_of(const configs::Scenario& scenario, const policies::Plan& plan) {
  configs::Gpu gpu = gpu_of(scenario);
  if (plan.issue_by_priority) gpu.mutable_sub_core()->set_issue_policy(configs::KERNEL_PRIORITY);
  return gpu;
}

sim::Launch launch_alone(const policies::PlannedKernel& kernel) {
  sim::Launch launch;
  launch.kernel = &kernel.kernel;
  launch.sms = kernel.sms;
  return launch;
}

std::vector<sim::Launch> make_launches(const policies::Plan& plan) {
  std::vector<sim::Launch> launches;
  for (const policies::PlannedKernel& planned : plan.kernels) launches.push_back({planned, &planned.kernel});
  return launches;
}

}  // namespace warpfold::cli
