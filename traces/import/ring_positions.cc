#include "traces/import/ring_positions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace warpfold::sass {
namespace {

using Behaviour = isa::Behaviour;

// A warp's way round one ring in one manner: waiting, arriving or filling.
struct Way {
  int16_t cursor;
  uint64_t position;  // of the last access, in steps
  Step* last;
};

class Placer {
 public:
  Placer(const std::vector<Op>& ops, const std::vector<MbarrierRing>& rings, std::vector<RingCursor>& cursors)
      : ops_(ops), rings_(rings), cursors_(cursors) {}

  void place(Path& path) {
    for (PathNode& node : path) {
      if (auto* steps = std::get_if<std::vector<Step>>(&node)) {
        for (Step& step : *steps) place(step);
      } else {
        place(std::get<PathLoop>(node));
      }
    }
  }

 private:
  using Key = std::pair<size_t, Behaviour>;

  // Two passes show by how much every cursor moves from pass to pass; the others move by as much.
  void place(PathLoop& loop) {
    place(loop.body);
    if (loop.trips == 1) return;
    std::map<Key, uint64_t> before;
    for (const auto& [key, way] : ways_) before[key] = way.position;
    place(loop.body);
    for (auto& [key, way] : ways_) way.position += (way.position - before[key]) * (loop.trips - 2);
  }

  void place(Step& step) {
    if (step.mbarrier.address < 0) return;
    const Behaviour behaviour = ops_[static_cast<size_t>(step.op)].behaviour;
    const size_t ring = ring_of(rings_, step.mbarrier.address);
    const auto [at, fresh] = ways_.try_emplace(Key{ring, behaviour}, Way{-1, 0, nullptr});
    Way& way = at->second;
    const uint64_t position = next_position(step, rings_[ring], behaviour, way.position);
    if (fresh) {
      way.cursor = cursor_for(static_cast<uint32_t>(rings_[ring].stages.size()), static_cast<uint32_t>(position));
    } else {
      advance(*way.last, static_cast<uint32_t>(position - way.position), ring);
    }
    way.position = position;
    way.last = &step;
    step.effect.barrier = static_cast<int16_t>(ring);
    step.effect.cursor = way.cursor;
  }

  // The first position from `from` on that leads to the step's mbarrier and, where it waits, to its phase's parity.
  static uint64_t next_position(const Step& step, const MbarrierRing& ring, Behaviour behaviour, uint64_t from) {
    const uint64_t depth = ring.stages.size();
    const auto stage = static_cast<uint64_t>(std::ranges::find(ring.stages, step.mbarrier.address) - ring.stages.begin());
    uint64_t position = from - from % depth + stage;
    if (position < from) position += depth;
    const uint64_t parity = step.mbarrier.value ^ (ring.free ? 1U : 0U);
    if (behaviour == Behaviour::kMbarrierWait && (position / depth & 1) != parity) position += depth;
    return position;
  }

  void advance(Step& last, uint32_t steps, size_t ring) {
    if (!moved_.insert(&last).second && last.effect.advance != steps) throw OutOfOrder{last.op, ring};
    last.effect.advance = steps;
  }

  int16_t cursor_for(uint32_t depth, uint32_t start) {
    const RingCursor wanted{depth, start};
    for (size_t i = 0; i < cursors_.size(); ++i) {
      if (cursors_[i] == wanted && taken_.insert(i).second) return static_cast<int16_t>(i);
    }
    cursors_.push_back(wanted);
    taken_.insert(cursors_.size() - 1);
    return static_cast<int16_t>(cursors_.size() - 1);
  }

  const std::vector<Op>& ops_;
  const std::vector<MbarrierRing>& rings_;
  std::vector<RingCursor>& cursors_;
  std::map<Key, Way> ways_;
  std::set<const Step*> moved_;
  std::set<size_t> taken_;  // cursors of this path
};

void take_mbarriers_out(Path& path) {
  for (PathNode& node : path) {
    if (auto* steps = std::get_if<std::vector<Step>>(&node)) {
      for (Step& step : *steps) step.mbarrier = {};
    } else {
      take_mbarriers_out(std::get<PathLoop>(node).body);
    }
  }
}

}  // namespace

size_t ring_of(const std::vector<MbarrierRing>& rings, int32_t mbarrier) {
  size_t ring = 0;
  while (std::ranges::find(rings[ring].stages, mbarrier) == rings[ring].stages.end()) ++ring;
  return ring;
}

void place_on_rings(const std::vector<Op>& ops, const std::vector<MbarrierRing>& rings, Path& path,
                    std::vector<RingCursor>& cursors) {
  Placer(ops, rings, cursors).place(path);
  take_mbarriers_out(path);
}

}  // namespace warpfold::sass
