// Runs that differ in reservations and quotas alone are one run as long as each CTA is placed in the same cycle in all
// of them. Bounds affect placement only; all other behaviour of an SM follows from its state. So each placement
// decision is also taken under the alternative bounds and compared. Missing warps may be charged to different launches
// under each alternative, so these charges are kept apart.
#include "sim/sm/alternative_bounds.h"

#include <utility>

#include "sim/sm/cta_slots.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_absence.h"

namespace warpfold::sim {
namespace {

// Exchanges the launches' bounds for alternative ones during its lifetime.
class UnderBounds {
 public:
  UnderBounds(std::vector<SmLaunch>& launches, std::vector<PlacementBounds>& bounds) : launches_(launches), bounds_(bounds) {
    exchange();
  }
  ~UnderBounds() { exchange(); }
  UnderBounds(const UnderBounds&) = delete;
  UnderBounds& operator=(const UnderBounds&) = delete;

 private:
  void exchange() {
    for (size_t l = 0; l < launches_.size(); ++l) std::swap(static_cast<PlacementBounds&>(launches_[l]), bounds_[l]);
  }

  std::vector<SmLaunch>& launches_;
  std::vector<PlacementBounds>& bounds_;
};

size_t absent_at(const Sm& sm, int launch, int culprit, Contended resource) {
  return (static_cast<size_t>(launch) * sm.state().launches.size() + static_cast<size_t>(culprit)) * kContended +
         static_cast<size_t>(resource);
}

}  // namespace

void compare_with(Sm& sm, const std::vector<std::vector<PlacementBounds>>& alternatives) {
  SmState& state = sm.state();
  const size_t launches = state.launches.size();
  for (const std::vector<PlacementBounds>& bounds : alternatives)
    state.alternatives.push_back(
        {bounds, 0, std::vector<std::vector<Absence>>(launches), std::vector<uint64_t>(launches * launches * kContended)});
}

bool same_under(const Sm& sm, size_t which) { return sm.state().alternatives[which].differences == 0; }

uint64_t absent_under(const Sm& sm, size_t which, int launch, int culprit, Contended resource) {
  return sm.state().alternatives[which].absent[absent_at(sm, launch, culprit, resource)];
}

void compare_placement(Sm& sm, bool placed, int launch, Cycle now) {
  SmState& state = sm.state();
  for (AlternativeRun& alternative : state.alternatives) {
    if (alternative.differences > 0) continue;
    const UnderBounds under(state.launches, alternative.bounds);
    const bool would_be = !held_back_by(sm, launch, now) && fits(sm, launch);
    if (would_be != placed) ++alternative.differences;
  }
}

void settle_alternative_absences(Sm& sm, Cycle now) {
  SmState& state = sm.state();
  for (AlternativeRun& alternative : state.alternatives) {
    for (int launch = 0; launch < state.account.launches(); ++launch) {
      for (const Absence& absence : alternative.absences[launch])
        alternative.absent[absent_at(sm, launch, absence.culprit, absence.resource)] += absence.warps * (now - state.absent_since);
    }
  }
}

void assess_alternative_absences(Sm& sm, Cycle now) {
  SmState& state = sm.state();
  for (AlternativeRun& alternative : state.alternatives) {
    if (alternative.differences > 0) continue;
    const UnderBounds under(state.launches, alternative.bounds);
    for (int launch = 0; launch < state.account.launches(); ++launch) alternative.absences[launch] = absences(sm, launch, now);
  }
}

void visit_alternatives(Sm& sm, StateVisitor& visitor) {
  for (AlternativeRun& alternative : sm.state().alternatives) {
    // The binding lists all fields. Not visited: bounds, which are constant; absences, which follow from them and the
    // launches.
    [[maybe_unused]] const auto& [bounds, differences, absences, absent] = alternative;
    visitor.count(alternative.differences);
    visitor.counts(alternative.absent);
  }
}

}  // namespace warpfold::sim
