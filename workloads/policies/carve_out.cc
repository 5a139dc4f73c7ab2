// Reserves a share of every SM for a kernel, which also limits the kernel while other kernels run: the paper's way to make room for
// random numbers beside a GEMM.
#include <cmath>

#include "configs/escape/quoted.h"
#include "configs/resources.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

uint32_t share(double percent, uint32_t whole) { return static_cast<uint32_t>(std::llround(percent / 100 * whole)); }

Expected<traces::PlacementBounds> reserve(const configs::Reservation& reservation, const configs::Sm& sm) {
  const traces::PlacementBounds bounds{
      .reserved = true,
      .reserved_registers = share(reservation.register_percent(), sm.registers()),
      .reserved_shared_memory = share(reservation.shared_memory_percent(), sm.shared_memory().bytes()),
      .reserved_warps = share(reservation.warp_slot_percent(), sm.warp_slots())};
  if (bounds.reserved_warps > 0) return bounds;
  return fail("the reservation for kernel " + escape::quoted(reservation.kernel()) + " rounds to no warp slot of " +
              std::to_string(sm.warp_slots()));
}

class CarveOut : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::CARVE_OUT; }
  std::string_view help() const override { return "a share of each SM reserved for a kernel while others run (reserve)"; }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    if (scenario.policy().reserve().empty()) return fail("needs at least one reserve { kernel: ... }");
    auto plan = plan_side_by_side(scenario, kernels);
    if (!plan) return plan;
    const Graph graph(scenario);
    for (int r = 0; r < scenario.policy().reserve_size(); ++r) {
      const configs::Reservation& reservation = scenario.policy().reserve(r);
      const auto bounds = reserve(reservation, configs::with_scaled_capacities(scenario.gpu()).sm());
      if (!bounds) return fail_in("policy.reserve[" + std::to_string(r) + "]", bounds.error().message);
      static_cast<traces::PlacementBounds&>(plan->kernels[graph.index(reservation.kernel())]) = *bounds;
    }
    return plan;
  }
};

}  // namespace

const Policy& carve_out() {
  static const CarveOut policy;
  return policy;
}

}  // namespace warpfold::policies
