#include "sim/sm/sm.h"

namespace warpfold::sim {

void Sm::own_parts() {
  for (SubCore& sub_core : sub_cores_) sub_core.belong_to(*this, account_);
  memory_.belong_to(*this, account_);
  wgmma_.belong_to(*this, account_);
  observer_ = nullptr;
}

Sm::Sm(const Sm& other, Twin) : Sm(other) { own_parts(); }

Sm::Sm(const Sm& other, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of) : Sm(other) {
  own_parts();
  shared_ = false;
  receive(std::move(ctas));
  for (SubCore& sub_core : sub_cores_) {
    for (int slot = 0; slot < sub_core.slots(); ++slot) {
      Warp& warp = sub_core.warp(slot);
      if (warp.resident && !warp.exited) exchange_trips(warp, class_of[warp.launch]);
    }
  }
  if (timeline_) timeline_->exchange_classes(class_of);
  for (Cta& cta : ctas_) {
    if (cta.resident) cta.cta_class = class_of[cta.launch].at(cta.cta_class);
  }
}

// The other's state, at this one's time and with this one's work. What has been counted is what this one had counted and what the
// other has on the way.
Sm::Sm(const Sm& here, const Shortcut& shortcut) : Sm(*shortcut.to, Twin{}) {
  std::vector<CtaList> ctas;
  for (size_t l = 0; l < launches_.size(); ++l) {
    progress_[l].placed = here.progress_[l].placed + shortcut.placed[l];
    ctas.push_back(here.launches_[l].ctas);
  }
  receive(std::move(ctas));
  for (Cta& cta : ctas_) {
    if (cta.resident) cta.cta_class = shortcut.class_of[cta.launch].at(cta.cta_class);
  }
  Snapshot state;
  StateVisitor taker(state, now_ + 1);
  visit(taker);
  FastForward skip;
  skip.cycles = shortcut.own->at - shortcut.state->at;
  for (size_t i = 0; i < state.counts.size(); ++i) skip.counted.push_back(shortcut.own->counts[i] - shortcut.state->counts[i]);
  for (size_t i = 0; i < state.trips.size(); ++i) skip.trips_taken.push_back(state.trips[i] - shortcut.trips[i]);
  skip.moments = shortcut.moments;
  skip.placed.assign(launches_.size(), 0);
  StateVisitor mover(skip);
  visit(mover);
  // All three were settled when their states were taken.
  account_.add_rows(here.account_);
  account_.subtract_rows(shortcut.from->account_);
  for (size_t l = 0; l < launches_.size(); ++l) {
    const Progress& own = here.progress_[l];
    const Progress& from = shortcut.from->progress_[l];
    const Progress& to = shortcut.to->progress_[l];
    Progress& progress = progress_[l];
    progress.ready = own.ready;
    progress.start = from.start != kNever ? own.start : to.start != kNever ? to.start + skip.cycles : kNever;
    progress.end = to.done != from.done ? to.end + skip.cycles : own.end;
  }
}

// What the other's CTA class asked for at the loops' start, this one's would have been.
void Sm::exchange_trips(Warp& warp, const ClassMap& class_of) {
  const traces::Kernel& kernel = *launches_[warp.launch].image->kernel;
  const uint32_t cta_class = ctas_[warp.cta].cta_class;
  for (uint32_t depth = 0; depth < warp.op->depth; ++depth) {
    const traces::TripCount& count = warp.program->loop_around(*warp.op, depth).trips;
    warp.trips_left[depth] +=
        traces::trips(count, kernel.cta_classes[class_of.at(cta_class)]) - traces::trips(count, kernel.cta_classes[cta_class]);
  }
}

void Sm::receive(std::vector<CtaList> ctas) {
  for (size_t l = 0; l < launches_.size(); ++l) {
    launches_[l].ctas = std::move(ctas[l]);
    Progress& progress = progress_[l];
    const uint64_t placed = std::exchange(progress.placed, 0);
    progress.next_run = 0;
    progress.next_in_run = 0;
    count_placed(static_cast<int>(l), placed);
  }
  assess_absences(now_);  // which launches have CTAs left may be another matter
}

bool Sm::on_last_trip(int launch, const std::vector<bool>& parameters) const {
  for (const SubCore& sub_core : sub_cores_) {
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
