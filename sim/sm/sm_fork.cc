#include "sim/sm/sm.h"

namespace warpfold::sim {

Sm::Sm(const Sm& other, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of) : Sm(other) {
  for (SubCore& sub_core : sub_cores_) sub_core.belong_to(*this, account_);
  memory_.belong_to(*this, account_);
  wgmma_.belong_to(*this, account_);
  watcher_ = nullptr;
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
