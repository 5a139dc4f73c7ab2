#include "sim/memo/trajectory_cache.h"

#include <algorithm>
#include <utility>

#include "sim/memo/memo_hit.h"

namespace warpfold::sim {
namespace {

// Fields that have been left out of a key may have made another number of words.
bool equal(const Snapshot& one, const Snapshot& other) {
  return one.key == other.key && one.levels == other.levels && one.trips.as_many(other.trips) &&
         one.counts.size() == other.counts.size() && one.moments.size() == other.moments.size();
}

}  // namespace

size_t TrajectoryCache::begin() {
  trajectories_.push_back({{}, spacing_});
  return first_ + trajectories_.size() - 1;
}

void TrajectoryCache::clear() {
  first_ += trajectories_.size();
  trajectories_.clear();
  by_hash_.clear();
  copies_ = 0;
  ++cleared_;
}

std::vector<const Snapshot*> TrajectoryCache::on_trajectory(size_t trajectory, uint64_t hash) const {
  std::vector<const Snapshot*> states;
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second.trajectory + first_ == trajectory)
      states.push_back(&trajectories_[entry->second.trajectory].points[entry->second.point].state);
  }
  return states;
}

// In time proportional to the trajectory's checkpoints: thousands of trajectories may have been given up.
void TrajectoryCache::forget_hashes(size_t trajectory) {
  for (const Checkpoint& point : trajectories_[trajectory].points) {
    const auto [from, to] = by_hash_.equal_range(point.hash);
    by_hash_.erase(std::find_if(from, to, [trajectory](const auto& entry) { return entry.second.trajectory == trajectory; }));
  }
}

void TrajectoryCache::give_up(size_t trajectory) {
  forget_hashes(trajectory);
  copies_ -= trajectories_[trajectory].points.size();
  trajectories_[trajectory].points.clear();
}

bool TrajectoryCache::wants(size_t trajectory, uint64_t instructions) const {
  if (trajectory < first_) return true;
  const Trajectory& each = trajectories_[trajectory - first_];
  return each.points.empty() || instructions >= each.points.back().state.instructions + each.spacing;
}

size_t TrajectoryCache::add(size_t trajectory, const Snapshot& state, uint64_t hash, const Sm& sm) {
  if (trajectory < first_) trajectory = begin();
  std::vector<Checkpoint>& points = trajectories_[trajectory - first_].points;
  if (points.size() == kMost) thin(trajectory - first_);
  for (size_t oldest = 0; copies_ >= kMostOfAll; ++oldest) {
    if (oldest != trajectory - first_) give_up(oldest);
  }
  ++copies_;
  by_hash_.emplace(hash, Position{trajectory - first_, points.size()});
  points.push_back(make_checkpoint(state, hash, sm));
  return trajectory;
}

void TrajectoryCache::thin(size_t trajectory) {
  Trajectory& each = trajectories_[trajectory];
  forget_hashes(trajectory);
  for (size_t i = 0; i < kMost / 2; ++i) each.points[i] = std::move(each.points[2 * i + 1]);
  each.points.resize(kMost / 2);
  copies_ -= kMost / 2;
  for (size_t i = 0; i < each.points.size(); ++i) by_hash_.emplace(each.points[i].hash, Position{trajectory, i});
  each.spacing *= 2;
}

std::optional<MemoHit> TrajectoryCache::furthest(const Sm& sm, const Snapshot& state, uint64_t hash, Cycle limit) const {
  std::optional<MemoHit> best;
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    const std::vector<Checkpoint>& points = trajectories_[entry->second.trajectory].points;
    const Checkpoint& from = points[entry->second.point];
    if (!equal(from.state, state)) continue;
    for (size_t to = points.size(); to-- > entry->second.point + 1;) {
      if (best && points[to].state.instructions - from.state.instructions <= best->instructions) break;
      auto found = memo_hit(from, points[to], sm, state, limit);
      if (!found) continue;
      best = std::move(found);
      break;
    }
  }
  return best;
}

}  // namespace warpfold::sim
