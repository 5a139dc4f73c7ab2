// Joins the warps of two kernels in one CTA, which ends with the later of the two: horizontal fusion.
// Source: Li et al., HFuse, CGO 2022; for attention kernels microsoft/vattention, pod_attn/fused_fwd_launch_template.h @ef3fff2
// (run_hfused_fwd): as many CTAs as the kernel with more, threads and shared memory added up.
#include "traces/validate.h"
#include "workloads/policies/join.h"

namespace warpfold::policies {
namespace {

class WarpInterleaved : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::WARP_INTERLEAVED; }
  std::string_view help() const override { return "the warps of two kernels in one CTA (warp_interleaved)"; }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    const Graph graph(scenario);
    const auto pair = find_pair(graph, scenario, scenario.policy().warp_interleaved().kernel(), "warp_interleaved.kernel");
    if (!pair) return std::unexpected(pair.error());
    auto plan = plan_as_written(scenario, kernels);
    if (!plan) return plan;
    auto joined = interleave_warps(plan->kernels[pair->front()].kernel, plan->kernels[pair->back()].kernel);
    if (!joined) return std::unexpected(joined.error());
    if (const auto valid = traces::validate(*joined, kernels.file()); !valid) return std::unexpected(valid.error());
    replace_pair(graph, *pair, std::move(*joined), *plan);
    return plan;
  }
};

}  // namespace

const Policy& warp_interleaved() {
  static const WarpInterleaved policy;
  return policy;
}

}  // namespace warpfold::policies
