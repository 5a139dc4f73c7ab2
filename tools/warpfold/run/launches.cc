#include "tools/warpfold/run/launches.h"

namespace warpfold::cli {

sim::Launch launch_alone(const policies::PlannedKernel& kernel) {
  sim::Launch launch;
  launch.kernel = &kernel.kernel;
  launch.sms = {kernel.sms.first, kernel.sms.count};
  return launch;
}

std::vector<sim::Launch> make_launches(const policies::Plan& plan) {
  std::vector<sim::Launch> launches;
  for (const policies::PlannedKernel& planned : plan.kernels) {
    sim::Launch launch = launch_alone(planned);
    launch.stream = planned.stream;
    launch.priority = planned.priority;
    launch.after = planned.after;
    launch.quota = {planned.quota.ctas, planned.quota.warps, planned.quota.registers};
    launch.reserved = planned.reserved.has_value();
    if (planned.reserved) {
      launch.reserved_registers = planned.reserved->registers;
      launch.reserved_shared_memory = planned.reserved->shared_memory;
      launch.reserved_warps = planned.reserved->warps;
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace warpfold::cli
