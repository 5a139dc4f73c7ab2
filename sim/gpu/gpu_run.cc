#include "sim/gpu/gpu_run.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "sim/engine/interrupt.h"
#include "sim/plan/epochs.h"
#include "sim/sampling/sm_sample.h"
#include "sim/sm/alternative_bounds.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {
namespace {

// Returns each launch's rank in the order of placement: higher priority first, then the lower stream, then the order in
// which the launches are given.
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

// Returns the CTAs that an SM holds at a time if the kernel has the GPU's SMs, or `sms` of them, to itself.
uint32_t ctas_alone(const KernelImage& image, uint64_t sms) {
  return static_cast<uint32_t>(std::min<uint64_t>(image.ctas_per_sm, (image.kernel->ctas() + sms - 1) / sms));
}

// CTAs that wait for each other make as many phases on each SM. An estimate of each SM's rate could not promise that, so such runs
// are folded exactly or not at all.
FoldOptions fold_of(FoldOptions fold, const std::vector<KernelImage>& images) {
  if (fold.mode == FoldMode::kAuto && std::ranges::any_of(images, &KernelImage::meets_in_grid)) fold.mode = FoldMode::kExact;
  return fold;
}

}  // namespace

GpuRun::GpuRun(const Spec& spec, const std::vector<KernelImage>& images, const std::vector<Launch>& launches,
               const Options& options)
    : spec_(spec),
      images_(images),
      launches_(launches),
      fold_(fold_of(options.fold, images)),
      timeline_(options.timeline),
      alternative_bounds_(options.alternative_bounds),
      depends_on_(dependences(launches, options.serialise)),
      distributor_(launches, spec.memory.sm_count, fold_, !options.all_sms && !options.logs()),
      released_(launches.size(), false),
      released_at_(launches.size(), 0),
      all_sms_(options.all_sms),
      folds_(!options.all_sms && !options.logs()) {
  if (options.logs()) fold_.mode = FoldMode::kOff;
  if (fold_.check_skips) skip_check_.emplace(fold_.omitted_field);
  if (options.all_sms) fold_.mode = FoldMode::kOff;
  std::vector<SmClass> classes = distributor_.lend_first(options.all_sms);
  if (launches.size() == 1 && fold_.mode == FoldMode::kAuto && may_sample_sms(images.front(), classes.front().sms, fold_.error))
    classes = sample_of(classes.front());
  class_runs_.reserve(spec.memory.sm_count);
  for (SmClass& each : classes)
    class_runs_.push_back(
        {.sms = each.sms, .ctas = std::move(each.ctas), .indices = std::move(each.indices), .sampled = each.sampled});
  std::vector<int> epoch_of(launches.size());
  const std::vector<Epoch> epochs = epochs_of(launches, options.serialise);
  for (size_t e = 0; e < epochs.size(); ++e) {
    for (const size_t l : epochs[e]) epoch_of[l] = static_cast<int>(e);
  }
  for (ClassRun& class_run : class_runs_) start(class_run, launches, epoch_of, options);
  if (std::ranges::any_of(launches, [](const Launch& launch) { return !launch.beside.empty(); })) {
    ends_to_tell_.resize(launches.size());
    std::iota(ends_to_tell_.begin(), ends_to_tell_.end(), 0);
  }
  for (ClassRun& class_run : class_runs_) class_run.sm->memory().set_dirty_bytes(options.dirty_bytes / spec.memory.sm_count);
  // A log is one list for all SMs, so only one thread may write to it.
  const unsigned threads = options.logs() ? 1 : options.threads;
  sharing_.emplace(spec_, images_, class_runs_, distributor_, fold_, std::min<unsigned>(threads, spec.memory.sm_count));
}

void GpuRun::start(ClassRun& class_run, const std::vector<Launch>& launches, const std::vector<int>& epoch_of,
                   const Options& options) {
  const std::vector<int> rank = placement_order(launches);
  std::vector<SmLaunch> shares;
  for (size_t l = 0; l < launches.size(); ++l) {
    const uint64_t sms = launches[l].sms.count > 0 ? launches[l].sms.count : spec_.memory.sm_count;
    shares.push_back({launches[l], &images_[l], class_run.ctas[l], rank[l], launches[l].priority, ctas_alone(images_[l], sms),
                      epoch_of[l], launches[l].early, distributor_.source(l, class_run.indices.front()),
                      launches[l].beside.empty() ? nullptr : &launches[l].beside});
  }
  class_run.sm = std::make_unique<Sm>(spec_, std::move(shares));
  compare_with(*class_run.sm, alternative_bounds_);
  Observation& observation = class_run.sm->observation();
  observation.issue_log = options.issue_log;
  observation.sm_class = static_cast<uint32_t>(&class_run - class_runs_.data());
  if (options.cycle_log != nullptr && options.cycle_log->sm_class == observation.sm_class)
    observation.cycle_log = options.cycle_log;
  if (timeline_) record_timeline(*class_run.sm, TimelineLimits::for_each_of(class_runs_.size()));
  if (!folds_) return;
  class_run.folding = std::make_unique<SmFolding>(fold_, *class_run.sm, skip_check());
  if (fold_.mode != FoldMode::kOff) class_run.sm->observe_with(*class_run.folding);
}

Outcome GpuRun::until_idle() {
  stops_when_idle_ = may_stop();
  return run();
}

// If launches take no time, the next launch begins in a cycle that has already run. The SM's state before that cycle,
// which would have to be pristine, is gone.
bool GpuRun::may_leave_idle() const { return !all_sms_ && spec_.kernel_launch > 0; }

// Stopping is valid only if later launches cannot affect earlier cycles. Reservations and quotas (SmLaunch::any) let
// them: such bounds depend on all launches of the epoch.
bool GpuRun::may_stop() const {
  const std::vector<SmLaunch>& launches = class_runs_.front().sm->state().launches;
  return may_leave_idle() && !timeline_ && alternative_bounds_.empty() && std::ranges::none_of(launches, &SmLaunch::any);
}

Outcome GpuRun::run() {
  while (true) {
    stop_if_wanted();
    release_ready();
    if (stopped_) break;
    if (!sharing_->pending()) break;
    if (all_sms_) {
      sharing_->run_together({.ahead = lookahead(), .while_many = false}, fold_);
    } else {
      run_classes();
    }
  }
  sharing_->end_sharing();
  // Twins that are left, as after a deadlock, hang like their class and count as classes.
  for (size_t m = 0; m < class_runs_.size(); ++m) split_twins(class_runs_, m, true, fold_);
  const uint64_t dirty_bytes = sharing_->dirty_bytes();
  std::erase_if(class_runs_, [](const ClassRun& class_run) {
    const auto unused = [](const LaunchProgress& progress) { return progress.done == 0 && progress.running == 0; };
    return std::ranges::all_of(class_run.sm->state().progress, unused);
  });
  Outcome outcome = collect();
  outcome.dirty_bytes = dirty_bytes;
  for (size_t l = 0; l < released_.size(); ++l) {
    if (!stopped_ || released_[l]) outcome.ran.push_back(l);
  }
  outcome.deadlocked = !stopped_ && deadlocked();
  if (outcome.deadlocked) {
    outcome.deadlock.report = deadlock_report();
    // In a deadlock warps are absent without end, so their number of cycles means nothing.
    for (KernelCounters& kernel : outcome.kernels) std::ranges::fill(kernel.absent, Losses{});
    for (AlternativeBounds& other : outcome.alternative_bounds) {
      for (std::vector<Losses>& absent : other.absent) std::ranges::fill(absent, Losses{});
    }
  } else {
    for (const ClassRun& class_run : class_runs_) class_run.sm->account().check();
    check_conservation(outcome);
    const Cycle next = outcome.total_cycles + spec_.kernel_launch;
    outcome.left_idle = may_leave_idle() &&
                        std::ranges::all_of(class_runs_, [next](ClassRun& class_run) { return is_pristine(*class_run.sm, next); });
  }
  return outcome;
}

// Runs classes that use no memory by themselves, and a single class that uses memory until another one begins to. If
// several classes use memory, or want the next CTA of a launch, all classes run together.
void GpuRun::run_classes() {
  const std::vector<size_t> asking = sharing_->bandwidth_users();
  const Cycle point = idle_release_;
  const bool contended = distributor_.contended(class_runs_);
  const bool meet = sharing_->grids_span_classes();
  if (asking.size() > 1 || contended || meet) {
    const bool waits = idle_release_ != kNever;  // idle SMs wait for a launch
    return sharing_->run_together({.until = point, .ahead = lookahead(), .while_many = !waits && !contended && !meet}, fold_);
  }
  sharing_->end_sharing();
  sharing_->assign_grids(false);
  const Cycle until = std::min(point, sharing_->others_begin(asking));
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    ClassRun& class_run = class_runs_[m];
    const bool alone = !asking.empty() && asking.front() == m;
    if (!alone && sharing_->uses_memory(class_run)) continue;
    if (alone) sharing_->run_alone(class_run);
    advance(m, alone ? until : point);
    release_ready();  // before the next class runs: it may wait for a launch that has just ended
    if (stopped_ || distributor_.contended(class_runs_)) break;
  }
}

void GpuRun::advance(size_t m, Cycle until) {
  ClassRun& class_run = class_runs_[m];
  const Cycle limit = std::min(horizon(class_run), until);
  if (class_run.next >= limit) return;
  class_run.next = class_run.sm->run(limit);
  const RunControl& control = class_run.sm->control();
  if (control.has_twins && control.may_diverge) split_twins(class_runs_, m, control.parts_all_twins, fold_);
  if (WorkDistributor::is_asking(class_run)) {
    distributor_.answer(class_runs_);
    return;
  }
}

// Returns the most cycles by which an SM may run ahead of another. While launches wait, or SMs for the end of a launch, it
// is the time that a launch end takes to act.
Cycle GpuRun::lookahead() const {
  const bool waits = !std::ranges::all_of(released_, std::identity{}) || !ends_to_tell_.empty();
  return waits ? std::max<Cycle>(spec_.kernel_launch, 1) : kNever;
}

// Throws std::logic_error unless every launch has issued the instructions, and run the CTAs, that its programs hold.
void GpuRun::check_conservation(const Outcome& outcome) const {
  for (const size_t l : outcome.ran) {
    const traces::Kernel& kernel = *images_[l].kernel;
    const uint64_t held = traces::issued_instructions(kernel);
    if (outcome.kernels[l].instructions == held && outcome.kernels[l].ctas == kernel.ctas()) continue;
    throw std::logic_error("kernel " + kernel.name + ": " + std::to_string(outcome.kernels[l].instructions) +
                           " instructions issued of " + std::to_string(held));
  }
}

// Tells all SMs of launches that have ended on the chip. An end takes as long to act as on a launch that waits for it.
void GpuRun::tell_ends() {
  std::erase_if(ends_to_tell_, [&](int launch) {
    if (!released_[launch] || !ended(launch)) return false;
    const Cycle at = end_of(launch) + std::max<Cycle>(spec_.kernel_launch, 1);
    for (ClassRun& class_run : class_runs_) class_run.sm->launch_over(launch, at);
    return true;
  });
}

void GpuRun::release_ready() {
  tell_ends();
  std::vector<Cycle> next(released_.size(), kNever);
  for (size_t l = 0; l < released_.size(); ++l) {
    if (released_[l] || !std::ranges::all_of(depends_on_[l], [&](int d) { return released_[d] && ended(d); })) continue;
    next[l] = 0;
    for (const int d : depends_on_[l]) next[l] = std::max(next[l], end_of(d) + spec_.kernel_launch);
  }
  if (stops_when_idle_) {
    idle_release_ = idle_release_cycle(next);
    // Activity under way comes first. All SMs wait for idle_release_ and share L2 and DRAM until then, as they would if
    // a launch were released in that cycle.
    if (idle_release_ != kNever &&
        std::ranges::any_of(class_runs_, [&](const ClassRun& each) { return each.next < idle_release_; })) {
      for (ClassRun& class_run : class_runs_) class_run.next = std::min(class_run.next, idle_release_);
      return;
    }
    stopped_ = idle_release_ != kNever && all_pristine_at(idle_release_);
    if (stopped_) return;
    idle_release_ = kNever;
  }
  for (size_t l = 0; l < released_.size(); ++l) {
    const Cycle at = next[l];
    if (at == kNever) continue;
    released_[l] = true;
    released_at_[l] = at;
    for (ClassRun& class_run : class_runs_) {
      class_run.sm->release_launch(static_cast<int>(l), at);
      class_run.next = std::min(class_run.next, at);
    }
  }
}

// Returns the cycle at which an idle GPU may begin the next launch; kNever: the GPU is not idle. All released launches
// must have ended, and the next one must begin `kernel_launch` cycles after the last end, as in a run of its own.
// `next`: per launch, the cycle at which it may begin; kNever: not known yet.
Cycle GpuRun::idle_release_cycle(const std::vector<Cycle>& next) const {
  const Cycle at = std::ranges::min(next);
  if (at == kNever || std::ranges::none_of(released_, std::identity{})) return kNever;
  Cycle end = 0;
  for (size_t l = 0; l < released_.size(); ++l) {
    if (!released_[l]) continue;
    if (!ended(static_cast<int>(l))) return kNever;
    end = std::max(end, end_of(static_cast<int>(l)));
  }
  return at == end + spec_.kernel_launch ? at : kNever;
}

// True if all SMs are pristine in cycle `at`. First gives each SM an equal part of L2's dirty bytes, since a pristine
// SM has room for no more.
bool GpuRun::all_pristine_at(Cycle at) {
  sharing_->serve_evenly(at);
  return std::ranges::all_of(class_runs_, [at](ClassRun& class_run) { return is_pristine(*class_run.sm, at); });
}

bool GpuRun::ended(int launch) const {
  return std::ranges::all_of(class_runs_, [&](const ClassRun& class_run) { return class_run.sm->state().launch_done(launch); });
}

Cycle GpuRun::end_of(int launch) const {
  Cycle end = 0;
  for (const ClassRun& class_run : class_runs_) {
    end = std::max(end, class_run.sm->state().progress[launch].end);
  }
  return end;
}

// Returns the cycle up to which a class may run by itself. A release that waits for the class itself comes only after
// the class has ended a launch, where it stops anyway. A release that waits for other classes alone comes at the
// earliest `kernel_launch` cycles after the next activity of one of them. So does the news that a launch has ended.
Cycle GpuRun::horizon(const ClassRun& class_run) const {
  const Cycle launch = std::max<Cycle>(spec_.kernel_launch, 1);
  Cycle least = kNever;
  const auto bound_by_ends = [&](const std::vector<int>& launches) {
    const auto open_on = [&](const ClassRun& each) {
      return std::ranges::any_of(launches, [&](int l) { return !each.sm->state().launch_done(l); });
    };
    if (open_on(class_run)) return;
    for (const ClassRun& other : class_runs_) {
      if (open_on(other) && other.next != kNever) least = std::min(least, other.next + launch);
    }
  };
  for (size_t l = 0; l < released_.size(); ++l) {
    if (!released_[l]) bound_by_ends(depends_on_[l]);
  }
  for (const int l : ends_to_tell_) bound_by_ends({l});
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
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    const std::string waiting = waiting_report(*class_runs_[m].sm);
    if (!waiting.empty())
      report += "SM class " + std::to_string(m) + " (" + std::to_string(class_runs_[m].sms) + " SMs):\n" + waiting;
  }
  return report;
}

// Lists each distinct report once, since most SMs hang in the same state.
std::string GpuRun::waiting_sms() const {
  std::vector<std::pair<std::string, std::vector<size_t>>> reports;
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    std::string waiting = waiting_report(*class_runs_[m].sm);
    if (waiting.empty()) continue;
    auto same = std::ranges::find(reports, waiting, [](const auto& each) { return each.first; });
    if (same == reports.end()) same = reports.insert(same, {std::move(waiting), {}});
    same->second.push_back(m);
  }
  std::string report;
  for (const auto& [waiting, sms] : reports) {
    report += "SM " + std::to_string(sms.front());
    if (sms.size() > 1) report += " and " + std::to_string(sms.size() - 1) + " more alike";
    report += ":\n" + waiting;
  }
  return report;
}

// Says which CTAs of a launch its grid's barrier misses.
std::string GpuRun::grid_report(size_t launch) const {
  uint64_t arrived = 0;
  uint64_t resident = 0;
  uint64_t ended = 0;
  for (const ClassRun& each : class_runs_) {
    const LaunchProgress& progress = each.sm->state().progress[launch];
    arrived += each.sms * each.sm->memory().grid(static_cast<int>(launch)).arrived;
    resident += each.sms * progress.running;
    ended += each.sms * progress.done;
  }
  const uint64_t ctas = images_[launch].kernel->ctas();
  std::string report = "  " + images_[launch].kernel->name + ": " + std::to_string(arrived) + " of " + std::to_string(ctas) +
                       " CTAs have arrived at the grid's barrier; " + std::to_string(resident) + " are resident, " +
                       std::to_string(ended) + " have ended\n";
  if (resident + ended < ctas)
    report += "  All CTAs of a grid that meets must be resident at a time: launch at most as many as the SMs have room for\n";
  return report;
}

std::string GpuRun::deadlock_report() const {
  std::string report = "deadlock: nothing is left to happen, but not all CTAs have ended\n";
  report += all_sms_ ? waiting_sms() : waiting_classes();
  for (size_t l = 0; l < released_.size(); ++l) {
    if (!ended(static_cast<int>(l))) {
      report += "  " + images_[l].kernel->name +
                (released_[l] ? " has CTAs that have not ended or found no room\n" : " waits for a launch before it\n");
      if (released_[l] && images_[l].meets_in_grid) report += grid_report(l);
    }
  }
  return report;
}

}  // namespace warpfold::sim
