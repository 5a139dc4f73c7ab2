// What a run has come to: sums over the SMs of each class.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/gpu/gpu_run.h"
#include "sim/sm/alternative_bounds.h"

namespace warpfold::sim {
namespace {

// Scales a count of the simulated SM to all SMs of its stratum: in proportion to instructions where the others have `less`.
class OfClass {
 public:
  OfClass(const ClassRun& class_run, uint64_t instructions, uint64_t less)
      : sms_(class_run.sms), all_(class_run.sms * instructions), kept_(all_ - less) {}

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

// Of a launch that has not ended nothing is known of what others have less.
Stratum::Less less_of(const ClassRun& class_run, int launch) {
  return class_run.sm->state().launch_done(launch) ? class_run.stratum.less[launch] : Stratum::Less{};
}

OfClass of_class(const ClassRun& class_run) {
  uint64_t less = 0;
  for (size_t l = 0; l < class_run.ctas.size(); ++l) less += less_of(class_run, static_cast<int>(l)).work.instructions;
  return {class_run, class_run.sm->instructions(), less};
}

OfClass of_class(const ClassRun& class_run, int launch) {
  return {class_run, class_run.sm->account().launch(launch).instructions, less_of(class_run, launch).work.instructions};
}

// In proportion to the bytes that the launch has asked for.
OfClass of_bytes(const ClassRun& class_run, int launch) {
  return {class_run, class_run.sm->account().launch(launch).requested_bytes, less_of(class_run, launch).work.bytes};
}

}  // namespace

// What was skipped, by SM class and length of the period.
FoldReport GpuRun::fold_report() const {
  FoldReport report;
  report.mode = fold_.mode == FoldMode::kOff ? Folded::kOff : Folded::kNone;
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    const ClassRun& class_run = class_runs_[m];
    report.instructions_of_classes += class_run.sm->instructions();
    report.instructions_replayed += class_run.replayed();
    if (!class_run.folding) continue;
    report.instructions_shared += class_run.shared();
    report.memo_hits += class_run.memo_hits;
    for (const auto& [cycles, period] : class_run.periods()) {
      report.mode = std::max(report.mode, Folded::kExact);
      report.periods.push_back({static_cast<uint32_t>(m), cycles, period.instructions, period.repeats, true});
    }
    for (const auto& [cycles, period] : class_run.sampled_periods()) {
      report.mode = Folded::kBounded;
      report.periods.push_back({static_cast<uint32_t>(m), cycles, period.instructions, period.repeats, false});
    }
  }
  if (skip_check_) {
    report.skips = skip_check_->skips();
    report.skips_checked = skip_check_->checked();
  }
  const double of_strata = strata_uncertainty();
  const auto sampled = [](const ClassRun& class_run) { return !class_run.stratum.others.empty(); };
  if (std::ranges::any_of(class_runs_, sampled)) report.mode = Folded::kBounded;
  if (report.mode == Folded::kBounded) report.error_bound = fold_.error + of_strata;
  return report;
}

// Of the launch of which SMs that were not simulated may end latest.
double GpuRun::strata_uncertainty() const {
  double most = 0;
  for (size_t l = 0; l < released_.size(); ++l) {
    Cycle start = kNever;
    for (const ClassRun& class_run : class_runs_) {
      const LaunchProgress& progress = class_run.sm->state().progress[l];
      if (progress.done > 0) start = std::min(start, progress.start);
    }
    std::vector<LaunchEnd> simulated;
    std::vector<LaunchEnd> others;
    for (const ClassRun& class_run : class_runs_) {
      const LaunchProgress& progress = class_run.sm->state().progress[l];
      const Stratum& stratum = class_run.stratum;
      if (progress.done == 0) continue;
      simulated.push_back(launch_end(class_run.sms, stratum.shares, l, static_cast<double>(progress.end - start)));
      for (const Stratum::Other& other : stratum.others) others.push_back(launch_end(other.sm_class.sms, other.shares, l, 0));
    }
    most = std::max(most, latest_end_uncertainty(simulated, others));
  }
  return most;
}

// SMs that have received the same make one. Where each SM is a class run of its own, its lists are what it has received.
size_t GpuRun::sm_classes() const {
  size_t others = 0;
  std::set<std::vector<CtaList>, InOrder> received;
  for (const ClassRun& class_run : class_runs_) {
    others += class_run.stratum.others.size();
    received.insert(class_run.ctas);
  }
  return all_sms_ ? received.size() : class_runs_.size() + others;
}

Outcome GpuRun::collect() const {
  Outcome outcome;
  outcome.fold = fold_report();
  outcome.folds = {std::make_shared<const FoldReport>(outcome.fold)};
  outcome.sm_classes = static_cast<uint32_t>(sm_classes());
  outcome.sms_simulated = static_cast<uint32_t>(class_runs_.size());
  outcome.whole_chip = all_sms_;
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
  for (size_t which = 0; which < alternative_bounds_.size(); ++which)
    outcome.alternative_bounds.push_back(collect_alternative_bounds(which));
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
  timeline.lanes = use_lanes(spec_);
  for (const ClassRun& class_run : class_runs_) {
    SmTimeline& one = timeline.sms.emplace_back(class_run.timeline->timeline(launch_spans(*class_run.sm)));
    one.sms = class_run.sms;
    one.stands_for_others = !class_run.stratum.others.empty();
  }
  return timeline;
}

// `lost` says what an SM of the launch has lost to a culprit by a resource.
template <typename Lost>
std::vector<Losses> GpuRun::collect_absences(Lost lost) const {
  std::vector<Losses> absent(released_.size());
  for (const ClassRun& class_run : class_runs_) {
    const OfClass of = of_class(class_run);
    for (size_t culprit = 0; culprit < absent.size(); ++culprit) {
      for (int r = 0; r < kContended; ++r)
        absent[culprit][r] += of(lost(*class_run.sm, static_cast<int>(culprit), static_cast<Contended>(r)));
    }
  }
  return absent;
}

AlternativeBounds GpuRun::collect_alternative_bounds(size_t which) const {
  AlternativeBounds other;
  other.same = std::ranges::all_of(class_runs_, [&](const ClassRun& class_run) { return same_under(*class_run.sm, which); });
  for (int launch = 0; launch < static_cast<int>(released_.size()); ++launch) {
    other.absent.push_back(collect_absences(
        [&](const Sm& sm, int culprit, Contended resource) { return absent_under(sm, which, launch, culprit, resource); }));
  }
  return other;
}

void GpuRun::collect_kernel(int launch, KernelCounters& counters) const {
  counters.start_cycle = kNever;
  counters.cta_limit = images_[launch].ctas_per_sm;
  counters.cta_limiter = images_[launch].limiter;
  for (const ClassRun& class_run : class_runs_) {
    const LaunchAccount& account = class_run.sm->account().launch(launch);
    if (class_run.sm->state().progress[launch].done > 0)
      counters.start_cycle = std::min(counters.start_cycle, class_run.sm->state().progress[launch].start);
    counters.end_cycle = std::max(counters.end_cycle, class_run.sm->state().progress[launch].end);
    const Stratum::Less less = less_of(class_run, launch);
    counters.ctas += class_run.sms * class_run.sm->state().progress[launch].done - less.ctas;
    counters.instructions += class_run.sms * account.instructions - less.work.instructions;
    const OfClass of = of_bytes(class_run, launch);
    const uint64_t from_l1 = of(account.l1_bytes);
    counters.l2_bytes += class_run.sms * account.requested_bytes - less.work.bytes - from_l1;
    counters.l2_bytes_served += class_run.sms * account.served_bytes - less.work.bytes - from_l1;
    counters.dram_bytes += of(account.dram_bytes);
  }
  if (counters.start_cycle == kNever) counters.start_cycle = 0;
  collect_segments(launch, counters);
  counters.absent = collect_absences([launch](Sm& sm, int culprit, Contended resource) {
    return sm.account().lost_of(launch, culprit, Account::Waiter::kAbsent, resource);
  });
  collect_company(launch, counters);
}

// Some warps of a CTA exit before it ends: of its warp slots' time together, the share that its warps are resident of all of it.
void GpuRun::collect_company(int launch, KernelCounters& counters) const {
  __extension__ using Wide = unsigned __int128;
  std::vector<uint64_t> held(released_.size());
  for (const ClassRun& class_run : class_runs_) {
    const OfClass of = of_class(class_run, launch);
    for (size_t other = 0; other < held.size(); ++other)
      held[other] += of(class_run.sm->account().beside(launch, static_cast<int>(other)));
  }
  const uint64_t all = held[static_cast<size_t>(launch)];
  counters.beside.assign(held.size(), 0);
  for (size_t other = 0; other < held.size() && all > 0; ++other) {
    if (other != static_cast<size_t>(launch))
      counters.beside[other] = static_cast<uint64_t>(Wide{counters.resident_warp_cycles} * held[other] / all);
  }
}

// A scaled sum of instructions is off by rounding. The segment that issues most takes the difference.
void GpuRun::collect_segments(int launch, KernelCounters& counters) const {
  constexpr auto kSelected = static_cast<size_t>(WarpState::kSelected);
  const auto launches = static_cast<int>(released_.size());
  for (const Segment& segment : images_[launch].segments)
    counters.segments.push_back({segment, {}, std::vector<Losses>(launches), {}, {}, {}, {}, std::vector<Losses>(launches)});
  for (const ClassRun& class_run : class_runs_) {
    const Account& account = class_run.sm->account();
    const OfClass of = of_class(class_run, launch);
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
    for (const ClassRun& class_run : class_runs_) total += of_class(class_run)(of(*class_run.sm));
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
  const auto add = [&](std::string name, uint64_t busy) { outcome.resources.push_back({std::move(name), busy, 0}); };
  add("issue_slot", sum([](const Sm& sm) { return sm.instructions(); }));
  for (const isa::PipeRow& row : isa::kMathPipes) {
    if (spec_.has(row.pipe)) add(std::string(row.name), pipe(row.pipe));
  }
  add("wgmma", sum([](const Sm& sm) { return sm.wgmma().busy_cycles(); }));
  if (spec_.has(isa::Pipe::kTcgen05)) add("tcgen05", sum([](const Sm& sm) { return sm.tcgen05().busy_cycles(); }));
  add("register_read_ports", sum([](const Sm& sm) { return port_reads(sm); }));
  add("memory_issue", pipe(isa::Pipe::kMemory) * spec_.memory_issue_interval);
  add("shared_memory", sum([](const Sm& sm) { return sm.memory().wavefronts(); }));
  add("sm_ingress", sum([](const Sm& sm) { return sm.memory().memory().ingress_bytes(); }));
  add("l2_read", sum([](const Sm& sm) { return sm.memory().memory().l2_read_bytes(); }));
  add("l2_write", sum([](const Sm& sm) { return sm.memory().memory().l2_write_bytes(); }));
  add("dram", sum([](const Sm& sm) { return sm.memory().memory().dram_read_bytes() + sm.memory().memory().dram_written_bytes(); }));
}

void settle_resources(const Spec& spec, Outcome& outcome) {
  const uint64_t cycles = outcome.total_cycles;
  const uint64_t sm_cycles = cycles * spec.memory.sm_count;
  const uint64_t sub_core_cycles = sm_cycles * spec.sub_cores;
  const MemorySpec& memory = spec.memory;
  std::map<std::string, uint64_t> capacities = {
      {"issue_slot", sub_core_cycles * spec.issue_width / spec.issue_interval},
      {"wgmma", sm_cycles},
      {"tcgen05", sm_cycles},
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
