#include "tools/warpfold/run/launches.h"

namespace warpfold::cli {

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
