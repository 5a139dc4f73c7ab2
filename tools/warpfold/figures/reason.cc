#include "tools/warpfold/figures/reason.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "tools/report/number_text.h"
#include "tools/warpfold/figures/binding.h"
#include "workloads/policies/graph.h"

namespace warpfold::cli {

using report::fixed;

namespace {

// States of warps that could issue if no unit or slot were held.
constexpr std::array<std::string_view, 5> kQueueing{"not_selected", "dispatch_stall", "math_pipe_throttle", "mio_throttle",
                                                    "lg_throttle"};
constexpr std::array<std::string_view, 7> kMemoryPath{"memory_issue", "shared_memory", "sm_ingress", "sm_egress",
                                                      "l2_read",      "l2_write",      "dram"};
constexpr double kLeastLoss = 0.01;  // of the run; below this, a run that no other policy beats gets no phrase

struct Loss {
  double cycles = 0;
  Reason reason;
};

// A kernel of the scenario with its parts in the result.
struct Party {
  const configs::Alone* alone = nullptr;
  std::vector<const configs::KernelResult*> parts;
  uint64_t busy = 0;      // cycles of its parts together
  bool critical = false;  // an earlier end of this kernel would end the run earlier
};

class Reasons {
 public:
  explicit Reasons(const configs::Result& result) : result_(result), graph_(result.provenance().scenario()) {
    for (const configs::Alone& alone : result.alone()) {
      Party party{&alone, {}, 0, false};
      for (const configs::KernelResult& kernel : result.kernels()) {
        if (kernel.of() != alone.name()) continue;
        party.parts.push_back(&kernel);
        party.busy += kernel.cycles();
      }
      parties_.push_back(std::move(party));
    }
    cut_time();
    find_critical();
  }

  Reason worst() const {
    std::vector<Loss> losses = slowdowns();
    losses.push_back(idle_sms());
    for (size_t p = 0; p < parties_.size(); ++p) losses.push_back(not_overlapped(p));
    for (const Party& party : parties_) losses.push_back(uneven_on_fewer_sms(party));
    const auto most = std::ranges::max_element(losses, {}, &Loss::cycles);
    const double least = result_.rank() > 1 ? result_.fold().error_bound() : kLeastLoss;
    const auto longest = std::ranges::max_element(parties_, {}, [](const Party& party) { return party.critical ? party.busy : 0; });
    const std::string& bound = longest->alone->bound_by();
    const double gain = result_.rank() > 1 ? 0 : headroom(bound);
    if (most->cycles > std::max(least, gain) * static_cast<double>(result_.total_cycles())) return most->reason;
    return {longest->alone->name() + ", bound by " + bound, relief_of(bound)};
  }

 private:
  // Returns the gain from more of a resource, as a share of the run: the gain ends when the next busiest resource is as busy.
  double headroom(const std::string& resource) const {
    double own = 0;
    double next = 0;
    for (const configs::Resource& each : result_.resources()) {
      double& most = relief_of(each.name()) == relief_of(resource) ? own : next;
      most = std::max(most, each.utilization());
    }
    return own - next;
  }

  struct Span {
    uint64_t cycles;
    std::vector<const configs::KernelResult*> running;
  };

  // Cuts the run into spans, each between one start or end of a kernel and the next.
  void cut_time() {
    std::set<uint64_t> edges;
    for (const configs::KernelResult& kernel : result_.kernels()) edges.insert({kernel.start_cycle(), kernel.end_cycle()});
    for (auto edge = edges.begin(); edge != edges.end() && std::next(edge) != edges.end(); ++edge) {
      Span span{*std::next(edge) - *edge, {}};
      for (const configs::KernelResult& kernel : result_.kernels()) {
        if (kernel.start_cycle() <= *edge && kernel.end_cycle() > *edge) span.running.push_back(&kernel);
      }
      spans_.push_back(std::move(span));
    }
  }

  std::string time(double cycles) const {
    return report::time_text(cycles * result_.total_time_us() / static_cast<double>(result_.total_cycles()));
  }

  uint64_t cycles_by_itself(const Party& party) const {
    uint64_t cycles = 0;
    for (const Span& span : spans_) {
      if (span.running.empty()) continue;
      const bool only = std::ranges::all_of(span.running, [&](const auto* each) { return each->of() == party.alone->name(); });
      if (only) cycles += span.cycles;
    }
    return cycles;
  }

  // Returns the time in which this kernel, and a kernel that could have run beside it, each ran without the other.
  Loss not_overlapped(size_t party) const {
    Loss loss;
    for (const int partner : graph_.partners(static_cast<int>(party))) {
      const Party& one = parties_[party];
      const Party& other = parties_[static_cast<size_t>(partner)];
      const auto both = static_cast<double>(std::min(cycles_by_itself(one), cycles_by_itself(other)));
      if (both > loss.cycles)
        loss = {both, {one.alone->name() + " and " + other.alone->name() + " not overlapping for " + time(both), ""}};
    }
    return loss;
  }

  // Marks the kernels on the critical path. Walks backwards from the end of the run: from the kernel that ended last to the kernel
  // that ended last before its start. A kernel off this path may become slower at no cost.
  void find_critical() {
    uint64_t begun = UINT64_MAX;
    while (begun > 0) {
      const configs::KernelResult* last = nullptr;
      for (const configs::KernelResult& kernel : result_.kernels()) {
        const bool earlier = kernel.end_cycle() <= begun && kernel.start_cycle() < begun;
        if (earlier && (last == nullptr || kernel.end_cycle() > last->end_cycle())) last = &kernel;
      }
      if (last == nullptr) return;
      for (Party& party : parties_) party.critical |= last->of() == party.alone->name();
      begun = last->start_cycle();
    }
  }

  // Returns the share of the chip's SMs that a kernel has.
  double share_of_sms(const Party& party) const {
    return static_cast<double>(party.parts.front()->sms()) / result_.provenance().scenario().gpu().sm_count();
  }

  // Time that a critical kernel on part of the chip's SMs takes, even alone, beyond the time in which it uses as much of the chip
  // as alone on all SMs. That fewer SMs take longer is no loss by itself; idle SMs are counted separately.
  Loss uneven_on_fewer_sms(const Party& party) const {
    if (!party.critical || !party.parts.front()->also().empty()) return {};
    double solo = 0;
    for (const configs::KernelResult* part : party.parts) solo += static_cast<double>(part->solo_cycles());
    const double extra = solo * share_of_sms(party) - static_cast<double>(party.alone->cycles());
    if (share_of_sms(party) == 1 || extra <= 0) return {};
    return {extra,
            {party.alone->name() + ", on " + std::to_string(party.parts.front()->sms()) + " SMs: uneven waves of CTAs lose " +
                 time(extra) + " of the chip",
             ""}};
  }

  // Returns the time that critical kernels lose to the others: beyond their time alone on the SMs that they have. Kernels with the
  // same cause are summed.
  std::vector<Loss> slowdowns() const {
    std::map<std::string, Slowed> by_cause;
    for (const Party& victim : parties_) {
      if (!victim.critical) continue;
      const configs::KernelResult& first = *victim.parts.front();
      const bool whole = victim.parts.size() == 1 && first.also().empty() && first.solo_cycles() > 0;
      const double alone =
          whole ? static_cast<double>(first.solo_cycles()) : static_cast<double>(victim.alone->cycles()) / share_of_sms(victim);
      const double extra = (static_cast<double>(victim.busy) - alone) * share_of_sms(victim);
      if (extra <= 0) continue;
      const Reason why = cause(victim);
      Slowed& slowed = by_cause[why.text];
      slowed.cycles += extra;
      slowed.victims += (slowed.victims.empty() ? "" : ", ") + victim.alone->name();
      slowed.resource = why.resource;
    }
    std::vector<Loss> losses;
    for (const auto& [cause, slowed] : by_cause) {
      losses.push_back(
          {slowed.cycles, {slowed.victims + ", " + time(slowed.cycles) + " slower than alone: " + cause, slowed.resource}});
    }
    return losses;
  }

  struct Slowed {
    double cycles = 0;
    std::string victims;
    std::string resource;
  };

  // Missing warps cost time only if the resident warps wait for results: in front of a held resource, more warps would only queue
  // as well. So the cause is either the longest queue behind other kernels, or latency that more warps would hide.
  //
  // If a kernel has all its warps and a resource binds it alone, its waits for results are waits for that resource, not latency.
  Reason cause(const Party& victim) const {
    if (const auto& also = victim.parts.front()->also(); !also.empty()) return {"the kernel also does the work of " + also[0], ""};
    const Waits waits = waits_of(victim);
    const std::string& bound = victim.alone->bound_by();
    const bool resource_binds =
        std::ranges::find(result_.resources(), bound, &configs::Resource::name) != result_.resources().end();
    const configs::Loss* missing = largest_absence(victim);
    const auto queue = std::ranges::max_element(waits.queues, {}, [](const auto& each) { return each.second.cycles; });
    if (queue != waits.queues.end() && (queue->second.cycles > waits.latency || (missing == nullptr && resource_binds)))
      return queued_at(queue->first, queue->second.holders());
    if (missing != nullptr) {
      return {fixed(waits.average_warps, 1) + " warps an SM instead of " + fixed(victim.alone->average_warps(), 1),
              relief_of(missing->resource())};
    }
    if (victim.parts.size() > 1) return {"cut into " + std::to_string(victim.parts.size()) + " launches", ""};
    if (waits.latency <= 0 || resource_binds) return {"no single resource", ""};
    return {bound, relief_of(bound)};
  }

  // Waits for a resource that other kernels held.
  struct Queue {
    double cycles = 0;
    std::map<std::string, double> by_culprit;

    std::string holders() const {
      const auto most = std::ranges::max_element(by_culprit, {}, [](const auto& each) { return each.second; });
      return most->first + (by_culprit.size() > 1 ? " and others" : "");
    }
  };

  // Memory instructions queue for the busiest resource on the memory path, so a full memory queue is blamed on that resource.
  Reason queued_at(const std::string& resource, const std::string& holders) const {
    const std::string held = resource + " held by " + holders;
    if (resource != "memory_queue") return {held, relief_of(resource)};
    const configs::Resource* busiest = nullptr;
    for (const configs::Resource& each : result_.resources()) {
      if (std::ranges::find(kMemoryPath, each.name()) == kMemoryPath.end()) continue;
      if (busiest == nullptr || each.utilization() > busiest->utilization()) busiest = &each;
    }
    if (busiest == nullptr) return {held, relief_of(resource)};
    return {held + ", which waits for " + busiest->name(), relief_of(busiest->name())};
  }

  // Waits of a slowed kernel's warps while other kernels were on their SM.
  struct Waits {
    std::map<std::string, Queue> queues;  // by resource
    double latency = 0;                   // waits that no held resource explains
    double average_warps = 0;
  };

  Waits waits_of(const Party& victim) const {
    Waits waits;
    for (const configs::KernelResult* part : victim.parts) {
      uint64_t together = 0;
      for (const configs::Company& company : part->beside()) together += company.warp_cycles();
      if (together == 0 || together > part->resident_warp_cycles()) together = part->resident_warp_cycles();
      uint64_t queued = 0;  // warp-cycles of the kernel's warps in queues, at first of any holder
      for (const configs::StateCycles& state : part->states()) {
        if (std::ranges::find(kQueueing, state.state()) != kQueueing.end()) queued += state.warp_cycles();
      }
      double behind_others = 0;
      for (const configs::Loss& loss : part->slowdown().losses()) {
        if (loss.kind() != "contention" && loss.kind() != "inherited") continue;
        const auto cycles = static_cast<double>(loss.warp_cycles());
        Queue& queue = waits.queues[loss.resource()];
        queue.cycles += cycles;
        queue.by_culprit[party_of(loss.culprit())] += cycles;
        behind_others += cycles;
        if (loss.kind() == "contention") queued -= std::min(queued, static_cast<uint64_t>(loss.warp_cycles()));
      }
      const double own = static_cast<double>(queued) / static_cast<double>(std::max<uint64_t>(part->resident_warp_cycles(), 1));
      waits.latency += static_cast<double>(together) * (1 - own) - behind_others;
      waits.average_warps +=
          part->occupancy().average_warps() * static_cast<double>(part->cycles()) / static_cast<double>(victim.busy);
    }
    return waits;
  }

  std::string party_of(const std::string& kernel) const {
    return std::ranges::find(result_.kernels(), kernel, &configs::KernelResult::name)->of();
  }

  // Returns the loss by missing warps that costs most; nullptr if none.
  static const configs::Loss* largest_absence(const Party& victim) {
    const configs::Loss* largest = nullptr;
    for (const configs::KernelResult* part : victim.parts) {
      for (const configs::Loss& loss : part->slowdown().losses()) {
        if (loss.kind() == "residency" && (largest == nullptr || loss.warp_cycles() > largest->warp_cycles())) largest = &loss;
      }
    }
    return largest;
  }

  // Returns the loss by SMs that are reserved for kernels of which none runs.
  Loss idle_sms() const {
    const uint64_t chip = result_.provenance().scenario().gpu().sm_count();
    double idle = 0;
    uint64_t most = 0;
    for (const Span& span : spans_) {
      uint64_t in_use = 0;
      for (const configs::KernelResult* kernel : span.running) in_use += kernel->sms();
      if (span.running.empty() || in_use >= chip) continue;
      most = std::max(most, chip - in_use);
      idle += static_cast<double>((chip - in_use) * span.cycles) / static_cast<double>(chip);
    }
    return {idle,
            {"idle SMs, up to " + std::to_string(most) + " of " + std::to_string(chip) + ": as much as the chip for " + time(idle),
             ""}};
  }

  const configs::Result& result_;
  policies::Graph graph_;
  std::vector<Party> parties_;
  std::vector<Span> spans_;
};

}  // namespace

Reason reason_of(const configs::Result& result) { return Reasons(result).worst(); }

}  // namespace warpfold::cli
