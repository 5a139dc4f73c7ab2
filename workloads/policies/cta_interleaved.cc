// Joins CTAs of two kernels in one launch. Each SM draws them in turn, so every SM holds CTAs of both: SM-aware CTA scheduling.
// Source: Kamath et al., POD-Attention, arXiv 2410.18038, figure 9; microsoft/vattention, pod_attn/fused_fwd_kernel.h @ef3fff2
// (compute_fused_tb_attn).
#include "traces/validate.h"
#include "workloads/policies/join.h"

namespace warpfold::policies {
namespace {

class CtaInterleaved : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::CTA_INTERLEAVED; }
  std::string_view help() const override { return "CTAs of two kernels in one launch, in turn on every SM (cta_interleaved)"; }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    const Graph graph(scenario);
    const configs::CtaInterleaved& options = scenario.policy().cta_interleaved();
    const auto pair = find_pair(graph, scenario, options.kernel(), "cta_interleaved.kernel");
    if (!pair) return std::unexpected(pair.error());
    auto plan = plan_as_written(scenario, kernels);
    if (!plan) return plan;
    const Tickets tickets = options.tickets().empty() ? Tickets{} : Tickets{options.tickets(0), options.tickets(1)};
    auto joined = interleave_ctas(plan->kernels[pair->front()].kernel, plan->kernels[pair->back()].kernel, tickets,
                                  scenario.gpu().sm_count());
    if (!joined) return std::unexpected(joined.error());
    if (const auto valid = traces::validate(*joined, kernels.file()); !valid) return std::unexpected(valid.error());
    replace_pair(graph, *pair, std::move(*joined), *plan);
    return plan;
  }
};

}  // namespace

const Policy& cta_interleaved() {
  static const CtaInterleaved policy;
  return policy;
}

}  // namespace warpfold::policies
