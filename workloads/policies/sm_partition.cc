// Places kernels on disjoint sets of SMs, as green contexts (CUDA driver, cuDevSmResourceSplitByCount) and MPS's active thread
// percentage do. A kernel's set stays fixed while it runs, whichever other kernels have ended.
//
// Kernels that can never run at the same time can share a set: each stream gets a block of SMs, as wide as the largest share of its
// kernels.
#include <algorithm>
#include <cmath>
#include <map>

#include "configs/escape/quoted.h"
#include "workloads/policies/cache_shares.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

// Sizes of the sets of SMs that the driver makes: at least `least` SMs, in multiples of `multiple`. One set may be what the others
// leave. Source: CUDA Driver API 12.4, "Green Contexts".
struct SetSizes {
  uint32_t least;
  uint32_t multiple;

  bool allow(uint32_t sms) const { return sms >= least && sms % multiple == 0; }
};

SetSizes set_sizes(const configs::Gpu& gpu) {
  const std::string& architecture = gpu.architecture();
  if (architecture.starts_with("sm_7")) return {2, 2};
  if (architecture.starts_with("sm_8")) return {4, 2};
  return {8, 8};
}

uint32_t sms_of(const configs::SmShare& share, uint32_t chip) {
  if (share.has_sms()) return share.sms();
  return static_cast<uint32_t>(std::llround(share.percent() / 100 * chip));
}

// Computes the sets of SMs of a scenario's kernels, by position.
class Partition {
 public:
  explicit Partition(const configs::Scenario& scenario)
      : scenario_(scenario),
        chip_(scenario.gpu().sm_count()),
        graph_(scenario),
        sets_(static_cast<size_t>(scenario.kernel_size())),
        stated_(sets_.size()) {}

  Expected<std::vector<traces::SmRange>> divide() {
    if (const auto named = take_shares(); !named) return std::unexpected(named.error());
    if (const auto rest = share_rest(); !rest) return std::unexpected(rest.error());
    uint32_t first = 0;
    for (auto& [stream, width] : width_) {
      for (size_t k = 0; k < sets_.size(); ++k) {
        if (stream_of(k) != stream) continue;
        if (sets_[k].count == 0 && !overlaps(k)) continue;  // count 0: the whole chip
        sets_[k].first = first;
        if (sets_[k].count == 0) sets_[k].count = width;
      }
      first += width;
    }
    return sets_;
  }

  // Why kernel `k` has its set, unless the scenario states a share for it; empty if it does, or if it has the whole chip.
  std::string assumed(size_t k) const {
    if (sets_[k].count == 0 || stated_[k]) return "";
    const std::string set = "no sm_share, so a set of " + std::to_string(sets_[k].count) + " SMs: ";
    if (std::ranges::find(equal_, stream_of(k)) == equal_.end()) return set + "the widest share of its stream";
    if (equal_.size() == 1) return set + "what the other shares leave";
    const uint32_t rest = chip_ - taken_;
    const bool rounded = sets_[k].count != rest / equal_.size();
    return set + "an equal part of " + std::to_string(rest) + " SMs among " + std::to_string(equal_.size()) + " streams" +
           (rounded ? ", rounded to a size that the driver makes" : "");
  }

 private:
  uint32_t stream_of(size_t kernel) const { return scenario_.kernel(static_cast<int>(kernel)).stream(); }
  bool overlaps(size_t kernel) const { return !graph_.partners(static_cast<int>(kernel)).empty(); }

  Expected<void> take_shares() {
    for (int s = 0; s < scenario_.policy().sm_share_size(); ++s) {
      const configs::SmShare& share = scenario_.policy().sm_share(s);
      const uint32_t sms = sms_of(share, chip_);
      if (sms == 0)
        return fail_in("policy.sm_share[" + std::to_string(s) + "]",
                       "the share of kernel " + escape::quoted(share.kernel()) + " rounds to no SM of " + std::to_string(chip_));
      const int kernel = graph_.index(share.kernel());
      sets_[kernel].count = sms;
      stated_[static_cast<size_t>(kernel)] = true;
      uint32_t& width = width_[scenario_.kernel(kernel).stream()];
      width = std::max(width, sms);
    }
    uint64_t taken = 0;
    for (const auto& [stream, width] : width_) taken += width;
    if (taken > chip_) {
      return fail("the SM shares of the streams add up to " + std::to_string(taken) + " SMs; the GPU has " + std::to_string(chip_));
    }
    taken_ = static_cast<uint32_t>(taken);
    return {};
  }

  // Divides the remaining SMs equally among the streams without a stated share, in sizes that the driver makes. The last stream
  // gets the SMs that remain.
  Expected<void> share_rest() {
    std::vector<uint32_t>& streams = equal_;
    for (size_t k = 0; k < sets_.size(); ++k) {
      if (!overlaps(k) || width_.contains(stream_of(k))) continue;
      if (std::ranges::find(streams, stream_of(k)) == streams.end()) streams.push_back(stream_of(k));
    }
    if (width_.empty() && streams.empty()) return fail("no two kernels may run at the same time");
    std::ranges::sort(streams);
    const auto parts = static_cast<uint32_t>(streams.size());
    if (parts > chip_ - taken_) return fail("the SM shares leave nothing to " + std::to_string(parts) + " more streams");
    const SetSizes sizes = set_sizes(scenario_.gpu());
    uint32_t left = chip_ - taken_;
    for (uint32_t s = 0; s < parts; ++s) {
      const uint32_t even = left / (parts - s);
      const uint32_t driver = even / sizes.multiple * sizes.multiple;
      width_[streams[s]] = s + 1 < parts && sizes.allow(driver) ? driver : even;
      left -= width_[streams[s]];
    }
    return {};
  }

  const configs::Scenario& scenario_;
  uint32_t chip_;
  Graph graph_;
  std::vector<traces::SmRange> sets_;
  std::vector<bool> stated_;            // kernels with a share
  std::vector<uint32_t> equal_;         // streams without one that may overlap
  std::map<uint32_t, uint32_t> width_;  // SMs of each stream
  uint32_t taken_ = 0;
};

// Remakes a kernel for the size of its set, since some kernels size their grid by the chip and a program asks its context for it.
Expected<void> make_again(const configs::Scenario& scenario, workloads::KernelMaker& kernels, const traces::SmRange& set,
                          int position, Plan& plan) {
  plan.kernels[position].sms = set;
  if (set.count == 0) return {};
  configs::Gpu part = scenario.gpu();
  part.set_sm_count(set.count);
  auto kernel = kernels.make(scenario.kernel(position), part);
  if (!kernel) return std::unexpected(kernel.error().inside(path_of_kernel(position)));
  plan.kernels[position].kernel = std::move(*kernel);
  return {};
}

// States as an assumption of the kernels that their sets have sizes which the driver does not make.
void state_sizes(const configs::Gpu& gpu, Plan& plan) {
  const SetSizes sizes = set_sizes(gpu);
  std::map<uint32_t, uint32_t> odd;  // by first SM
  for (const PlannedKernel& planned : plan.kernels) {
    if (planned.sms.count > 0 && !sizes.allow(planned.sms.count)) odd[planned.sms.first] = planned.sms.count;
  }
  if (odd.size() < 2) return;
  for (PlannedKernel& planned : plan.kernels) {
    if (planned.sms.count == 0 || !odd.contains(planned.sms.first)) continue;
    planned.kernel.assumed.push_back("a set of " + std::to_string(planned.sms.count) + " SMs; the driver makes green contexts of " +
                                     std::to_string(sizes.least) + " SMs or more, in multiples of " +
                                     std::to_string(sizes.multiple));
  }
}

class SmPartition : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::SM_PARTITION; }
  std::string_view help() const override {
    return "kernels on disjoint sets of SMs: green contexts, MPS (sm_share; default: equal)";
  }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    Partition partition(scenario);
    const auto sets = partition.divide();
    if (!sets) return std::unexpected(sets.error());
    auto plan = plan_as_written(scenario, kernels);
    if (!plan) return plan;
    for (int k = 0; k < scenario.kernel_size(); ++k) {
      if (const auto made = make_again(scenario, kernels, (*sets)[k], k, *plan); !made) return std::unexpected(made.error());
      if (const std::string assumed = partition.assumed(static_cast<size_t>(k)); !assumed.empty())
        plan->kernels[static_cast<size_t>(k)].kernel.assumed.push_back(assumed);
    }
    if (const auto shared = share_caches(scenario, false, kernels, *plan); !shared) return std::unexpected(shared.error());
    state_sizes(scenario.gpu(), *plan);
    return plan;
  }
  // Choices: the SMs of the first of two streams, in sizes that the driver makes; the second stream gets the remaining SMs.
  OpenSettings open(const configs::Scenario& scenario, workloads::KernelMaker& /*kernels*/) const override {
    OpenSettings open;
    const auto sides = Graph(scenario).sides();
    if (!scenario.policy().sm_share().empty() || !sides) return open;
    const uint32_t chip = scenario.gpu().sm_count();
    const SetSizes sizes = set_sizes(scenario.gpu());
    for (uint32_t sms = 1; sms < chip; ++sms) {
      if (!sizes.allow(sms) && !sizes.allow(chip - sms)) continue;
      configs::Policy& choice = open.choices.emplace_back(scenario.policy());
      configs::SmShare& share = *choice.add_sm_share();
      share.set_kernel(scenario.kernel(sides->front().front()).name());
      share.set_sms(sms);
    }
    open.more = names_of(scenario, sides->front());
    open.less = names_of(scenario, sides->back());
    return open;
  }
};

}  // namespace

const Policy& sm_partition() {
  static const SmPartition policy;
  return policy;
}

}  // namespace warpfold::policies
