// Runs streams side by side: an earlier kernel places CTAs until none is left, and later kernels take the room that it leaves.
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

class Concurrent : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::CONCURRENT; }
  std::string_view help() const override { return "streams side by side, left-over placement in priority and stream order"; }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    return plan_side_by_side(scenario, kernels);
  }
};

}  // namespace

const Policy& concurrent() {
  static const Concurrent policy;
  return policy;
}

}  // namespace warpfold::policies
