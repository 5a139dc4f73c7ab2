#include "sim/sm/sm.h"

namespace warpfold::sim {

// In this order: per sub-core its issue slot and its pipes; then what the SM has once.
std::vector<UseLane> Sm::use_lanes(const Spec& spec) {
  std::vector<UseLane> lanes;
  for (int c = 0; c < static_cast<int>(spec.sub_cores); ++c) {
    lanes.push_back({"issue_slot", c, 1000 * spec.issue_width / spec.issue_interval});
    for (const isa::PipeRow& row : isa::kMathPipes) lanes.push_back({std::string(row.name), c});
  }
  lanes.push_back({"wgmma"});
  lanes.push_back({"memory_issue", -1, spec.memory_issue_rate.thousandths()});
  lanes.push_back({"shared_memory", -1, spec.data_stage_rate.thousandths()});
  lanes.push_back({"sm_ingress", -1, spec.memory.ingress_milli_bytes_per_clk});
  return lanes;
}

std::vector<uint64_t> Sm::use() {
  std::vector<uint64_t> totals;
  uint64_t memory_instructions = 0;
  for (SubCore& sub_core : state_.sub_cores) {
    uint64_t& issued = totals.emplace_back(0);
    for (int l = 0; l < state_.account.launches(); ++l) issued += sub_core.issued(*this, l);
    for (const isa::PipeRow& row : isa::kMathPipes)
      totals.push_back(sub_core.use(*this).pipe_cycles[static_cast<size_t>(row.pipe)]);
    memory_instructions += sub_core.use(*this).pipe_cycles[static_cast<int>(isa::Pipe::kMemory)];
  }
  totals.push_back(state_.wgmma.busy_cycles());
  totals.push_back(memory_instructions * spec_.memory_issue_interval);
  totals.push_back(state_.memory.wavefronts());
  totals.push_back(state_.memory.memory().ingress_bytes());
  return totals;
}

void Sm::record_timeline(const TimelineLimits& limits) {
  timeline_.emplace(limits, state_.launches.size(), state_.ctas.size(), use().size());
  next_sample_ = timeline_->next_sample();
}

void Sm::sample_use(Cycle now) {
  timeline_->sample(now, use());
  next_sample_ = timeline_->next_sample();
}

void Sm::move_on(const FastForward& skip, bool exact) {
  StateVisitor visitor(skip);
  if (!timeline_) {
    visit(visitor);
    return;
  }
  const Cycle start = state_.now + 1;
  const std::vector<uint64_t> before = use();
  visit(visitor);
  timeline_->skipped({start, skip.cycles / skip.periods, skip.periods, exact, skip.placed}, before, use());
  next_sample_ = timeline_->next_sample();
}

void Sm::entered_segment(const Warp& warp, uint32_t from, Cycle now) {
  const std::vector<Segment>& segments = state_.launches[warp.launch].image->segments;
  const Segment& segment = segments[warp.op->segment];
  if (segment.phase == segments[from].phase) return;
  timeline_->warp_moved(static_cast<size_t>(warp.cta), static_cast<size_t>(warp.index_in_cta), segment.role, segment.phase, now);
}

TimelineRecorder Sm::hand_over_timeline(Cycle at) {
  TimelineRecorder before = timeline_->hand_over(at, use());
  next_sample_ = timeline_->next_sample();
  return before;
}

TimelineRecorder Sm::end_timeline() {
  timeline_->end(state_.now + 1, use());
  return *timeline_;
}

// Of launches that have done something here.
std::vector<LaunchSpan> Sm::launch_spans() const {
  std::vector<LaunchSpan> launches;
  for (int l = 0; l < state_.account.launches(); ++l) {
    const LaunchProgress& progress = state_.progress[l];
    if (progress.done > 0) launches.push_back({.launch = l, .start = progress.start, .end = progress.end, .ctas = progress.done});
  }
  return launches;
}

}  // namespace warpfold::sim
