#include "sim/account/timeline_recorder.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace warpfold::sim {

TimelineLimits TimelineLimits::for_each_of(size_t sms) {
  constexpr size_t kWhole = 8;
  constexpr size_t kLeast = 8;
  TimelineLimits limits;
  for (size_t* limit : {&limits.ctas, &limits.phases, &limits.folds, &limits.windows}) {
    if (sms > kWhole) *limit = std::max(kLeast, *limit * kWhole / sms);
  }
  return limits;
}

TimelineRecorder::TimelineRecorder(const TimelineLimits& limits, size_t launches, size_t cta_slots, size_t lanes)
    : limits_(limits),
      open_(cta_slots),
      open_phases_(cta_slots),
      ctas_(limits.ctas),
      phases_(limits.phases),
      released_(launches, 0),
      middle_(launches),
      ctas_folded_(launches, 0),
      folds_(limits.folds),
      window_use_(lanes, 0) {}

void TimelineRecorder::cta_placed(size_t slot, int launch, uint32_t cta_class, Cycle now) {
  open_[slot] = CtaSlice{launch, cta_class, static_cast<uint32_t>(slot), now, now, now};
  open_phases_[slot] = {};
}

void TimelineRecorder::cta_ended(size_t slot, Cycle now) {
  open_[slot]->end = now;
  add_slice(*open_[slot]);
  open_[slot].reset();
}

void TimelineRecorder::warp_started(size_t slot, size_t warp, int launch, uint32_t role, Phase phase, Cycle now) {
  OpenPhases& open = open_phases_[slot];
  open.moves.resize(std::max(open.moves.size(), warp + 1), 0);
  open.roles.resize(std::max<size_t>(open.roles.size(), role + 1));
  OpenRole& of_role = open.roles[role];
  if (of_role.running++ == 0) of_role.slice = {launch, role, phase, static_cast<uint32_t>(slot), now, now};
}

void TimelineRecorder::warp_moved(size_t slot, size_t warp, uint32_t role, Phase phase, Cycle now) {
  OpenPhases& open = open_phases_[slot];
  OpenRole& of_role = open.roles[role];
  if (++open.moves[warp] <= of_role.moves) return;
  of_role.moves = open.moves[warp];
  add_phase(of_role.slice, now);
  of_role.slice.phase = phase;
  of_role.slice.start = now;
}

void TimelineRecorder::warp_ended(size_t slot, uint32_t role, Cycle now) {
  OpenRole& of_role = open_phases_[slot].roles[role];
  if (--of_role.running == 0) add_phase(of_role.slice, now);
}

void TimelineRecorder::add_phase(PhaseSlice slice, Cycle end) {
  slice.end = end;
  phases_.add(slice, [&](const PhaseSlice&) { ++phases_left_out_; });
}

// Cuts phases as CTA slices are cut: a phase that began in the measured period ended in the skipped time, and the
// current phase of the same role began there.
void TimelineRecorder::cut_phases(const Skipped& skip) {
  for (OpenPhases& open : open_phases_) {
    for (OpenRole& role : open.roles) {
      if (role.running == 0 || role.slice.start + skip.period < skip.start) continue;
      add_phase(role.slice, skip.start);
      role.slice.start = skip.start + skip.period * skip.periods;
    }
  }
}

void TimelineRecorder::add_slice(const CtaSlice& slice) {
  ctas_.add(slice, [&](const CtaSlice& each) { add_to_middle(each); });
}

void TimelineRecorder::add_to_middle(const CtaSlice& slice) {
  const auto length = [](const CtaSlice& each) { return each.end - each.start; };
  Middle& middle = middle_[slice.launch];
  CtaSlice shortest = slice;
  if (middle.longest.size() < limits_.longest) {
    middle.longest.push_back(slice);
    return;
  }
  const auto kept = std::ranges::min_element(middle.longest, {}, length);
  if (kept != middle.longest.end() && length(*kept) < length(slice)) std::swap(*kept, shortest);
  leave_out(middle, 1, shortest.start, shortest.end);
}

void TimelineRecorder::leave_out(Middle& middle, uint64_t ctas, Cycle from, Cycle to) {
  middle.from = middle.left_out == 0 ? from : std::min(middle.from, from);
  middle.to = std::max(middle.to, to);
  middle.left_out += ctas;
}

void TimelineRecorder::add_fold(const FoldedSpan& span) {
  folds_.add(span, [&](const FoldedSpan& each) {
    ++folds_left_out_;
    cycles_left_out_ += each.cycles;
  });
}

// Cuts CTAs at the skipped time. A CTA that was placed in the measured period ended in the first skipped period. The
// CTA now in its slot was placed in the last skipped period, `cycles` later. A CTA placed before the measured period
// runs through the skipped time.
void TimelineRecorder::skipped(const Skipped& skip, const Use& before, const Use& after) {
  const Cycle cycles = skip.period * skip.periods;
  FoldedSpan span{skip.start, cycles, skip.periods, skip.exact, skip.placed};
  for (auto& open : open_) {
    if (!open || open->placed + skip.period < skip.start || span.ctas[open->launch] == 0) continue;
    --span.ctas[open->launch];
    CtaSlice ended = *open;
    ended.end = skip.start;
    ended.ended_folded = true;
    add_slice(ended);
    open->placed += cycles;
    open->start = skip.start + cycles;
  }
  cut_phases(skip);
  for (size_t l = 0; l < span.ctas.size(); ++l) ctas_folded_[l] += span.ctas[l];
  add_fold(span);
  close_window(skip.start, 0, before);
  close_window(skip.start + cycles, cycles, after);
}

void TimelineRecorder::sample(Cycle now, const Use& use) {
  close_window(next_sample(), 0, use);
  if (now >= next_sample()) close_window(now, 0, use);
}

void TimelineRecorder::close_window(Cycle end, Cycle folded, const Use& use) {
  if (end <= window_start_) return;
  UseWindow window{window_start_, end, folded, use};
  for (size_t l = 0; l < use.size(); ++l) window.busy[l] -= window_use_[l];
  window_start_ = end;
  window_use_ = use;
  add_window(std::move(window));
}

void TimelineRecorder::add_window(UseWindow window) {
  windows_.push_back(std::move(window));
  if (windows_.size() > limits_.windows) widen();
}

// Doubles the window length until half of the limit is free. Neighbours merge while their sum is no longer than the new
// length.
void TimelineRecorder::widen() {
  while (windows_.size() > limits_.windows / 2) {
    width_ *= 2;
    size_t last = 0;
    for (size_t w = 1; w < windows_.size(); ++w) {
      UseWindow& into = windows_[last];
      UseWindow& from = windows_[w];
      if (from.end - into.start > width_) {
        if (++last != w) windows_[last] = std::move(from);
        continue;
      }
      into.end = from.end;
      into.folded += from.folded;
      for (size_t l = 0; l < into.busy.size(); ++l) into.busy[l] += from.busy[l];
    }
    windows_.resize(last + 1);
  }
}

void TimelineRecorder::exchange_classes(const std::vector<std::map<uint32_t, uint32_t>>& class_of) {
  const auto exchange = [&](CtaSlice& slice) { slice.cta_class = class_of[slice.launch].at(slice.cta_class); };
  ctas_.for_each(exchange);
  for (Middle& middle : middle_) std::ranges::for_each(middle.longest, exchange);
  for (auto& open : open_) {
    if (open) exchange(*open);
  }
}

SmTimeline TimelineRecorder::timeline(std::vector<LaunchSpan> launches) const {
  SmTimeline timeline;
  timeline.end = window_start_;
  timeline.launches = std::move(launches);
  for (LaunchSpan& launch : timeline.launches) {
    launch.released = released_[launch.launch];
    const Middle& middle = middle_[launch.launch];
    launch.ctas_left_out = middle.left_out;
    launch.left_out_from = middle.from;
    launch.left_out_to = middle.to;
    timeline.ctas.insert(timeline.ctas.end(), middle.longest.begin(), middle.longest.end());
    launch.ctas_folded = ctas_folded_[launch.launch];
  }
  ctas_.for_each([&](const CtaSlice& slice) { timeline.ctas.push_back(slice); });
  std::ranges::stable_sort(timeline.ctas, {}, [](const CtaSlice& slice) { return std::pair(slice.start, slice.slot); });
  phases_.for_each([&](const PhaseSlice& slice) { timeline.phases.push_back(slice); });
  std::ranges::stable_sort(timeline.phases, {},
                           [](const PhaseSlice& slice) { return std::tuple(slice.start, slice.slot, slice.role); });
  timeline.phases_left_out = phases_left_out_;
  folds_.for_each([&](const FoldedSpan& span) { timeline.folds.push_back(span); });
  timeline.folds_left_out = folds_left_out_;
  timeline.cycles_left_out = cycles_left_out_;
  timeline.windows = windows_;
  return timeline;
}

}  // namespace warpfold::sim
