#include "tools/warpfold/figures/slowdown.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/account/accounting.h"

namespace warpfold::cli {
namespace {

constexpr std::array kDependences = {
    sim::WarpState::kWait, sim::WarpState::kShortScoreboard, sim::WarpState::kLongScoreboard,  sim::WarpState::kBarrier,
    sim::WarpState::kGmma, sim::WarpState::kNoInstruction,   sim::WarpState::kBranchResolving, sim::WarpState::kSleeping,
    sim::WarpState::kDrain};

__extension__ using Wide = unsigned __int128;

uint64_t cycles_of(const sim::KernelCounters& counters) { return counters.end_cycle - counters.start_cycle; }

// Returns the warp-cycles by resource that the kernel's warps waited for `culprit`, over all segments.
sim::Losses lost_to(const sim::KernelCounters& counters, size_t culprit) {
  sim::Losses sum{};
  for (const sim::SegmentCounters& segment : counters.segments) {
    for (size_t r = 0; r < sum.size(); ++r) sum[r] += segment.lost[culprit][r];
  }
  return sum;
}

using States = std::array<uint64_t, sim::kWarpStates>;

uint64_t sum_of(const std::vector<sim::Losses>& by_culprit) {
  uint64_t sum = 0;
  for (const sim::Losses& losses : by_culprit) sum = std::accumulate(losses.begin(), losses.end(), sum);
  return sum;
}

// Returns `inherited` or `hidden`, summed over all segments.
States sum_of(const sim::KernelCounters& counters, States sim::SegmentCounters::* states) {
  States sum{};
  for (const sim::SegmentCounters& segment : counters.segments) {
    for (size_t s = 0; s < sum.size(); ++s) sum[s] += (segment.*states)[s];
  }
  return sum;
}

// Returns the waits as they would be if neither other kernels nor the kernel itself held a resource.
States without_contention(const sim::KernelCounters& counters) {
  States sum{};
  for (const sim::SegmentCounters& segment : counters.segments) {
    for (size_t s = 0; s < sum.size(); ++s) sum[s] += segment.states[s] + segment.hidden_in_all[s] - segment.inherited_in_all[s];
  }
  return sum;
}

// Returns the change in these waits that the kernel's own use of resources causes, modulo 2^64: waits may also become shorter.
States behind_itself(const sim::KernelCounters& counters) {
  States sum{};
  for (const sim::SegmentCounters& segment : counters.segments) {
    for (size_t s = 0; s < sum.size(); ++s)
      sum[s] += segment.inherited_in_all[s] - segment.hidden_in_all[s] - (segment.inherited[s] - segment.hidden[s]);
  }
  return sum;
}

// Returns the cycles that each culprit took from the kernel's warps and requests.
std::vector<sim::Losses> taken_from(const sim::KernelCounters& counters, size_t victim) {
  std::vector<sim::Losses> taken(counters.absent.size());
  for (const sim::SegmentCounters& segment : counters.segments) {
    for (size_t culprit = 0; culprit < taken.size(); ++culprit) {
      if (culprit == victim) continue;
      for (size_t r = 0; r < sim::kContended; ++r)
        taken[culprit][r] += segment.lost[culprit][r] + segment.requests_lost[culprit][r];
    }
  }
  return taken;
}

std::string name_of(size_t resource) { return std::string(sim::contended_name(static_cast<sim::Contended>(resource))); }

// Splits the excess warp-cycles (T together - T alone) * W into causes. T is the kernel's time, R its resident warp-cycles, and W =
// R alone / T alone its resident warps alone. If the kernel had W warps for all of T together, R together - R alone would equal the
// excess; the difference between the two is lost residency.
class Decomposition {
 public:
  Decomposition(const sim::KernelCounters& together, const sim::KernelCounters& alone)
      : together_(together),
        alone_(alone),
        warps_(static_cast<double>(alone.resident_warp_cycles) / static_cast<double>(std::max<uint64_t>(cycles_of(alone), 1))),
        excess_(std::llround(static_cast<double>(cycles_of(together)) * warps_) -
                static_cast<int64_t>(alone.resident_warp_cycles)) {}

  void add(const std::string& kind, const std::string& culprit, const std::string& resource, int64_t warp_cycles) {
    if (warp_cycles == 0) return;
    configs::Loss loss;
    loss.set_kind(kind);
    loss.set_culprit(culprit);
    loss.set_resource(resource);
    loss.set_warp_cycles(warp_cycles);
    loss.set_cycles(static_cast<double>(warp_cycles) / warps_);
    left_ -= warp_cycles;
    losses_.push_back(std::move(loss));
  }
  // Returns the difference of the two runs, which may be below 0.
  static int64_t more(uint64_t together, uint64_t alone) { return static_cast<int64_t>(together - alone); }

  void add_contention(const policies::Plan& plan, size_t index) {
    for (size_t culprit = 0; culprit < plan.kernels.size(); ++culprit) {
      if (culprit == index) continue;
      const sim::Losses lost = lost_to(together_, culprit);
      for (size_t r = 0; r < lost.size(); ++r)
        add("contention", plan.kernels[culprit].kernel.name, name_of(r), static_cast<int64_t>(lost[r]));
    }
    const sim::Losses own = lost_to(together_, index);
    const sim::Losses own_alone = lost_to(alone_, 0);
    for (size_t r = 0; r < own.size(); ++r) add("own_queueing", "", name_of(r), more(own[r], own_alone[r]));
  }

  // Lost residency is T together * W - R together, as far as other launches kept warps out. The count of absent warps may be
  // higher: it includes the time before the kernel's first CTA, and warps beyond the average W.
  void add_absences(const policies::Plan& plan) {
    const int64_t missing = excess_ - more(together_.resident_warp_cycles, alone_.resident_warp_cycles);
    const uint64_t lost = std::min(static_cast<uint64_t>(std::max<int64_t>(missing, 0)), sum_of(together_.absent));
    add_in_proportion("residency", plan, together_.absent, lost);
  }

  // An inherited delay records no culprit except "others". The sum is split in proportion to the cycles that each culprit took from
  // the kernel.
  void add_inherited(const policies::Plan& plan, size_t index) {
    const States states = sum_of(together_, &sim::SegmentCounters::inherited);
    add_in_proportion("inherited", plan, taken_from(together_, index), std::accumulate(states.begin(), states.end(), uint64_t{0}));
  }

  void add_dependences() {
    const States hidden = sum_of(together_, &sim::SegmentCounters::hidden);
    const States own = behind_itself(together_);
    const States own_alone = behind_itself(alone_);
    const States waits = without_contention(together_);
    const States waits_alone = without_contention(alone_);
    for (const sim::WarpState state : kDependences) {
      const auto s = static_cast<size_t>(state);
      const std::string name(sim::state_name(state));
      add("hidden", "", name, -static_cast<int64_t>(hidden[s]));
      add("own_queueing", "", name, more(own[s], own_alone[s]));
      add("dependence", "", name, more(waits[s], waits_alone[s]));
    }
  }

  // Adds `all` warp-cycles, split in proportion to `by`: [culprit], by resource.
  void add_in_proportion(const std::string& kind, const policies::Plan& plan, const std::vector<sim::Losses>& by, uint64_t all) {
    const uint64_t sum = sum_of(by);
    if (sum == 0) return;
    uint64_t seen = 0;
    uint64_t given = 0;
    for (size_t culprit = 0; culprit < by.size(); ++culprit) {
      for (size_t r = 0; r < sim::kContended; ++r) {
        seen += by[culprit][r];
        const auto until = static_cast<uint64_t>(static_cast<Wide>(all) * seen / sum);
        add(kind, plan.kernels[culprit].kernel.name, name_of(r), static_cast<int64_t>(until - given));
        given = until;
      }
    }
  }

  // The unexplained remainder makes the sum exact.
  void finish(configs::Slowdown& slowdown) {
    const int64_t rest = left_ + excess_;
    add("rest", "", "", rest);
    std::ranges::stable_sort(losses_, std::ranges::greater{},
                             [](const configs::Loss& loss) { return std::abs(loss.warp_cycles()); });
    slowdown.set_solo_cycles(cycles_of(alone_));
    slowdown.set_cycles(cycles_of(together_));
    slowdown.set_warps(warps_);
    int64_t unexplained = 0;
    for (const configs::Loss& loss : losses_) {
      if (loss.kind() == "dependence" || loss.kind() == "rest") unexplained += loss.warp_cycles();
      *slowdown.add_losses() = loss;
    }
    slowdown.set_unexplained_cycles(static_cast<double>(unexplained) / warps_);
    if (excess_ > 0) slowdown.set_explained(static_cast<double>(excess_ - unexplained) / static_cast<double>(excess_));
  }

 private:
  const sim::KernelCounters& together_;
  const sim::KernelCounters& alone_;
  double warps_;
  int64_t excess_;
  int64_t left_ = 0;
  std::vector<configs::Loss> losses_;
};

}  // namespace

void fill_slowdown(const policies::Plan& plan, size_t index, const sim::KernelCounters& together, const sim::KernelCounters& alone,
                   configs::KernelResult& result) {
  if (!sim::kAccounting || alone.resident_warp_cycles == 0) return;
  Decomposition decomposition(together, alone);
  decomposition.add_contention(plan, index);
  decomposition.add_absences(plan);
  decomposition.add_inherited(plan, index);
  decomposition.add_dependences();
  decomposition.finish(*result.mutable_slowdown());
}

}  // namespace warpfold::cli
