// Gives each kernel a quota on each SM, which it may not exceed while another kernel is present. Warped-Slicer (Xu et al., ISCA
// 2016) finds each kernel's CTAs from profiles. SMK (Wang et al., HPCA 2016) gives every kernel the same share of the resource that
// it needs most. SMK's rule needs no profile and is the default here.
#include <algorithm>
#include <array>

#include "configs/escape/quoted.h"
#include "configs/resources.h"
#include "workloads/common/occupancy.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

constexpr size_t kResources = 4;  // registers, shared memory, warp slots, CTA slots
using Amounts = std::array<uint64_t, kResources>;

Amounts capacity_of(const configs::Gpu& described) {
  const configs::Gpu gpu = configs::with_scaled_capacities(described);
  return {gpu.sm().registers(), gpu.sm().shared_memory().bytes(), gpu.sm().warp_slots(), gpu.sm().cta_slots()};
}

Amounts need_of(const configs::Gpu& gpu, const traces::Kernel& kernel) {
  const workloads::CtaUse use =
      workloads::cta_use(gpu, {kernel.warps_per_cta(), kernel.registers_per_thread, kernel.shared_memory_bytes});
  return {use.registers, use.shared_memory, use.warps, 1};
}

// The largest share of any resource that `ctas` CTAs occupy.
double dominant_share(const Amounts& need, const Amounts& capacity, uint64_t ctas) {
  double share = 0;
  for (size_t r = 0; r < kResources; ++r) {
    if (capacity[r] > 0) share = std::max(share, static_cast<double>(need[r] * ctas) / static_cast<double>(capacity[r]));
  }
  return share;
}

struct Party {
  int kernel;
  Amounts need;
  uint64_t most;  // CTAs per SM if the grid is spread evenly
  uint64_t ctas = 0;
};

bool fits(const std::vector<Party>& parties, const Party& next, const Amounts& capacity) {
  for (size_t r = 0; r < kResources; ++r) {
    uint64_t used = next.need[r];
    for (const Party& party : parties) used += party.need[r] * party.ctas;
    if (used > capacity[r]) return false;
  }
  return true;
}

void deal(std::vector<Party>& parties, const Amounts& capacity) {
  while (true) {
    Party* poorest = nullptr;
    for (Party& party : parties) {
      if (party.ctas == party.most || !fits(parties, party, capacity)) continue;
      const bool poorer = poorest == nullptr ||
                          dominant_share(party.need, capacity, party.ctas) < dominant_share(poorest->need, capacity, poorest->ctas);
      if (poorer) poorest = &party;
    }
    if (poorest == nullptr) return;
    ++poorest->ctas;
  }
}

class Sliced : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::SLICED; }
  std::string_view help() const override { return "a quota of each SM for every kernel (quota; default: equal dominant shares)"; }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    auto plan = plan_as_written(scenario, kernels);
    if (!plan) return plan;
    const Graph graph(scenario);
    for (const configs::Quota& quota : scenario.policy().quota()) {
      plan->kernels[graph.index(quota.kernel())].quota = {quota.ctas(), quota.warps(), quota.registers()};
    }
    if (!scenario.policy().quota().empty()) return plan;
    if (const auto fair = divide_fairly(scenario, graph, *plan); !fair) return std::unexpected(fair.error());
    return plan;
  }
  // Choices: CTAs per SM of the first of two kernels; the second gets as many as still fit.
  OpenSettings open(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    OpenSettings open;
    const auto sides = Graph(scenario).sides();
    if (!scenario.policy().quota().empty() || !sides || sides->front().size() > 1 || sides->back().size() > 1) return open;
    const auto plan = plan_as_written(scenario, kernels);
    if (!plan) return open;
    const Amounts capacity = capacity_of(scenario.gpu());
    std::vector<Party> parties{party_of(scenario, *plan, sides->front().front()), party_of(scenario, *plan, sides->back().front())};
    for (parties[0].ctas = 1; parties[0].ctas <= parties[0].most; ++parties[0].ctas) {
      parties[1].ctas = 0;
      while (parties[1].ctas < parties[1].most && fits(parties, parties[1], capacity)) ++parties[1].ctas;
      if (parties[1].ctas == 0) break;
      configs::Policy& choice = open.choices.emplace_back(scenario.policy());
      for (const Party& party : parties) {
        configs::Quota& quota = *choice.add_quota();
        quota.set_kernel(scenario.kernel(party.kernel).name());
        quota.set_ctas(static_cast<uint32_t>(party.ctas));
      }
    }
    open.more = names_of(scenario, sides->front());
    open.less = names_of(scenario, sides->back());
    return open;
  }

 private:
  static Party party_of(const configs::Scenario& scenario, const Plan& plan, int kernel) {
    const traces::Kernel& its = plan.kernels[kernel].kernel;
    const uint64_t sms = scenario.gpu().sm_count();
    return {kernel, need_of(scenario.gpu(), its), (its.ctas() + sms - 1) / sms};
  }

  // The kernel and, of every other stream, the partner with the largest dominant share. The kernel's quota is then valid beside any
  // of its partners.
  static std::vector<Party> parties_of(const configs::Scenario& scenario, const Graph& graph, const Plan& plan, int kernel) {
    const Amounts capacity = capacity_of(scenario.gpu());
    std::vector<Party> parties{party_of(scenario, plan, kernel)};
    for (const int partner : graph.partners(kernel)) {
      const Party its = party_of(scenario, plan, partner);
      const auto of_stream = std::ranges::find(parties, plan.kernels[partner].stream,
                                               [&](const Party& party) { return plan.kernels[party.kernel].stream; });
      if (of_stream == parties.end()) {
        parties.push_back(its);
      } else if (dominant_share(its.need, capacity, 1) > dominant_share(of_stream->need, capacity, 1)) {
        *of_stream = its;
      }
    }
    std::ranges::sort(parties, {}, &Party::kernel);
    return parties;
  }

  static Expected<void> divide_fairly(const configs::Scenario& scenario, const Graph& graph, Plan& plan) {
    bool any = false;
    for (int k = 0; k < scenario.kernel_size(); ++k) {
      std::vector<Party> parties = parties_of(scenario, graph, plan, k);
      if (parties.size() == 1) continue;
      any = true;
      deal(parties, capacity_of(scenario.gpu()));
      for (const Party& party : parties) {
        if (party.ctas == 0) {
          return fail("a CTA of kernel " + escape::quoted(scenario.kernel(party.kernel).name()) +
                      " does not fit an SM beside those of the others");
        }
        if (party.kernel == k) plan.kernels[k].quota.ctas = static_cast<uint32_t>(party.ctas);
      }
    }
    if (any) return {};
    return fail("no two kernels may run at the same time");
  }
};

}  // namespace

const Policy& sliced() {
  static const Sliced policy;
  return policy;
}

}  // namespace warpfold::policies
