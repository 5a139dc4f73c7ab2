#include "traces/import/ring_positions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace warpfold::sass {
namespace {

using Behaviour = isa::Behaviour;

// Progress of a warp around a ring in one use: waiting, arriving or filling.
struct Way {
  int16_t cursor;
  uint64_t position;  // steps taken up to the last access
  Step* last;
};

class Placer {
 public:
  Placer(const std::vector<Op>& ops, const std::vector<MbarrierRing>& rings, const Turns& turns, std::vector<RingCursor>& cursors)
      : ops_(ops), rings_(rings), turns_(turns), cursors_(cursors) {}

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

  // Places two passes. They show by how much every cursor moves per pass, and the remaining passes move it by the same
  // amount.
  void place(PathLoop& loop) {
    place(loop.body);
    if (loop.trips == 1) return;
    std::map<Key, uint64_t> before;
    for (const auto& [key, way] : ways_) before[key] = way.position;
    const std::map<int32_t, uint64_t> waited = waits_;
    place(loop.body);
    for (auto& [mbarrier, waits] : waits_) waits += (waits - waited.at(mbarrier)) * (loop.trips - 2);
    for (auto& [key, way] : ways_) way.position += (way.position - before[key]) * (loop.trips - 2);
  }

  void place(Step& step) {
    if (step.mbarrier.address < 0) return;
    const Behaviour behaviour = ops_[static_cast<size_t>(step.op)].behaviour;
    const size_t ring = ring_of(rings_, step.mbarrier.address);
    step.effect.barrier = static_cast<int16_t>(ring);
    if (rings_[ring].stages.size() == 1 && behaviour != Behaviour::kMbarrierWait) return;  // the only stage needs no cursor
    const auto [at, fresh] = ways_.try_emplace(Key{ring, behaviour}, Way{-1, 0, nullptr});
    Way& way = at->second;
    const uint64_t position = position_of(step, rings_[ring], behaviour, way.position);
    if (fresh) {
      way.cursor = cursor_for(static_cast<uint32_t>(rings_[ring].stages.size()), static_cast<uint32_t>(position));
    } else {
      advance(*way.last, static_cast<uint32_t>(position - way.position), ring);
    }
    way.position = position;
    way.last = &step;
    step.effect.cursor = way.cursor;
  }

  uint64_t position_of(const Step& step, const MbarrierRing& ring, Behaviour behaviour, uint64_t from) {
    if (behaviour != Behaviour::kMbarrierWait) return next_position(step, ring, behaviour, from);
    const uint64_t waits = waits_[step.mbarrier.address]++;
    const auto turns = turns_.find(step.mbarrier.address);
    if (turns == turns_.end()) return next_position(step, ring, behaviour, from);
    // In a ring whose first wait passes at once, the first turn precedes the completion of any phase.
    const uint64_t turn = turns->second.at(waits) - (ring.free ? 0 : 1);
    return turn * ring.stages.size() + stage_of(step, ring);
  }

  static uint64_t stage_of(const Step& step, const MbarrierRing& ring) {
    return static_cast<uint64_t>(std::ranges::find(ring.stages, step.mbarrier.address) - ring.stages.begin());
  }

  // Returns the first position from `from` on that leads to the step's mbarrier, and for a wait to its phase's parity.
  static uint64_t next_position(const Step& step, const MbarrierRing& ring, Behaviour behaviour, uint64_t from) {
    const uint64_t depth = ring.stages.size();
    uint64_t position = from - from % depth + stage_of(step, ring);
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
  const Turns& turns_;
  std::vector<RingCursor>& cursors_;
  std::map<Key, Way> ways_;
  std::map<int32_t, uint64_t> waits_;  // number of waits at each mbarrier so far
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

void place_on_rings(const std::vector<Op>& ops, const std::vector<MbarrierRing>& rings, const Turns& turns, Path& path,
                    std::vector<RingCursor>& cursors) {
  Placer(ops, rings, turns, cursors).place(path);
  take_mbarriers_out(path);
}

void share_cursors(const std::vector<Op>& ops, std::vector<Path>& paths, std::vector<RingCursor>& cursors) {
  std::vector<std::set<size_t>> users(cursors.size());  // paths
  std::vector<bool> waits(cursors.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    for_each_step(paths[i], [&](const Step& step) {
      if (step.effect.cursor < 0) return;
      const auto cursor = static_cast<size_t>(step.effect.cursor);
      users[cursor].insert(i);
      if (ops[static_cast<size_t>(step.op)].behaviour == Behaviour::kMbarrierWait) waits[cursor] = true;
    });
  }
  std::vector<int16_t> becomes(cursors.size());
  std::iota(becomes.begin(), becomes.end(), int16_t{0});
  for (size_t i = 0; i < cursors.size(); ++i) {
    for (size_t other = 0; other < cursors.size() && !waits[i] && becomes[i] == static_cast<int16_t>(i); ++other) {
      const bool stands = other != i && becomes[other] == static_cast<int16_t>(other) && (other < i || waits[other]);
      const bool alike = cursors[other].depth == cursors[i].depth &&
                         cursors[other].start % cursors[i].depth == cursors[i].start % cursors[i].depth;
      if (!stands || !alike || std::ranges::any_of(users[i], [&](size_t path) { return users[other].contains(path); })) continue;
      becomes[i] = static_cast<int16_t>(other);
      users[other].insert(users[i].begin(), users[i].end());
    }
  }
  std::vector<int16_t> number(cursors.size());
  std::vector<RingCursor> left;
  for (size_t i = 0; i < cursors.size(); ++i) {
    if (becomes[i] != static_cast<int16_t>(i)) continue;
    number[i] = static_cast<int16_t>(left.size());
    left.push_back(cursors[i]);
  }
  cursors = std::move(left);
  for (Path& path : paths) {
    for_each_step(path, [&](Step& step) {
      if (step.effect.cursor >= 0)
        step.effect.cursor = number[static_cast<size_t>(becomes[static_cast<size_t>(step.effect.cursor)])];
    });
  }
}

}  // namespace warpfold::sass
