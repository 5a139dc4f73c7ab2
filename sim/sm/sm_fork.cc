#include <utility>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

// Trips that the class would have left where the warp's present one has so many.
void exchange_trips(Warp& warp, const traces::Kernel& kernel, uint32_t from, uint32_t to) {
  for (uint32_t depth = 0; depth < warp.op->depth; ++depth) {
    const traces::TripCount& count = warp.program->loop_around(*warp.op, depth).trips;
    warp.trips_left[depth] += traces::trips(count, kernel.cta_classes[to]) - traces::trips(count, kernel.cta_classes[from]);
  }
}

}  // namespace

bool SmState::differs_from_alternatives_like(const SmState& other) const {
  return std::ranges::equal(alternatives, other.alternatives, [](const AlternativeRun& a, const AlternativeRun& b) {
    return (a.differences > 0) == (b.differences > 0);
  });
}

void SmState::receive(std::vector<CtaList> lists) {
  for (size_t l = 0; l < launches.size(); ++l) {
    launches[l].ctas = std::move(lists[l]);
    const uint64_t placed = std::exchange(progress[l].placed, 0);
    progress[l].next_run = 0;
    progress[l].next_in_run = 0;
    count_placed(static_cast<int>(l), placed);
  }
}

void SmState::count_placed(int launch, uint64_t count) {
  LaunchProgress& own = progress[launch];
  const CtaList& list = launches[launch].ctas;
  own.placed += count;
  own.next_in_run += count;
  while (own.next_run < list.size() && own.next_in_run >= list[own.next_run].count) own.next_in_run -= list[own.next_run++].count;
}

void SmState::exchange_classes(const std::vector<ClassMap>& class_of) {
  for (SubCore& sub_core : sub_cores) {
    for (int slot = 0; slot < sub_core.slots(); ++slot) {
      Warp& warp = sub_core.warp(slot);
      if (!warp.resident || warp.exited) continue;
      const uint32_t from = ctas[warp.cta].cta_class;
      exchange_trips(warp, *launches[warp.launch].image->kernel, from, class_of[warp.launch].at(from));
    }
  }
  for (Cta& cta : ctas) {
    if (cta.resident) cta.cta_class = class_of[cta.launch].at(cta.cta_class);
  }
}

void Sm::receive(std::vector<CtaList> ctas) {
  state_.receive(std::move(ctas));
  assess_absences(state_.now);  // other launches than before may have CTAs left
}

void Sm::exchange_classes(std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of) {
  receive(std::move(ctas));
  state_.exchange_classes(class_of);
  if (timeline_) timeline_->exchange_classes(class_of);
}

// The other's state, at this one's time and with this one's work. What has been counted is what this one had counted and what the
// other has on the way.
void Sm::follow(const MemoHit& hit) {
  const std::vector<LaunchProgress> own = state_.progress;
  const Account account = state_.account;
  std::vector<CtaList> ctas;
  for (const SmLaunch& launch : state_.launches) ctas.push_back(launch.ctas);
  restore(*hit.to);
  for (size_t l = 0; l < own.size(); ++l) state_.progress[l].placed = own[l].placed + hit.placed[l];
  receive(std::move(ctas));
  for (Cta& cta : state_.ctas) {
    if (cta.resident) cta.cta_class = hit.class_of[cta.launch].at(cta.cta_class);
  }
  Snapshot state;
  StateVisitor recorder(state, state_.now + 1);
  visit(recorder);
  FastForward forward;
  forward.cycles = hit.own->at - hit.state->at;
  for (size_t i = 0; i < state.counts.size(); ++i) forward.counted.push_back(hit.own->counts[i] - hit.state->counts[i]);
  for (size_t i = 0; i < state.trips.size(); ++i) forward.trips_taken.push_back(state.trips[i] - hit.trips[i]);
  forward.moments = hit.moments;
  forward.placed.assign(own.size(), 0);
  StateVisitor mover(forward);
  visit(mover);
  // All three were settled when their states were taken.
  state_.account.add_rows(account);
  state_.account.subtract_rows(hit.from->account);
  for (size_t l = 0; l < own.size(); ++l) {
    const LaunchProgress& from = hit.from->progress[l];
    const LaunchProgress& to = hit.to->progress[l];
    LaunchProgress& progress = state_.progress[l];
    progress.ready = own[l].ready;
    progress.start = from.start != kNever ? own[l].start : to.start != kNever ? to.start + forward.cycles : kNever;
    progress.end = to.done != from.done ? to.end + forward.cycles : own[l].end;
  }
}

bool Sm::on_last_trip(int launch, const std::vector<bool>& parameters) const {
  for (const SubCore& sub_core : state_.sub_cores) {
    for (int slot = 0; slot < sub_core.slots(); ++slot) {
      const Warp& warp = sub_core.warp(slot);
      if (!warp.resident || warp.exited || warp.launch != launch) continue;
      for (uint32_t depth = 0; depth < warp.op->depth; ++depth) {
        const int parameter = warp.program->loop_around(*warp.op, depth).trips.parameter;
        if (warp.trips_left[depth] == 1 && parameter >= 0 && parameters[parameter]) return true;
      }
    }
  }
  return false;
}

}  // namespace warpfold::sim
