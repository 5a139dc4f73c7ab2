#include "tools/warpfold/figures/reason.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tools/report/number_text.h"
#include "workloads/policies/graph.h"

namespace warpfold::cli {

using report::fixed;

namespace {

constexpr double kLeastLoss = 0.01;  // of the run; less is not worth a phrase where no other policy is faster

struct Loss {
  double cycles = 0;
  std::string text;
};

// One kernel of the scenario and what became of it.
struct Party {
  const configs::Alone* alone = nullptr;
  std::vector<const configs::KernelResult*> parts;
  uint64_t busy = 0;      // cycles of its parts together
  bool critical = false;  // had it ended earlier, so had the run
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

  std::string worst() const {
    std::vector<Loss> losses = slowdowns();
    losses.push_back(idle_sms());
    for (size_t p = 0; p < parties_.size(); ++p) losses.push_back(not_overlapped(p));
    const auto most = std::ranges::max_element(losses, {}, &Loss::cycles);
    const double least = result_.rank() > 1 ? result_.fold().error_bound() : kLeastLoss;
    if (most->cycles > least * static_cast<double>(result_.total_cycles())) return most->text;
    const auto longest = std::ranges::max_element(parties_, {}, [](const Party& party) { return party.critical ? party.busy : 0; });
    return longest->alone->name() + ", bound by " + longest->alone->bound_by();
  }

 private:
  struct Span {
    uint64_t cycles;
    std::vector<const configs::KernelResult*> running;
  };

  // The run between one start or end of a kernel and the next.
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

  // Time in which both this kernel and one that could have run beside it ran without the other.
  Loss not_overlapped(size_t party) const {
    Loss loss;
    for (const int partner : graph_.partners(static_cast<int>(party))) {
      const Party& one = parties_[party];
      const Party& other = parties_[static_cast<size_t>(partner)];
      const auto both = static_cast<double>(std::min(cycles_by_itself(one), cycles_by_itself(other)));
      if (both > loss.cycles)
        loss = {both, one.alone->name() + " and " + other.alone->name() + " not overlapping for " + time(both)};
    }
    return loss;
  }

  // From the end of the run backwards: what ended last, what had ended last when that began, and so on. A kernel that is not among
  // them may be slowed down at no cost.
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

  // What critical kernels need more than alone, together where the cause is the same. On part of the chip a kernel takes longer for
  // that alone, which is no loss by itself: SMs without work are.
  std::vector<Loss> slowdowns() const {
    std::map<std::string, std::pair<double, std::string>> by_cause;  // cycles, victims
    for (const Party& victim : parties_) {
      if (!victim.critical) continue;
      const double share = static_cast<double>(victim.parts.front()->sms()) / result_.provenance().scenario().gpu().sm_count();
      const double extra = static_cast<double>(victim.busy) * share - static_cast<double>(victim.alone->cycles());
      if (extra <= 0) continue;
      auto& [cycles, victims] = by_cause[cause(victim, extra / static_cast<double>(victim.busy))];
      cycles += extra;
      victims += (victims.empty() ? "" : ", ") + victim.alone->name();
    }
    std::vector<Loss> losses;
    for (const auto& [cause, loss] : by_cause)
      losses.push_back({loss.first, loss.second + ", " + time(loss.first) + " slower than alone: " + cause});
    return losses;
  }

  std::string cause(const Party& victim, double lost) const {
    if (const auto& also = victim.parts.front()->also(); !also.empty()) return "the kernel also does the work of " + also[0];
    uint64_t resident = 0;
    double warps = 0;
    for (const configs::KernelResult* part : victim.parts) {
      resident += part->resident_warp_cycles();
      warps += part->occupancy().average_warps() * static_cast<double>(part->cycles()) / static_cast<double>(victim.busy);
    }
    const configs::LedgerEntry* theft = largest_theft(victim);
    const double taken = theft == nullptr ? 0 : static_cast<double>(theft->warp_cycles()) / static_cast<double>(resident);
    constexpr double kFewer = 0.9;  // of the warps that it has alone
    if (warps < kFewer * victim.alone->average_warps() && taken < lost) {
      return fixed(warps, 1) + " warps an SM instead of " + fixed(victim.alone->average_warps(), 1);
    }
    if (theft != nullptr) return theft->resource() + " held by " + party_of(theft->culprit());
    return victim.parts.size() > 1 ? "cut into " + std::to_string(victim.parts.size()) + " launches" : "no single resource";
  }

  std::string party_of(const std::string& kernel) const {
    return std::ranges::find(result_.kernels(), kernel, &configs::KernelResult::name)->of();
  }

  const configs::LedgerEntry* largest_theft(const Party& victim) const {
    const auto own = [&](const std::string& name) {
      return std::ranges::any_of(victim.parts, [&](const auto* part) { return part->name() == name; });
    };
    const configs::LedgerEntry* largest = nullptr;
    for (const configs::LedgerEntry& entry : result_.ledger()) {
      if (!own(entry.victim()) || own(entry.culprit())) continue;
      if (largest == nullptr || entry.warp_cycles() > largest->warp_cycles()) largest = &entry;
    }
    return largest;
  }

  // SMs that are kept for kernels of which none runs.
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
            "idle SMs, up to " + std::to_string(most) + " of " + std::to_string(chip) + ": as much as the chip for " + time(idle)};
  }

  const configs::Result& result_;
  policies::Graph graph_;
  std::vector<Party> parties_;
  std::vector<Span> spans_;
};

}  // namespace

std::string reason_of(const configs::Result& result) { return Reasons(result).worst(); }

}  // namespace warpfold::cli
