// One kernel after the other, in the order written, as in a single stream.
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

class Sequential : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::SEQUENTIAL; }
  std::string_view help() const override { return "one kernel after the other, in the scenario's order"; }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    auto plan = plan_as_written(scenario, kernels);
    if (plan) plan->serialise = true;
    return plan;
  }
};

}  // namespace

const Policy& sequential() {
  static const Sequential policy;
  return policy;
}

}  // namespace warpfold::policies
