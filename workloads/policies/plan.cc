#include "workloads/policies/plan.h"

#include <algorithm>

#include "workloads/policies/cache_shares.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/l2_left.h"

namespace warpfold::policies {

uint64_t elements(const configs::Philox& philox) {
  return std::max<uint64_t>(1, philox.batch()) * philox.heads() * philox.queries() * philox.keys();
}

uint64_t stored_bits_bytes(const configs::Scenario& scenario) {
  uint64_t bits = 0;
  for (const configs::Kernel& kernel : scenario.kernel()) bits += kernel.has_philox() ? elements(kernel.philox()) : 0;
  return bits / 8;
}

std::string path_of_kernel(int position) { return "kernel[" + std::to_string(position) + "]"; }

Expected<Plan> plan_as_written(const configs::Scenario& scenario, workloads::KernelMaker& kernels) {
  Plan plan;
  plan.stored_bits_bytes = stored_bits_bytes(scenario);
  const Graph graph(scenario);
  for (const configs::Kernel& description : scenario.kernel()) {
    auto kernel = kernels.make(description, scenario.gpu());
    if (!kernel) return std::unexpected(kernel.error().inside(path_of_kernel(static_cast<int>(plan.kernels.size()))));
    PlannedKernel planned;
    planned.kernel = std::move(*kernel);
    planned.of = description.name();
    planned.stream = static_cast<int>(description.stream());
    planned.priority = description.priority();
    for (const std::string& name : description.after()) planned.after.push_back(graph.index(name));
    plan.kernels.push_back(std::move(planned));
  }
  return plan;
}

Expected<Plan> plan_side_by_side(const configs::Scenario& scenario, workloads::KernelMaker& kernels) {
  auto plan = plan_as_written(scenario, kernels);
  if (!plan) return plan;
  if (auto shared = share_caches(scenario, true, kernels, *plan); !shared) return std::unexpected(shared.error());
  return plan;
}

Expected<Plan> plan_in_sequence(const configs::Scenario& scenario, workloads::KernelMaker& kernels) {
  auto plan = plan_as_written(scenario, kernels);
  if (!plan) return plan;
  plan->serialise = true;
  if (auto begun = begin_as_left(scenario, scenario.gpu().l2().bytes(), *plan); !begun) return std::unexpected(begun.error());
  return plan;
}

}  // namespace warpfold::policies
