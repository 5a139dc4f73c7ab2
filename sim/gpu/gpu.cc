#include "sim/gpu/gpu.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <utility>

#include "sim/gpu/distribution.h"

namespace warpfold::sim {
namespace {

// Placement order: higher priority first, then the lower stream, then as written.
std::vector<int> placement_order(const std::vector<Launch>& launches) {
  std::vector<int> order(launches.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) {
    if (launches[a].priority != launches[b].priority) return launches[a].priority > launches[b].priority;
    return launches[a].stream < launches[b].stream;
  });
  std::vector<int> rank(launches.size());
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int>(i);
  return rank;
}

// CTAs that an SM holds at a time when the kernel has the GPU, or `sms` of it, for itself.
uint32_t ctas_alone(const KernelImage& image, uint64_t sms) {
  return static_cast<uint32_t>(std::min<uint64_t>(image.ctas_per_sm, (image.kernel->ctas() + sms - 1) / sms));
}

std::vector<std::vector<int>> dependences(const std::vector<Launch>& launches, bool serialise) {
  std::vector<std::vector<int>> result(launches.size());
  for (size_t l = 0; l < launches.size(); ++l) {
    result[l] = launches[l].after;
    for (size_t earlier = 0; earlier < l; ++earlier) {
      if (serialise || launches[earlier].stream == launches[l].stream) result[l].push_back(static_cast<int>(earlier));
    }
  }
  return result;
}

}  // namespace

GpuRun::GpuRun(const Spec& spec, const std::vector<KernelImage>& images, const std::vector<Launch>& launches,
               const Options& options)
    : spec_(spec),
      images_(images),
      fold_(options.fold),
      timeline_(options.timeline),
      other_bounds_(options.other_bounds),
      depends_on_(dependences(launches, options.serialise)),
      released_(launches.size(), false) {
  if (options.issue_log != nullptr) fold_.mode = FoldMode::kOff;
  std::vector<const traces::Kernel*> kernels;
  std::vector<SmRange> ranges;
  for (const Launch& launch : launches) {
    kernels.push_back(launch.kernel);
    ranges.push_back(launch.sms);
  }
  std::vector<SmClass> classes = distribute(kernels, spec.memory.sm_count, ranges);
  sm_classes_ = classes.size();
  if (options.all_sms) {
    fold_.mode = FoldMode::kOff;
    chip_.emplace(spec.memory, 1);
    classes = each_sm(kernels, spec.memory.sm_count, ranges);
  }
  for (MergedClass& merged : merge_alike(std::move(classes), images, mergeable())) {
    members_.push_back({.sms = merged.sm_class.sms,
                        .ctas = std::move(merged.sm_class.ctas),
                        .merged = merged.merged,
                        .less = std::move(merged.less)});
  }
  for (Member& member : members_) start(member, launches, options.issue_log);
}

void GpuRun::start(Member& member, const std::vector<Launch>& launches, std::vector<IssueRecord>* issue_log) {
  const std::vector<int> rank = placement_order(launches);
  std::vector<SmLaunch> shares;
  for (size_t l = 0; l < launches.size(); ++l) {
    shares.push_back({launches[l], &images_[l], member.ctas[l], rank[l], launches[l].priority,
                      ctas_alone(images_[l], launches[l].sms.count > 0 ? launches[l].sms.count : spec_.memory.sm_count)});
  }
  member.sm = std::make_unique<Sm>(spec_, std::move(shares), chip_ ? &*chip_ : nullptr);
  member.sm->consider(other_bounds_);
  if (issue_log != nullptr) member.sm->log_issues(*issue_log, static_cast<uint32_t>(&member - members_.data()));
  if (timeline_) member.sm->record_timeline(TimelineLimits::for_each_of(members_.size()));
  if (fold_.mode == FoldMode::kOff) return;
  member.folder = std::make_unique<Folder>(fold_, *member.sm);
  member.sm->watch_with(*member.folder);
}

// The class that is simulated for another has more work: when the last one ends is not touched, only sums over SMs are.
double GpuRun::mergeable() const { return fold_.mode == FoldMode::kAuto ? fold_.error : 0; }

Outcome GpuRun::run() {
  while (true) {
    release_ready();
    meet();
    if (std::ranges::all_of(members_, [](const Member& member) { return member.next == kNever; })) break;
    if (chip_) {
      run_together();
      continue;
    }
    for (Member& member : members_) {
      if (member.sm != nullptr) advance(member);
      release_ready();  // before the next one runs: it may have waited for just this
    }
  }
  // In a deadlock those that have not parted hang alike.
  for (Member& member : members_) {
    if (member.sm != nullptr) part(members_, member, Parting::kAll, fold_);
  }
  for (Member& member : members_) {
    member.end_timeline();
    member.settle();
  }
  Outcome outcome = collect();
  outcome.deadlocked = deadlocked();
  if (outcome.deadlocked) {
    outcome.deadlock.report = deadlock_report();
  } else {
    for (const Member& member : members_) member.sm->account().check();
    check_conservation(outcome);
  }
  return outcome;
}

void GpuRun::advance(Member& member) {
  const Cycle limit = meetings_.empty() ? horizon(member) : std::min(horizon(member), *meetings_.begin());
  if (member.next >= limit) return;
  member.next = member.sm->run(limit);
  part(members_, member, member.sm->ends_sharing() ? Parting::kBeforeJump : Parting::kDifferent, fold_);
}

// Until a launch has ended on an SM and all have done their part of that cycle. The SM whose next thing to do is the earliest goes
// first, the lower index where two are even, up to where it may meet the others in memory; nobody gets behind the time that another
// has reached by more than what concerns it alone. Where launches wait for others, nobody runs further ahead than a launch end may
// take effect.
void GpuRun::run_together() {
  using Turn = std::pair<Cycle, size_t>;  // next thing to do, index
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (members_[m].next != kNever) turns.emplace(members_[m].next, m);
  }
  const bool all_released = std::ranges::all_of(released_, std::identity{});
  const Cycle launch = std::max<Cycle>(spec_.kernel_launch, 1);
  Cycle until = kNever;
  while (!turns.empty() && turns.top().first <= until) {
    const auto [now, m] = turns.top();
    turns.pop();
    Member& member = members_[m];
    member.next = member.sm->run_to_access(all_released ? kNever : now + launch);
    if (member.sm->stopped_at_launch_end()) until = now;
    if (member.next != kNever) turns.emplace(member.next, m);
  }
}

// What was issued is what the programs hold.
void GpuRun::check_conservation(const Outcome& outcome) const {
  for (size_t l = 0; l < outcome.kernels.size(); ++l) {
    const traces::Kernel& kernel = *images_[l].kernel;
    const uint64_t held = traces::issued_instructions(kernel);
    if (outcome.kernels[l].instructions == held && outcome.kernels[l].ctas == kernel.ctas()) continue;
    throw std::logic_error("kernel " + kernel.name + ": " + std::to_string(outcome.kernels[l].instructions) +
                           " instructions issued of " + std::to_string(held));
  }
}

void GpuRun::release_ready() {
  for (size_t l = 0; l < released_.size(); ++l) {
    if (released_[l]) continue;
    if (!std::ranges::all_of(depends_on_[l], [&](int d) { return released_[d] && ended(d); })) continue;
    Cycle at = 0;
    for (const int d : depends_on_[l]) at = std::max(at, end_of(d) + spec_.kernel_launch);
    released_[l] = true;
    if (fold_.mode != FoldMode::kOff && (at == 0 || spec_.kernel_launch > 0)) meetings_.insert(at);
    for (Member& member : members_) {
      if (member.sm == nullptr) continue;
      member.sm->release_launch(static_cast<int>(l), at);
      member.next = std::min(member.next, at);
    }
  }
}

// A launch begins at a time at which many SMs have nothing else to do: whatever they did before, they are in the same state then.
void GpuRun::meet() {
  while (!meetings_.empty()) {
    const Cycle at = *meetings_.begin();
    if (std::ranges::any_of(members_, [&](const Member& member) { return member.sm != nullptr && member.next < at; })) return;
    join_alike(members_, at, images_, spec_.cta_launch > 0, fold_);
    meetings_.erase(at);
  }
}

bool GpuRun::ended(int launch) const {
  return std::ranges::all_of(members_, [&](const Member& member) { return !member.sm || member.sm->launch_done(launch); });
}

Cycle GpuRun::end_of(int launch) const {
  Cycle end = 0;
  for (const Member& member : members_) {
    if (member.sm != nullptr) end = std::max(end, member.sm->launch_end(launch));
  }
  return end;
}

// How far a member may run by itself. What it waits for itself cannot come before it has done its own part, at which it stops;
// what others have to finish for it acts `kernel_launch` cycles after the earliest of them could end it.
Cycle GpuRun::horizon(const Member& member) const {
  const Cycle launch = std::max<Cycle>(spec_.kernel_launch, 1);
  Cycle least = kNever;
  for (size_t l = 0; l < released_.size(); ++l) {
    if (released_[l]) continue;
    const auto open_on = [&](const Member& each) {
      return std::ranges::any_of(depends_on_[l], [&](int d) { return !each.sm->launch_done(d); });
    };
    if (open_on(member)) continue;
    for (const Member& other : members_) {
      if (other.sm != nullptr && open_on(other) && other.next != kNever) least = std::min(least, other.next + launch);
    }
  }
  return least;
}

bool GpuRun::deadlocked() const {
  for (size_t l = 0; l < released_.size(); ++l) {
    if (!released_[l] || !ended(static_cast<int>(l))) return true;
  }
  return false;
}

std::string GpuRun::waiting_classes() const {
  std::string report;
  for (size_t m = 0; m < members_.size(); ++m) {
    const std::string waiting = members_[m].sm->waiting_report();
    if (!waiting.empty()) report += "SM class " + std::to_string(m) + " (" + std::to_string(members_[m].sms) + " SMs):\n" + waiting;
  }
  return report;
}

// Most SMs hang alike: each way once.
std::string GpuRun::waiting_sms() const {
  std::vector<std::pair<std::string, std::vector<size_t>>> ways;
  for (size_t m = 0; m < members_.size(); ++m) {
    std::string waiting = members_[m].sm->waiting_report();
    if (waiting.empty()) continue;
    auto way = std::ranges::find(ways, waiting, [](const auto& each) { return each.first; });
    if (way == ways.end()) way = ways.insert(way, {std::move(waiting), {}});
    way->second.push_back(m);
  }
  std::string report;
  for (const auto& [waiting, sms] : ways) {
    report += "SM " + std::to_string(sms.front());
    if (sms.size() > 1) report += " and " + std::to_string(sms.size() - 1) + " more alike";
    report += ":\n" + waiting;
  }
  return report;
}

std::string GpuRun::deadlock_report() const {
  std::string report = "deadlock: nothing is left to happen, but not all CTAs have ended\n";
  report += chip_ ? waiting_sms() : waiting_classes();
  for (size_t l = 0; l < released_.size(); ++l) {
    if (!ended(static_cast<int>(l))) {
      report += "  " + images_[l].kernel->name +
                (released_[l] ? " has CTAs that have not ended or found no room\n" : " waits for a launch before it\n");
    }
  }
  return report;
}

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
    counters.resident_warp_cycles += member.sms * account.resident_warp_cycles - less.work.instructions;
    counters.l2_bytes += member.sms * account.l2_requested_bytes - less.work.bytes;
    counters.l2_bytes_served += member.sms * account.l2_served_bytes - less.work.bytes;
    counters.dram_bytes += member.sms * account.dram_bytes;
  }
  if (counters.start_cycle == kNever) counters.start_cycle = 0;
  collect_segments(launch, counters);
  counters.absent = collect_absences([launch](const Sm& sm, int culprit, Contended resource) {
    return sm.account().lost_of(launch, culprit, Account::Waiter::kAbsent, resource);
  });
}

// What merged classes do less is taken from where the kernel issues most.
void GpuRun::collect_segments(int launch, KernelCounters& counters) const {
  constexpr auto kSelected = static_cast<size_t>(WarpState::kSelected);
  const auto launches = static_cast<int>(released_.size());
  for (const Segment& segment : images_[launch].segments)
    counters.segments.push_back({segment, {}, std::vector<Losses>(launches), {}, {}, std::vector<Losses>(launches)});
  for (const Member& member : members_) {
    const Account& account = member.sm->account();
    for (size_t i = 0; i < counters.segments.size(); ++i) {
      SegmentCounters& segment = counters.segments[i];
      const uint32_t row = account.row(launch, static_cast<uint32_t>(i));
      for (int s = 0; s < kWarpStates; ++s) {
        segment.states[s] += member.sms * account.cycles(row, static_cast<WarpState>(s));
        segment.inherited[s] += member.sms * account.inherited(row, static_cast<WarpState>(s));
        segment.hidden[s] += member.sms * account.hidden(row, static_cast<WarpState>(s));
      }
      for (int culprit = 0; culprit < launches; ++culprit) {
        for (int r = 0; r < kContended; ++r) {
          const auto resource = static_cast<Contended>(r);
          segment.lost[culprit][r] += member.sms * account.lost(row, culprit, Account::Waiter::kWarp, resource);
          segment.requests_lost[culprit][r] += member.sms * account.lost(row, culprit, Account::Waiter::kRequest, resource);
        }
      }
    }
  }
  auto& busiest = *std::ranges::max_element(counters.segments, {}, [&](const auto& each) { return each.states[kSelected]; });
  for (const Member& member : members_) busiest.states[kSelected] -= member.less[launch].work.instructions;
  for (const SegmentCounters& segment : counters.segments) {
    for (int s = 0; s < kWarpStates; ++s) counters.states[s] += segment.states[s];
  }
}

void GpuRun::collect_resources(Outcome& outcome) const {
  const uint64_t cycles = outcome.total_cycles;
  const uint64_t sms = spec_.memory.sm_count;
  const uint64_t sub_core_cycles = cycles * sms * spec_.sub_cores;
  const auto sum = [&](auto of) {
    uint64_t total = 0;
    for (const Member& member : members_) total += member.sms * of(*member.sm);
    return total;
  };
  const auto sub_cores = [&](auto of) {
    return sum([&](const Sm& sm) {
      uint64_t total = 0;
      for (uint32_t c = 0; c < spec_.sub_cores; ++c) total += of(sm.sub_core(static_cast<int>(c)).use());
      return total;
    });
  };
  const auto add = [&](std::string name, uint64_t busy, uint64_t capacity) {
    outcome.resources.push_back({std::move(name), busy, capacity});
  };
  add("issue_slot", sum([](const Sm& sm) { return sm.instructions(); }),
      sub_core_cycles * spec_.issue_width / spec_.issue_interval);
  for (const isa::Pipe pipe : {isa::Pipe::kAlu, isa::Pipe::kFmaHeavy, isa::Pipe::kFmaLite, isa::Pipe::kFp16, isa::Pipe::kFp64,
                               isa::Pipe::kXu, isa::Pipe::kTensor, isa::Pipe::kUniform}) {
    add(std::string(isa::pipe_name(pipe)),
        sub_cores([&](const SubCore::Use& use) { return use.pipe_cycles[static_cast<int>(pipe)]; }), sub_core_cycles);
  }
  add("wgmma", sum([](const Sm& sm) { return sm.wgmma().busy_cycles(); }), cycles * sms);
  add("register_read_ports", sum([](const Sm& sm) { return sm.port_reads(); }), spec_.half_read_ports_per_bank * sub_core_cycles);
  add("memory_issue", sub_cores([](const SubCore::Use& use) {
                        return use.pipe_cycles[static_cast<int>(isa::Pipe::kMemory)];
                      }) * spec_.memory_issue_interval,
      spec_.memory_issue_rate.of(cycles * sms));
  add("shared_memory", sum([](const Sm& sm) { return sm.memory().wavefronts(); }), spec_.data_stage_rate.of(cycles * sms));
  const MemorySpec& memory = spec_.memory;
  add("sm_ingress", sum([](const Sm& sm) { return sm.memory().memory().ingress_bytes(); }),
      cycles * sms * memory.ingress_milli_bytes_per_clk / 1000);
  const auto beyond = [&](auto of) {
    return chip_ ? of(*chip_) : sum([&](const Sm& sm) { return of(sm.memory().memory().beyond()); });
  };
  add("l2_read", beyond([](const ChipMemory& of) { return of.l2_read.served_bytes(); }),
      cycles * memory.l2_read_milli_bytes_per_clk / 1000);
  add("l2_write", beyond([](const ChipMemory& of) { return of.l2_write.served_bytes(); }),
      cycles * memory.l2_write_milli_bytes_per_clk / 1000);
  // What is written leaves whenever nothing is read: by the end at most what DRAM can have moved.
  const uint64_t moved = cycles * memory.dram_milli_bytes_per_clk / 1000;
  add("dram", std::min(moved, beyond([](const ChipMemory& of) { return of.dram.requested_bytes(); })), moved);
}

}  // namespace warpfold::sim
