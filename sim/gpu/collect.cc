// What a run has come to: sums over the SMs of each class.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/gpu/epochs.h"
#include "sim/gpu/gpu.h"

namespace warpfold::sim {
namespace {

// What all SMs of a class come to by what the one that was simulated does: in proportion to their instructions where it stands for
// others, which have `less`.
class OfClass {
 public:
  OfClass(const Member& member, uint64_t instructions, uint64_t less)
      : sms_(member.sms), all_(member.sms * instructions), kept_(all_ - less) {}

  uint64_t operator()(uint64_t of_one) const {
    if (kept_ == all_ || all_ == 0) return sms_ * of_one;
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>(Wide{of_one} * sms_ * kept_ / all_);
  }

 private:
  uint64_t sms_;
  uint64_t all_;
  uint64_t kept_;
};

OfClass of_class(const Member& member, const std::vector<bool>& released) {
  uint64_t less = 0;
  for (size_t l = 0; l < released.size(); ++l) less += released[l] ? member.less[l].work.instructions : 0;
  return {member, member.sm->instructions(), less};
}

OfClass of_class(const Member& member, int launch) {
  return {member, member.sm->account().launch(launch).instructions, member.less[launch].work.instructions};
}

}  // namespace

// What was skipped, by SM class and length of the period.
FoldReport GpuRun::fold_report() const {
  FoldReport report;
  report.mode = fold_.mode == FoldMode::kOff ? Folded::kOff : Folded::kNone;
  for (size_t m = 0; m < members_.size(); ++m) {
    const Member& member = members_[m];
    if (member.merged) report.mode = Folded::kBounded;
    report.instructions_of_classes += member.sm->instructions();
    report.instructions_replayed += member.replayed();
    if (!member.folder) continue;
    report.instructions_shared += member.shared();
    report.shortcuts += member.shortcuts;
    for (const auto& [cycles, period] : member.periods()) {
      report.mode = std::max(report.mode, Folded::kExact);
      report.periods.push_back({static_cast<uint32_t>(m), cycles, period.instructions, period.repeats, true});
    }
    for (const auto& [cycles, period] : member.bounded_periods()) {
      report.mode = Folded::kBounded;
      report.periods.push_back({static_cast<uint32_t>(m), cycles, period.instructions, period.repeats, false});
    }
  }
  if (report.mode == Folded::kBounded) report.error_bound = fold_.error;
  return report;
}

Outcome GpuRun::collect() const {
  Outcome outcome;
  outcome.fold = fold_report();
  outcome.folds = {std::make_shared<const FoldReport>(outcome.fold)};
  outcome.sm_classes = static_cast<uint32_t>(sm_classes_);
  outcome.sms_simulated = static_cast<uint32_t>(members_.size());
  outcome.whole_chip = chip_.has_value();
  const size_t launches = released_.size();
  for (size_t l = 0; l < launches; ++l) {
    KernelCounters counters;
    collect_kernel(static_cast<int>(l), counters);
    outcome.total_cycles = std::max(outcome.total_cycles, counters.end_cycle);
    outcome.kernels.push_back(std::move(counters));
  }
  collect_ledger(outcome);
  collect_resources(outcome);
  if (timeline_) outcome.timeline = collect_timeline();
  for (size_t which = 0; which < other_bounds_.size(); ++which) outcome.other_bounds.push_back(collect_other_bounds(which));
  return outcome;
}

void GpuRun::collect_ledger(Outcome& outcome) const {
  const size_t launches = outcome.kernels.size();
  outcome.ledger.resize(launches);
  for (size_t victim = 0; victim < launches; ++victim) {
    outcome.ledger[victim].resize(launches);
    for (const SegmentCounters& segment : outcome.kernels[victim].segments) {
      for (size_t culprit = 0; culprit < launches; ++culprit) {
        for (int r = 0; r < kContended; ++r)
          outcome.ledger[victim][culprit][r] += segment.lost[culprit][r] + segment.requests_lost[culprit][r];
      }
    }
  }
}

Timeline GpuRun::collect_timeline() const {
  Timeline timeline;
  timeline.lanes = Sm::use_lanes(spec_);
  for (const Member& member : members_) {
    SmTimeline& one = timeline.sms.emplace_back(member.timeline->timeline(member.sm->launch_spans()));
    one.sms = member.sms;
    one.stands_for_others = member.merged;
  }
  return timeline;
}

// `lost` says what an SM of the launch has lost to a culprit by a resource.
template <typename Lost>
std::vector<Losses> GpuRun::collect_absences(Lost lost) const {
  std::vector<Losses> absent(released_.size());
  for (const Member& member : members_) {
    for (size_t culprit = 0; culprit < absent.size(); ++culprit) {
      for (int r = 0; r < kContended; ++r)
        absent[culprit][r] += member.sms * lost(*member.sm, static_cast<int>(culprit), static_cast<Contended>(r));
    }
  }
  return absent;
}

OtherBounds GpuRun::collect_other_bounds(size_t which) const {
  OtherBounds other;
  other.same = std::ranges::all_of(members_, [&](const Member& member) { return member.sm->same_under(which); });
  for (int launch = 0; launch < static_cast<int>(released_.size()); ++launch) {
    other.absent.push_back(collect_absences(
        [&](const Sm& sm, int culprit, Contended resource) { return sm.absent_under(which, launch, culprit, resource); }));
  }
  return other;
}

void GpuRun::collect_kernel(int launch, KernelCounters& counters) const {
  counters.start_cycle = kNever;
  counters.cta_limit = images_[launch].ctas_per_sm;
  counters.cta_limiter = images_[launch].limiter;
  for (const Member& member : members_) {
    const LaunchAccount& account = member.sm->account().launch(launch);
    if (member.sm->ctas_done(launch) > 0) counters.start_cycle = std::min(counters.start_cycle, member.sm->launch_start(launch));
    counters.end_cycle = std::max(counters.end_cycle, member.sm->launch_end(launch));
    const MergedClass::Less& less = member.less[launch];
    counters.ctas += member.sms * member.sm->ctas_done(launch) - less.ctas;
    counters.instructions += member.sms * account.instructions - less.work.instructions;
    counters.l2_bytes += member.sms * account.l2_requested_bytes - less.work.bytes;
    counters.l2_bytes_served += member.sms * account.l2_served_bytes - less.work.bytes;
    counters.dram_bytes += of_class(member, launch)(account.dram_bytes);
  }
  if (counters.start_cycle == kNever) counters.start_cycle = 0;
  collect_segments(launch, counters);
  counters.absent = collect_absences([launch](Sm& sm, int culprit, Contended resource) {
    return sm.account().lost_of(launch, culprit, Account::Waiter::kAbsent, resource);
  });
}

// Where classes have been merged, what instructions lack of their sum, or have more, is taken from where the kernel issues most.
void GpuRun::collect_segments(int launch, KernelCounters& counters) const {
  constexpr auto kSelected = static_cast<size_t>(WarpState::kSelected);
  const auto launches = static_cast<int>(released_.size());
  for (const Segment& segment : images_[launch].segments)
    counters.segments.push_back({segment, {}, std::vector<Losses>(launches), {}, {}, {}, {}, std::vector<Losses>(launches)});
  for (const Member& member : members_) {
    const Account& account = member.sm->account();
    const OfClass of = of_class(member, launch);
    for (size_t i = 0; i < counters.segments.size(); ++i) {
      SegmentCounters& segment = counters.segments[i];
      const uint32_t row = account.row(launch, static_cast<uint32_t>(i));
      for (int s = 0; s < kWarpStates; ++s) {
        const auto state = static_cast<WarpState>(s);
        segment.states[s] += of(account.cycles(row, state));
        segment.inherited[s] += of(account.inherited(row, state, Account::Cause::kOthers));
        segment.hidden[s] += of(account.hidden(row, state, Account::Cause::kOthers));
        segment.inherited_in_all[s] += of(account.inherited(row, state, Account::Cause::kAll));
        segment.hidden_in_all[s] += of(account.hidden(row, state, Account::Cause::kAll));
      }
      for (int culprit = 0; culprit < launches; ++culprit) {
        for (int r = 0; r < kContended; ++r) {
          const auto resource = static_cast<Contended>(r);
          segment.lost[culprit][r] += of(account.lost(row, culprit, Account::Waiter::kWarp, resource));
          segment.requests_lost[culprit][r] += of(account.lost(row, culprit, Account::Waiter::kRequest, resource));
        }
      }
    }
  }
  auto& busiest = *std::ranges::max_element(counters.segments, {}, [&](const auto& each) { return each.states[kSelected]; });
  for (const SegmentCounters& segment : counters.segments) {
    for (int s = 0; s < kWarpStates; ++s) counters.states[s] += segment.states[s];
  }
  busiest.states[kSelected] += counters.instructions - counters.states[kSelected];
  counters.states[kSelected] = counters.instructions;
  counters.resident_warp_cycles = std::reduce(counters.states.begin(), counters.states.end());
}

void GpuRun::collect_resources(Outcome& outcome) const {
  const auto sum = [&](auto of) {
    uint64_t total = 0;
    for (const Member& member : members_) total += of_class(member, released_)(of(*member.sm));
    return total;
  };
  const auto pipe = [&](isa::Pipe which) {
    return sum([&](Sm& sm) {
      uint64_t total = 0;
      for (uint32_t c = 0; c < spec_.sub_cores; ++c)
        total += sm.sub_core(static_cast<int>(c)).use(sm).pipe_cycles[static_cast<int>(which)];
      return total;
    });
  };
  const auto beyond = [&](auto of) {
    return chip_ ? of(*chip_) : sum([&](const Sm& sm) { return of(sm.memory().memory().own()); });
  };
  const auto add = [&](std::string name, uint64_t busy) { outcome.resources.push_back({std::move(name), busy, 0}); };
  add("issue_slot", sum([](const Sm& sm) { return sm.instructions(); }));
  for (const isa::PipeRow& row : isa::kMathPipes) add(std::string(row.name), pipe(row.pipe));
  add("wgmma", sum([](const Sm& sm) { return sm.wgmma().busy_cycles(); }));
  add("register_read_ports", sum([](const Sm& sm) { return sm.port_reads(); }));
  add("memory_issue", pipe(isa::Pipe::kMemory) * spec_.memory_issue_interval);
  add("shared_memory", sum([](const Sm& sm) { return sm.memory().wavefronts(); }));
  add("sm_ingress", sum([](const Sm& sm) { return sm.memory().memory().ingress_bytes(); }));
  add("l2_read", beyond([](const ChipMemory& of) { return of.l2_read.served_bytes(); }));
  add("l2_write", beyond([](const ChipMemory& of) { return of.l2_write.served_bytes(); }));
  add("dram", beyond([](const ChipMemory& of) { return of.dram.requested_bytes(); }));
}

void settle_resources(const Spec& spec, Outcome& outcome) {
  const uint64_t cycles = outcome.total_cycles;
  const uint64_t sm_cycles = cycles * spec.memory.sm_count;
  const uint64_t sub_core_cycles = sm_cycles * spec.sub_cores;
  const MemorySpec& memory = spec.memory;
  std::map<std::string, uint64_t> capacities = {
      {"issue_slot", sub_core_cycles * spec.issue_width / spec.issue_interval},
      {"wgmma", sm_cycles},
      {"register_read_ports", spec.half_read_ports_per_bank * sub_core_cycles},
      {"memory_issue", spec.memory_issue_rate.of(sm_cycles)},
      {"shared_memory", spec.data_stage_rate.of(sm_cycles)},
      {"sm_ingress", sm_cycles * memory.ingress_milli_bytes_per_clk / 1000},
      {"l2_read", cycles * memory.l2_read_milli_bytes_per_clk / 1000},
      {"l2_write", cycles * memory.l2_write_milli_bytes_per_clk / 1000},
      {"dram", cycles * memory.dram_milli_bytes_per_clk / 1000},
  };
  for (const isa::PipeRow& row : isa::kMathPipes) capacities[std::string(row.name)] = sub_core_cycles;
  for (ResourceUse& use : outcome.resources) {
    use.capacity = capacities.at(use.name);
    // What is written leaves whenever nothing is read: by the end at most what DRAM can have moved.
    if (use.name == "dram") use.busy = std::min(use.busy, use.capacity);
  }
}

}  // namespace warpfold::sim
