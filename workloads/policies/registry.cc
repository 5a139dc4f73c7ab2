#include <algorithm>
#include <stdexcept>

#include "traces/stats.h"
#include "workloads/policies/l2_left.h"
#include "workloads/policies/policy.h"

namespace warpfold::policies {

// The policies. Each is defined in the file of its name.
const Policy& sequential();
const Policy& concurrent();
const Policy& carve_out();
const Policy& fused();
const Policy& sm_partition();
const Policy& priority();
const Policy& warp_specialized();
const Policy& pipelined();
const Policy& sliced();
const Policy& cta_interleaved();
const Policy& warp_interleaved();

const std::vector<const Policy*>& all() {
  static const std::vector<const Policy*> policies = {
      &sequential(),       &concurrent(), &carve_out(), &fused(),           &sm_partition(),     &priority(),
      &warp_specialized(), &pipelined(),  &sliced(),    &cta_interleaved(), &warp_interleaved(),
  };
  return policies;
}

const Policy& policy_of(configs::PolicyKind kind) {
  const auto policy = std::ranges::find(all(), kind, [](const Policy* each) { return each->kind(); });
  if (policy == all().end()) throw std::logic_error("policy " + configs::PolicyKind_Name(kind) + " is not in the registry");
  return **policy;
}

namespace {

// Launches that wait for another launch start early, before that launch has ended (programmatic launch).
void launch_early(Plan& plan) {
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    PlannedKernel& kernel = plan.kernels[k];
    const auto in_stream = [&kernel](const PlannedKernel& other) { return other.stream == kernel.stream; };
    const auto earlier = plan.kernels.begin() + static_cast<ptrdiff_t>(k);
    kernel.early = !kernel.after.empty() || (plan.serialise && k > 0) || std::any_of(plan.kernels.begin(), earlier, in_stream);
  }
}

// CTAs that wait for each other are one launch of all of them.
Expected<void> check_grids(const Plan& plan, configs::PolicyKind kind) {
  for (const PlannedKernel& planned : plan.kernels) {
    if (!traces::meets_in_grid(planned.kernel)) continue;
    const bool cut = std::ranges::count(plan.kernels, planned.of, &PlannedKernel::of) > 1;
    if (!cut && planned.also.empty()) continue;
    return fail_in("policy.kind", "the CTAs of kernel " + planned.of +
                                      " wait for each other at a barrier of the grid, and policy " +
                                      configs::PolicyKind_Name(kind) +
                                      " cuts the kernel or joins it with another one; expected a policy that launches it whole");
  }
  return {};
}

}  // namespace

Expected<Plan> make_plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) {
  const configs::PolicyKind kind = scenario.policy().kind();
  auto plan = policy_of(kind).plan(scenario, kernels);
  if (plan) {
    if (const auto begun = begin_as_left(scenario, scenario.gpu().l2().bytes(), *plan); !begun)
      plan = std::unexpected(begun.error());
  }
  if (plan) {
    if (const auto whole = check_grids(*plan, kind); !whole) plan = std::unexpected(whole.error());
  }
  if (plan && scenario.launch() == configs::PROGRAMMATIC) launch_early(*plan);
  if (plan) return plan;
  Diagnostic problem = plan.error();
  if (problem.file.empty()) {
    problem.file = kernels.file();
    if (problem.path.empty()) problem.path = "policy";
  }
  problem.message = "policy " + configs::PolicyKind_Name(kind) + ": " + problem.message;
  return std::unexpected(std::move(problem));
}

}  // namespace warpfold::policies
