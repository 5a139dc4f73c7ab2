// Kernels of higher priority go first. On hardware, a stream's priority only orders CTAs that wait for placement: running CTAs are
// not displaced, and no warp scheduler is known to consider it (CUDA programming guide, "Stream Priorities"). CONCURRENT already
// does this with Kernel.priority. PRIORITY also orders instructions, an upper bound on the effect that priorities could have.
#include <algorithm>
#include <limits>

#include "workloads/policies/graph.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

bool any_order(const Plan& plan, const Graph& graph) {
  for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k) {
    const auto differs = [&](int other) { return plan.kernels[other].priority != plan.kernels[k].priority; };
    if (std::ranges::any_of(graph.partners(k), differs)) return true;
  }
  return false;
}

class Priority : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::PRIORITY; }
  std::string_view help() const override {
    return "CTAs placed by kernel priority, as stream priorities do (by_priority; default: Kernel.priority)";
  }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    auto plan = plan_side_by_side(scenario, kernels);
    if (!plan) return plan;
    const configs::ByPriority& options = scenario.policy().by_priority();
    const Graph graph(scenario);
    for (int i = 0; i < options.order_size(); ++i) {
      plan->kernels[graph.index(options.order(i))].priority = std::numeric_limits<int>::max() - i;
    }
    if (!any_order(*plan, graph))
      return fail("kernels that may overlap have equal priorities; state priority or by_priority.order");
    plan->issue_by_priority = options.issue();
    return plan;
  }
  // Choices: either of two streams first.
  OpenSettings open(const configs::Scenario& scenario, workloads::KernelMaker& /*kernels*/) const override {
    OpenSettings open;
    const auto sides = Graph(scenario).sides();
    const auto states = [](const configs::Kernel& kernel) { return kernel.has_priority(); };
    if (!scenario.policy().by_priority().order().empty() || !sides || std::ranges::any_of(scenario.kernel(), states)) return open;
    for (const std::vector<int>& side : *sides) {
      configs::Policy& choice = open.choices.emplace_back(scenario.policy());
      for (const std::string& name : names_of(scenario, side)) choice.mutable_by_priority()->add_order(name);
    }
    return open;
  }
};

}  // namespace

const Policy& priority() {
  static const Priority policy;
  return policy;
}

}  // namespace warpfold::policies
