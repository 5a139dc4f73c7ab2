// Results of a run: sums over the SMs of each class.
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
#include "sim/sampling/sm_sample.h"
#include "sim/sampling/work.h"
#include "sim/sm/alternative_bounds.h"

namespace warpfold::sim {
namespace {

// Returns the work of all CTAs of a launch, from its programs.
Work held_by(const KernelImage& image) {
  WorkTable table(image);
  Work work;
  for (const traces::CtaRun& run : image.kernel->grid) work = work + table.of_cta(run.cta_class) * run.count;
  return work;
}

}  // namespace

// Reports the skipped periods by SM class and length.
FoldReport GpuRun::fold_report() const {
  FoldReport report;
  report.mode = fold_.mode == FoldMode::kOff ? Folded::kOff : Folded::kNone;
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    const ClassRun& class_run = class_runs_[m];
    report.instructions_of_classes += class_run.sm->instructions();
    report.instructions_replayed += class_run.replayed();
    if (!class_run.folding) continue;
    for (const auto& [cycles, period] : class_run.folding->periods()) {
      report.mode = std::max(report.mode, Folded::kExact);
      report.periods.push_back({static_cast<uint32_t>(m), cycles, period.instructions, period.repeats, true});
    }
    for (const auto& [cycles, period] : class_run.folding->sampled_periods()) {
      report.mode = Folded::kBounded;
      report.periods.push_back({static_cast<uint32_t>(m), cycles, period.instructions, period.repeats, false});
    }
  }
  if (skip_check_) {
    report.skips = skip_check_->skips();
    report.skips_checked = skip_check_->checked();
  }
  if (sampled()) report.mode = Folded::kBounded;
  if (report.mode == Folded::kBounded) report.error_bound = fold_.error;
  return report;
}

// True if the simulated SMs are a sample. Such a run has one launch, and all of its classes are sampled.
bool GpuRun::sampled() const { return class_runs_.front().sampled; }

// Returns the scale from a sample's counts to the launch's work. A sample of SMs runs about as many instructions as the
// launch's programs hold, and requests about as many bytes; the scale makes them equal.
GpuRun::Scale GpuRun::scale(uint64_t Work::*of) const {
  if (!sampled() || !ended(0)) return {};
  Scale scale{.held = held_by(images_.front()).*of, .counted = 0};
  for (const ClassRun& class_run : class_runs_) {
    const LaunchAccount& account = class_run.sm->account().launch(0);
    scale.counted += class_run.sms * (of == &Work::instructions ? account.instructions : account.requested_bytes);
  }
  return scale;
}

// Returns the number of SM classes. If every SM is simulated, SMs that have received the same CTAs count as one class.
// With a sample, every SM that it represents counts as a class, since unequal CTAs give each SM other work.
size_t GpuRun::sm_classes() const {
  std::set<std::vector<CtaList>> received;
  uint64_t sms = 0;
  for (const ClassRun& class_run : class_runs_) {
    received.insert(class_run.ctas);
    sms += class_run.sms;
  }
  if (sampled()) return sms;
  return all_sms_ ? received.size() : class_runs_.size();
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
    SmTimeline& one = timeline.sms.emplace_back(end_timeline(*class_run.sm).timeline(launch_spans(*class_run.sm)));
    one.sms = class_run.sms;
    one.stands_for_others = class_run.sampled;
  }
  return timeline;
}

// Sums warp-cycles that were absent, by culprit and resource. `lost` returns those of one SM.
template <typename Lost>
std::vector<Losses> GpuRun::collect_absences(Lost lost) const {
  const Scale scale = this->scale(&Work::instructions);
  std::vector<Losses> absent(released_.size());
  for (const ClassRun& class_run : class_runs_) {
    for (size_t culprit = 0; culprit < absent.size(); ++culprit) {
      for (int r = 0; r < kContended; ++r)
        absent[culprit][r] += scale(class_run.sms * lost(*class_run.sm, static_cast<int>(culprit), static_cast<Contended>(r)));
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
  const Scale by_bytes = scale(&Work::bytes);
  for (const ClassRun& class_run : class_runs_) {
    const LaunchAccount& account = class_run.sm->account().launch(launch);
    if (class_run.sm->state().progress[launch].done > 0)
      counters.start_cycle = std::min(counters.start_cycle, class_run.sm->state().progress[launch].start);
    counters.end_cycle = std::max(counters.end_cycle, class_run.sm->state().progress[launch].end);
    counters.ctas += class_run.sms * class_run.sm->state().progress[launch].done;
    counters.instructions += class_run.sms * account.instructions;
    const uint64_t from_l1 = by_bytes(class_run.sms * account.l1_bytes);
    counters.l2_bytes += class_run.sms * account.requested_bytes - from_l1;
    counters.l2_bytes_served += class_run.sms * account.served_bytes - from_l1;
    counters.dram_bytes += by_bytes(class_run.sms * account.dram_bytes);
  }
  if (by_bytes.held > 0) {
    counters.l2_bytes += by_bytes.held - by_bytes.counted;
    counters.l2_bytes_served += by_bytes.held - by_bytes.counted;
  }
  if (sampled() && ended(launch)) {
    counters.ctas = images_[launch].kernel->ctas();
    counters.instructions = traces::issued_instructions(*images_[launch].kernel);
  }
  if (counters.start_cycle == kNever) counters.start_cycle = 0;
  collect_segments(launch, counters);
  counters.absent = collect_absences([launch](Sm& sm, int culprit, Contended resource) {
    return sm.account().lost_of(launch, culprit, Account::Waiter::kAbsent, resource);
  });
  collect_co_residency(launch, counters);
}

// Converts time of warp slots to resident warp-cycles. A CTA holds its warp slots until it ends, but some of its warps
// exit earlier. The share of slot time that is spent beside a launch is taken as the share of resident warp-cycles.
void GpuRun::collect_co_residency(int launch, KernelCounters& counters) const {
  __extension__ using Wide = unsigned __int128;
  std::vector<uint64_t> held(released_.size());
  for (const ClassRun& class_run : class_runs_) {
    for (size_t other = 0; other < held.size(); ++other)
      held[other] += class_run.sms * class_run.sm->account().beside(launch, static_cast<int>(other));
  }
  const uint64_t all = held[static_cast<size_t>(launch)];
  counters.beside.assign(held.size(), 0);
  for (size_t other = 0; other < held.size() && all > 0; ++other) {
    if (other != static_cast<size_t>(launch))
      counters.beside[other] = static_cast<uint64_t>(Wide{counters.resident_warp_cycles} * held[other] / all);
  }
}

// Rounding leaves a scaled sum of instructions slightly off. The segment that issues most takes the difference.
void GpuRun::collect_segments(int launch, KernelCounters& counters) const {
  constexpr auto kSelected = static_cast<size_t>(WarpState::kSelected);
  const auto launches = static_cast<int>(released_.size());
  const Scale scale = this->scale(&Work::instructions);
  for (const Segment& segment : images_[launch].segments)
    counters.segments.push_back({segment, {}, std::vector<Losses>(launches), {}, {}, {}, {}, std::vector<Losses>(launches)});
  for (const ClassRun& class_run : class_runs_) {
    const Account& account = class_run.sm->account();
    const auto of = [&](uint64_t count) { return scale(class_run.sms * count); };
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
  const Scale scale = this->scale(&Work::instructions);
  const auto sum = [&](auto of) {
    uint64_t total = 0;
    for (const ClassRun& class_run : class_runs_) total += class_run.sms * of(*class_run.sm);
    return scale(total);
  };
  const auto pipe = [&](isa::Pipe which) {
    return sum([&](Sm& sm) {
      uint64_t total = 0;
      for (uint32_t c = 0; c < spec_.sub_cores; ++c)
        total += sm.sub_core(static_cast<int>(c)).settle(sm).pipe_cycles[static_cast<int>(which)];
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
    // L2 writes dirty bytes back whenever DRAM has nothing to read. Bytes beyond DRAM's capacity have not been written
    // by the end.
    if (use.name == "dram") use.busy = std::min(use.busy, use.capacity);
  }
}

}  // namespace warpfold::sim
