// Several runs that differ in reservations and quotas alone are one as long as every CTA is placed when it would be in each: all
// else that an SM does follows from its state, in which bounds have no part. So each time it is asked whether a CTA may be placed,
// it is asked under the other bounds as well. What must be kept apart is whom missing warps are charged to.
#include <algorithm>
#include <utility>

#include "sim/sm/sm.h"

namespace warpfold::sim {

// The launches have other bounds for as long as it lives.
class Sm::UnderBounds {
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

void Sm::consider(const std::vector<std::vector<PlacementBounds>>& other_bounds) {
  const size_t launches = state_.launches.size();
  for (const std::vector<PlacementBounds>& bounds : other_bounds)
    state_.alternatives.push_back(
        {bounds, 0, std::vector<std::vector<Absence>>(launches), std::vector<uint64_t>(launches * launches * kContended)});
}

void Sm::compare_placement(bool placed, int launch, Cycle now) {
  for (AlternativeRun& other : state_.alternatives) {
    if (other.differences > 0) continue;
    const UnderBounds under(state_.launches, other.bounds);
    const bool would_be = !held_back_by(launch, now) && fits(launch);
    if (would_be != placed) ++other.differences;
  }
}

size_t Sm::absent_at(int launch, int culprit, Contended resource) const {
  return (static_cast<size_t>(launch) * state_.launches.size() + static_cast<size_t>(culprit)) * kContended +
         static_cast<size_t>(resource);
}

uint64_t Sm::absent_under(size_t which, int launch, int culprit, Contended resource) const {
  return state_.alternatives[which].absent[absent_at(launch, culprit, resource)];
}

void Sm::settle_other_absences(Cycle now) {
  for (AlternativeRun& other : state_.alternatives) {
    for (int launch = 0; launch < state_.account.launches(); ++launch) {
      for (const Absence& absence : other.absences[launch])
        other.absent[absent_at(launch, absence.culprit, absence.resource)] += absence.warps * (now - state_.absent_since);
    }
  }
}

void Sm::assess_other_absences(Cycle now) {
  for (AlternativeRun& other : state_.alternatives) {
    if (other.differences > 0) continue;
    const UnderBounds under(state_.launches, other.bounds);
    for (int launch = 0; launch < state_.account.launches(); ++launch) other.absences[launch] = absences(launch, now);
  }
}

void Sm::visit_other_runs(StateVisitor& visitor) {
  for (AlternativeRun& other : state_.alternatives) {
    // Every field. bounds are constant, absences follow from them and the launches.
    [[maybe_unused]] const auto& [bounds, differences, absences, absent] = other;
    visitor.count(other.differences);
    visitor.counts(other.absent);
  }
}

}  // namespace warpfold::sim
