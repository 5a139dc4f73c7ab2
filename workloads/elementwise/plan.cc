#include "workloads/elementwise/plan.h"

namespace warpfold::workloads {

ElementwisePlan plan_elementwise(const configs::Elementwise& elementwise) {
  const auto or_default = [](uint32_t value, uint32_t otherwise) { return value != 0 ? value : otherwise; };
  ElementwisePlan plan{};
  plan.operation = elementwise.operation();
  const auto is = [&plan](auto... operations) { return ((plan.operation == operations) || ...); };
  plan.inputs = is(configs::ADD, configs::TRIAD) ? 2 : is(configs::FILL) ? 0 : 1;
  plan.flops = is(configs::COPY, configs::FILL, configs::NARROW) ? 0 : is(configs::TRIAD) ? 2 : 1;
  plan.element_bytes = or_default(elementwise.element_bytes(), 4);
  plan.access_bytes = or_default(elementwise.access_bytes(), 16);
  plan.stored_bytes = is(configs::NARROW) ? plan.access_bytes / 2 : plan.access_bytes;
  plan.accesses = or_default(elementwise.accesses_per_thread(), 1);
  plan.warps = or_default(elementwise.threads_per_cta(), 256) / ElementwisePlan::kWarpThreads;
  plan.elements = elementwise.elements();
  return plan;
}

}  // namespace warpfold::workloads
