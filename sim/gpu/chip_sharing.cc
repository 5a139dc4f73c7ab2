#include "sim/gpu/chip_sharing.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace warpfold::sim {

ChipSharing::ChipSharing(const Spec& spec, const std::vector<KernelImage>& images, std::vector<ClassRun>& class_runs,
                         WorkDistributor& distributor, const FoldOptions& fold, unsigned threads)
    : spec_(spec),
      class_runs_(class_runs),
      distributor_(distributor),
      chip_(spec.memory, class_runs.size(), images.size()),
      team_(threads) {
  for (const KernelImage& image : images) {
    grids_.push_back(image.meets_in_grid ? &image : nullptr);
    launch_uses_memory_.push_back(std::ranges::any_of(
        image.programs, [](const Program& program) { return std::ranges::any_of(program.ops, &MicroOp::global); }));
  }
  if (fold.mode == FoldMode::kAuto) sampler_.emplace(fold);
}

bool ChipSharing::uses_memory(const ClassRun& class_run) const {
  const SmState& state = class_run.sm->state();
  for (size_t l = 0; l < launch_uses_memory_.size(); ++l) {
    if (launch_uses_memory_[l] && !state.launch_done(static_cast<int>(l))) return true;
  }
  return state.memory.has_outbound();
}

bool ChipSharing::active(size_t m) const {
  const SmState& state = class_runs_[m].sm->state();
  return std::ranges::any_of(state.ctas, &Cta::resident) || state.memory.has_outbound() || (joined_ && !chip_.quiet(m));
}

std::vector<size_t> ChipSharing::bandwidth_users() const {
  std::vector<size_t> users;
  Cycle first = kNever;
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    const ClassRun& class_run = class_runs_[m];
    const bool under_way = joined_ && !chip_.quiet(m);
    if (class_run.next == kNever && !under_way) continue;
    if (!uses_memory(class_run) && !under_way) continue;
    users.push_back(m);
    first = std::min(first, class_run.next);
  }
  std::erase_if(users, [&](size_t m) { return !active(m) && class_runs_[m].next > first; });
  return users;
}

Cycle ChipSharing::others_begin(const std::vector<size_t>& asking) const {
  Cycle first = kNever;
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    if (std::ranges::find(asking, m) != asking.end() || !uses_memory(class_runs_[m])) continue;
    first = std::min(first, class_runs_[m].next);
  }
  return first;
}

void ChipSharing::run_alone(ClassRun& class_run) {
  const MemoryRates rates = even_rates(spec_.memory, class_run.sms);
  if (class_run.sm->memory().memory().rates() == rates) return;
  const uint64_t dirty = dirty_bytes();
  for (const ClassRun& each : class_runs_) each.sm->memory().set_dirty_bytes(0);
  class_run.sm->memory().set_rates(class_run.next, rates);
  class_run.sm->memory().set_dirty_bytes(dirty / rates.sms);
  if (class_run.folding) class_run.folding->disturbed();
}

uint64_t ChipSharing::dirty_bytes() const {
  uint64_t dirty = 0;
  for (const ClassRun& each : class_runs_) dirty += each.sms * each.sm->memory().dirty_bytes();
  return dirty;
}

bool ChipSharing::pending() const {
  return (joined_ && chip_.next() != kNever) ||
         std::ranges::any_of(class_runs_, [](const ClassRun& class_run) { return class_run.next != kNever; });
}

void ChipSharing::join() {
  if (std::exchange(joined_, true)) return;
  now_ = kNever;
  for (const ClassRun& class_run : class_runs_) now_ = std::min(now_, class_run.next);
  chip_ = ChipMemory(spec_.memory, class_runs_.size(), launch_uses_memory_.size());
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    Sm& sm = *class_runs_[m].sm;
    sm.share_memory(true);
    chip_.open_lane(now_, m, class_runs_[m].sms, sm.memory().join_chip(sm, now_));
  }
}

// Opens a lane for a class that was split off in this quantum. The new class has made the same requests, so its lane
// and its outbox are copies.
void ChipSharing::give_lane(size_t from, size_t to) {
  class_runs_[to].sm->share_memory(true);
  class_runs_[to].sm->outbox() = class_runs_[from].sm->outbox();
  chip_.copy_lane(from, to, class_runs_[to].sms);
  chip_.set_weight(from, class_runs_[from].sms);
}

// Answers the SMs that were the first to ask for a CTA. Returns true if the launch's queue has ended.
bool ChipSharing::answer_cta_requests() {
  const WorkDistributor::Answer answer = distributor_.answer(class_runs_);
  for (const auto& [from, to] : answer.splits) give_lane(from, to);
  return answer.ended;
}

// Runs all classes up to `end`. Returns true if a launch has ended on an SM or its queue has ended.
bool ChipSharing::run_quantum(Cycle end, const FoldOptions& fold) {
  bool launch_ended = false;
  while (true) {
    due_.clear();
    for (size_t m = 0; m < class_runs_.size(); ++m) {
      if (class_runs_[m].next < end && !WorkDistributor::is_asking(class_runs_[m])) due_.push_back(m);
    }
    if (due_.empty()) {
      if (!WorkDistributor::any_asking(class_runs_)) return launch_ended;
      launch_ended |= answer_cta_requests();
      continue;
    }
    team_.for_each(due_.size(), [&](size_t i) {
      ClassRun& class_run = class_runs_[due_[i]];
      class_run.next = class_run.sm->run(end);
    });
    for (const size_t m : due_) {
      const RunControl& control = class_runs_[m].sm->control();
      launch_ended |= control.launch_ended;
      if (!control.has_twins || !control.may_diverge) continue;
      for (const size_t twin : split_twins(class_runs_, m, false, fold)) give_lane(m, twin);
    }
  }
}

void ChipSharing::deliver() {
  ChipMemory::Passed passed;
  if (!chip_.pop(passed)) return;
  ClassRun& class_run = class_runs_[passed.lane];
  class_run.sm->memory().take_reply(*class_run.sm, passed.transfer, passed.reply);
  class_run.next = std::min(class_run.next, class_run.sm->memory().next_reply());
}

// Serves the classes' requests of the quantum up to `end`, in order of time. A transfer that passes in a cycle is
// delivered before the requests of that cycle.
void ChipSharing::exchange(Cycle end) {
  asked_of_chip_.clear();
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    std::vector<Sm::Asked>& outbox = class_runs_[m].sm->outbox();
    for (Sm::Asked& asked : outbox) asked_of_chip_.push_back({m, std::move(asked)});
    outbox.clear();
  }
  std::ranges::stable_sort(asked_of_chip_, {}, [](const Asking& each) { return each.asked.at; });
  for (const auto& [lane, asked] : asked_of_chip_) {
    while (chip_.next() <= asked.at) deliver();
    chip_.request(asked.at, lane, asked.request);
  }
  while (chip_.next() <= end) deliver();
}

void ChipSharing::run_together(const Limits& limits, const FoldOptions& fold) {
  assign_grids(true);
  join();
  complete_grid_phases();  // the last arrivals may have passed before the classes met
  // A warp that exits makes room at the earliest cta_turnaround cycles later: after its quantum.
  const Cycle quantum = std::min({Cycle{spec_.memory_reply}, limits.ahead, std::max<Cycle>(spec_.cta_turnaround, 1)});
  bool launch_ended = false;
  while (!launch_ended) {
    Cycle begin = chip_.next();
    for (const ClassRun& class_run : class_runs_) begin = std::min(begin, class_run.next);
    if (begin >= limits.until) break;
    const Cycle end = std::min({limits.until, begin + quantum, distributor_.next_ask(class_runs_)});
    launch_ended = run_quantum(end, fold);
    exchange(end);
    complete_grid_phases();
    now_ = end;
    if (limits.while_many && bandwidth_users().size() <= 1) break;
    if (sampler_ && !launch_ended) sample(limits.until, fold);
  }
}

// Returns the classes that have or may get CTAs of the launch.
std::vector<size_t> ChipSharing::classes_with(size_t launch) const {
  std::vector<size_t> classes;
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    const SmState& state = class_runs_[m].sm->state();
    if (state.progress[launch].placed > 0 || state.ctas_left(static_cast<int>(launch))) classes.push_back(m);
  }
  return classes;
}

bool ChipSharing::grids_span_classes() const {
  for (size_t l = 0; l < grids_.size(); ++l) {
    if (grids_[l] == nullptr) continue;
    const std::vector<size_t> classes = classes_with(l);
    const auto open = [&](size_t m) { return !class_runs_[m].sm->state().launch_done(static_cast<int>(l)); };
    if (classes.size() > 1 && std::ranges::any_of(classes, open)) return true;
  }
  return false;
}

void ChipSharing::assign_grids(bool together) {
  for (size_t l = 0; l < grids_.size(); ++l) {
    if (grids_[l] == nullptr) continue;
    const std::vector<size_t> classes = classes_with(l);
    const uint64_t ctas = grids_[l]->kernel->ctas();
    for (const size_t m : classes) {
      ClassRun& class_run = class_runs_[m];
      const bool knows = !together && classes.size() == 1 && ctas % class_run.sms == 0;
      const uint64_t expected = knows ? ctas / class_run.sms : 0;
      MemoryStage& memory = class_run.sm->memory();
      if (memory.grid(static_cast<int>(l)).expected == expected) continue;
      memory.expect_arrivals(*class_run.sm, static_cast<int>(l), expected);
      class_run.next = std::min(class_run.next, class_run.sm->next_time());
      if (class_run.folding) class_run.folding->disturbed();
    }
  }
}

// A phase is complete when all CTAs of the grid have arrived. A load learns of it at the earliest the latency of L2 after the last
// arrival has passed: in a later quantum.
void ChipSharing::complete_grid_phases() {
  for (size_t l = 0; l < grids_.size(); ++l) {
    if (grids_[l] == nullptr) continue;
    const auto launch = static_cast<int>(l);
    uint64_t arrived = 0;
    Cycle last = 0;
    for (const ClassRun& each : class_runs_) {
      const GridPhase& phase = each.sm->memory().grid(launch);
      arrived += each.sms * phase.arrived;
      if (phase.arrived > 0) last = std::max(last, phase.last);
    }
    if (arrived < grids_[l]->kernel->ctas()) continue;
    for (ClassRun& each : class_runs_) {
      each.sm->memory().complete_grid_phase(*each.sm, launch, last);
      each.next = std::min(each.next, each.sm->next_time());
    }
  }
}

// Requires that all classes have run up to now_.
void ChipSharing::sample(Cycle limit, const FoldOptions& fold) {
  std::vector<ChipSampler::Member> members;
  for (size_t m = 0; m < class_runs_.size(); ++m) members.push_back({m, class_runs_[m].sms, class_runs_[m].sm.get()});
  std::optional<ChipSampler::Skip> skip = sampler_->look(now_, limit, members, chip_.dirty_share());
  for (const ChipSampler::Member& member : members) class_runs_[member.index].folding->took(sampler_->owed_taken(member.index));
  if (!skip) return;
  // Twins have different work left, so they part before any is taken.
  bool parted = false;
  for (size_t i = 0; i < members.size(); ++i) {
    for (const size_t twin : split_twins(class_runs_, members[i].index, true, fold)) {
      give_lane(members[i].index, twin);
      sampler_->add_split_member(i, {twin, class_runs_[twin].sms, class_runs_[twin].sm.get()});
      parted = true;
    }
  }
  if (parted) skip = sampler_->longest(limit);
  if (!skip) return;
  const std::vector<SampledSm::Taken> taken = sampler_->take(*skip);
  for (size_t i = 0; i < taken.size(); ++i) {
    ClassRun& class_run = class_runs_[sampler_->members()[i].index];
    class_run.folding->took(taken[i]);
    class_run.next = class_run.sm->next_time();
  }
  chip_.move_on(skip->cycles());
  now_ += skip->cycles();
}

uint64_t ChipSharing::sms_of(const std::vector<size_t>& classes) const {
  uint64_t sms = 0;
  for (const size_t m : classes) sms += class_runs_[m].sms;
  return sms;
}

// Dirty bytes in L2, and bytes that wait for DRAM, go in equal parts to the SMs of the classes that ask for bandwidth;
// to all SMs if no class asks.
void ChipSharing::end_sharing() {
  if (!joined_) return;
  if (sampler_) sampler_->restart();
  const uint64_t dirty = chip_.dirty_bytes();
  const DramServer::Waiting waiting = chip_.waiting_bytes(now_);
  std::vector<ChipMemory::Backlog> backlogs;
  for (size_t m = 0; m < class_runs_.size(); ++m) backlogs.push_back(chip_.backlog(now_, m));
  while (chip_.next() != kNever) deliver();
  std::vector<size_t> served = bandwidth_users();
  if (served.empty()) {
    served.resize(class_runs_.size());
    std::iota(served.begin(), served.end(), size_t{0});
  }
  const uint64_t sms = sms_of(served);
  for (const size_t m : served) {
    backlogs[m].dirty = dirty / sms;
    backlogs[m].waiting = {waiting.written_back / sms, waiting.evicted / sms};
  }
  joined_ = false;
  for (size_t m = 0; m < class_runs_.size(); ++m) {
    ClassRun& class_run = class_runs_[m];
    class_run.sm->memory().leave_chip(now_, even_rates(spec_.memory, sms), backlogs[m]);
    class_run.sm->share_memory(false);
    class_run.next = class_run.sm->next_time();
    if (class_run.folding) class_run.folding->disturbed();
  }
}

void ChipSharing::serve_evenly(Cycle now) {
  end_sharing();
  uint64_t sms = 0;
  for (const ClassRun& each : class_runs_) sms += each.sms;
  const uint64_t dirty = dirty_bytes();
  for (const ClassRun& each : class_runs_) {
    each.sm->memory().set_rates(now, even_rates(spec_.memory, sms));
    each.sm->memory().set_dirty_bytes(dirty / sms);
  }
}

}  // namespace warpfold::sim
