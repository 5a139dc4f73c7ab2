// Adds the warps that make random numbers to the CTAs of GEMMs as a role of their own, like producer or epilogue warps. They start
// and end with the GEMM's CTA, need no launch, and share its registers and shared memory.
#include <algorithm>

#include "configs/escape/quoted.h"
#include "traces/validate.h"
#include "workloads/common/occupancy.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/merge.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

bool is_gemm(const configs::Kernel& kernel) {
  return kernel.has_hopper_gemm() || kernel.has_blackwell_gemm() || kernel.has_ampere_gemm();
}

Expected<int> find_guest(const configs::Scenario& scenario, const Graph& graph) {
  const configs::WarpSpecialized& options = scenario.policy().warp_specialized();
  if (options.has_guest()) return graph.index(options.guest());
  int guest = -1;
  for (int k = 0; k < scenario.kernel_size(); ++k) {
    if (!scenario.kernel(k).has_philox()) continue;
    if (guest >= 0) return fail("there is more than one Philox kernel; name one as warp_specialized.guest");
    guest = k;
  }
  if (guest < 0) return fail("there is no Philox kernel; name a warp_specialized.guest");
  return guest;
}

Expected<std::vector<int>> find_hosts(const configs::Scenario& scenario, const Graph& graph, int guest) {
  std::vector<int> hosts;
  for (const std::string& name : scenario.policy().warp_specialized().host()) {
    hosts.push_back(graph.index(name));
    if (graph.may_overlap(hosts.back(), guest)) continue;
    return fail("kernel " + escape::quoted(name) + " cannot run beside " + escape::quoted(scenario.kernel(guest).name()) +
                ": one waits for the other");
  }
  if (!hosts.empty()) return hosts;
  for (const int partner : graph.partners(guest)) {
    if (is_gemm(scenario.kernel(partner))) hosts.push_back(partner);
  }
  if (hosts.empty()) return fail("no GEMM may run beside kernel " + escape::quoted(scenario.kernel(guest).name()));
  return hosts;
}

// Reports a CTA that can never fit. The simulator would refuse it as well, but here the message can name the cause.
Expected<void> check_fit(const configs::Gpu& gpu, const traces::Kernel& merged, const std::string& guest) {
  const workloads::CtaFootprint cta{merged.warps_per_cta(), merged.registers_per_thread, merged.shared_memory_bytes};
  const workloads::CtaUse use = workloads::cta_use(gpu, cta);
  const bool shared_memory_fits = merged.shared_memory_bytes <= gpu.sm().shared_memory().bytes_per_cta_max();
  if (shared_memory_fits && use.registers <= gpu.sm().registers() && use.warps <= gpu.sm().warp_slots()) return {};
  return fail("a CTA of " + escape::quoted(merged.name) + " with the warps of " + escape::quoted(guest) +
              " does not fit an SM: it needs " + std::to_string(use.warps) + " warps, " + std::to_string(use.registers) +
              " registers and " + std::to_string(merged.shared_memory_bytes) + " bytes of shared memory; there are " +
              std::to_string(gpu.sm().warp_slots()) + ", " + std::to_string(gpu.sm().registers()) + " and " +
              std::to_string(gpu.sm().shared_memory().bytes_per_cta_max()));
}

// Removes the guest's launch. Hosts inherit its predecessors; its successors wait for all hosts.
void take_out(const Graph& graph, int guest, const std::vector<int>& hosts, Plan& plan) {
  const auto wait_for = [](PlannedKernel& kernel, int other) {
    if (std::ranges::find(kernel.after, other) == kernel.after.end()) kernel.after.push_back(other);
  };
  for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k) {
    if (graph.precedes(guest, k)) {
      for (const int host : hosts) wait_for(plan.kernels[k], host);
    }
    if (!graph.precedes(k, guest)) continue;
    for (const int host : hosts) wait_for(plan.kernels[host], k);
  }
  plan.kernels.erase(plan.kernels.begin() + guest);
  for (PlannedKernel& kernel : plan.kernels) {
    std::erase(kernel.after, guest);
    for (int& other : kernel.after) other -= other > guest ? 1 : 0;
  }
}

class WarpSpecialized : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::WARP_SPECIALIZED; }
  std::string_view help() const override { return "the random-number warps inside the GEMMs' CTAs (warp_specialized)"; }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    const Graph graph(scenario);
    const auto guest = find_guest(scenario, graph);
    if (!guest) return std::unexpected(guest.error());
    const auto hosts = find_hosts(scenario, graph, *guest);
    if (!hosts) return std::unexpected(hosts.error());
    auto plan = plan_as_written(scenario, kernels);
    if (!plan) return plan;
    if (const auto done = merge_all(scenario, kernels.file(), *guest, *hosts, *plan); !done) return std::unexpected(done.error());
    take_out(graph, *guest, *hosts, *plan);
    return plan;
  }
  // Choices: the guest's warps per host CTA, in whole warpgroups.
  OpenSettings open(const configs::Scenario& scenario, workloads::KernelMaker& /*kernels*/) const override {
    OpenSettings open;
    if (scenario.policy().warp_specialized().has_warps()) return open;
    for (const uint32_t warps : {4, 8}) {
      configs::Policy& choice = open.choices.emplace_back(scenario.policy());
      choice.mutable_warp_specialized()->set_warps(warps);
    }
    return open;
  }

 private:
  // Divides the guest's passes by the hosts' instructions. The last host also gets the remainder from rounding.
  static Expected<void> merge_all(const configs::Scenario& scenario, const std::string& file, int guest,
                                  const std::vector<int>& hosts, Plan& plan) {
    const traces::Kernel& rng = plan.kernels[guest].kernel;
    const auto of_ctas = passes_of(rng);
    if (!of_ctas) return std::unexpected(of_ctas.error());
    const configs::WarpSpecialized& options = scenario.policy().warp_specialized();
    const uint32_t warps = options.has_warps() ? options.warps() : rng.warps_per_cta();
    const uint64_t passes = (*of_ctas * rng.warps_per_cta() + warps - 1) / warps;
    uint64_t total = 0;
    for (const int host : hosts) total += traces::issued_instructions(plan.kernels[host].kernel);
    uint64_t given = 0;
    for (const int host : hosts) {
      const uint64_t instructions = traces::issued_instructions(plan.kernels[host].kernel);
      const uint64_t part = part_of(passes, instructions, total);
      const uint64_t own = host == hosts.back() ? passes - given : part;
      given += own;
      auto merged = merge(plan.kernels[host].kernel, rng, warps, own);
      if (!merged) return std::unexpected(merged.error());
      if (const auto fit = check_fit(scenario.gpu(), *merged, rng.name); !fit) return std::unexpected(fit.error());
      if (const auto valid = traces::validate(*merged, file); !valid) return std::unexpected(valid.error());
      plan.kernels[host].kernel = std::move(*merged);
      plan.kernels[host].also = {scenario.kernel(guest).name()};
    }
    return {};
  }
};

}  // namespace

const Policy& warp_specialized() {
  static const WarpSpecialized policy;
  return policy;
}

}  // namespace warpfold::policies
