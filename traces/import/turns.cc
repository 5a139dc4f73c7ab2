#include "traces/import/turns.h"

#include <algorithm>

#include "traces/import/mbarriers.h"

namespace warpfold::sass {
namespace {

using Behaviour = isa::Behaviour;

constexpr uint32_t kBarriers = 16;  // named barriers per CTA; PTX ISA, bar

struct Event {
  Behaviour behaviour;
  int32_t barrier;  // address of an mbarrier, or number of a named barrier
  uint32_t value;   // wait: parity; arrival or copy: bytes; named barrier: threads
};

// Events of a path at barriers, rolled.
struct Events {
  uint64_t trips = 1;
  std::vector<Event> steps;  // empty: `body` holds the events
  std::vector<Events> body;
};

class EventReader {
 public:
  explicit EventReader(const std::vector<Op>& ops) : ops_(ops) {}

  std::vector<Events> read(const Path& path) const {
    std::vector<Events> all;
    for (const PathNode& node : path) {
      Events events;
      if (const auto* loop = std::get_if<PathLoop>(&node)) {
        events.trips = loop->trips;
        events.body = read(loop->body);
      } else {
        for (const Step& step : std::get<std::vector<Step>>(node)) add(step, events.steps);
      }
      if (!events.steps.empty() || !events.body.empty()) all.push_back(std::move(events));
    }
    return all;
  }

 private:
  void add(const Step& step, std::vector<Event>& events) const {
    const Behaviour behaviour = ops_[static_cast<size_t>(step.op)].behaviour;
    if (behaviour == Behaviour::kBarrierSync || behaviour == Behaviour::kBarrierArrive) {
      if (!step.off) events.push_back({behaviour, step.effect.barrier, step.effect.count});
      return;
    }
    if (step.mbarrier.address < 0) return;
    const uint32_t value = behaviour == Behaviour::kMbarrierWait ? step.mbarrier.value
                           : arrives(behaviour)                  ? step.effect.tx_bytes
                                                                 : step.effect.bytes;
    events.push_back({behaviour, step.mbarrier.address, value});
  }

  const std::vector<Op>& ops_;
};

void count(const std::vector<Events>& all, Behaviour behaviour, uint64_t times, std::map<int32_t, uint64_t>& counts) {
  for (const Events& events : all) {
    for (const Event& event : events.steps) counts[event.barrier] += event.behaviour == behaviour ? times * events.trips : 0;
    count(events.body, behaviour, times * events.trips, counts);
  }
}

// Position of a warp in its events.
class Position {
 public:
  explicit Position(const std::vector<Events>& all) { enter(all); }

  const Event* now() const {
    return places_.empty() ? nullptr : &(*places_.back().all)[places_.back().node].steps[places_.back().step];
  }

  void go_on() {
    Place& place = places_.back();
    if (++place.step < (*place.all)[place.node].steps.size()) return;
    leave_node();
  }

 private:
  struct Place {
    const std::vector<Events>* all;
    size_t node = 0;
    size_t step = 0;
    uint64_t trip = 0;
  };

  void enter(const std::vector<Events>& all) {
    if (all.empty()) return;
    places_.push_back({&all});
    if (all.front().steps.empty()) enter(all.front().body);
  }

  void leave_node() {
    while (!places_.empty()) {
      Place& place = places_.back();
      const Events& events = (*place.all)[place.node];
      place.step = 0;
      const bool again = ++place.trip < events.trips;
      if (!again) place.trip = 0;
      if (!again && ++place.node == place.all->size()) {
        places_.pop_back();
        continue;
      }
      const Events& next = (*place.all)[place.node];
      if (next.steps.empty()) enter(next.body);
      return;
    }
  }

  std::vector<Place> places_;
};

class Phases {
 public:
  Phases(const std::map<int32_t, uint32_t>& arrivals, const std::vector<std::vector<Events>>& warps) : turns_(warps.size()) {
    for (const auto& [address, count] : arrivals) mbarriers_.emplace(address, Mbarrier{count, count});
    for (const std::vector<Events>& events : warps) positions_.emplace_back(events);
    synced_.resize(warps.size());
  }

  std::vector<Turns> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t warp = 0; warp < positions_.size(); ++warp) {
        while (positions_[warp].now() != nullptr && pass(*positions_[warp].now(), warp)) {
          positions_[warp].go_on();
          moved = true;
        }
      }
    }
    const bool held = std::ranges::any_of(positions_, [](const Position& position) { return position.now() != nullptr; });
    return held ? std::vector<Turns>{} : std::move(turns_);
  }

 private:
  struct Mbarrier {
    uint32_t arrivals;
    uint32_t pending;
    int64_t bytes = 0;
    uint64_t phases = 0;  // completed phases
  };
  struct Named {
    uint32_t threads = 0;
    uint64_t phases = 0;
  };

  bool pass(const Event& event, size_t warp) {
    if (event.behaviour == Behaviour::kBarrierSync || event.behaviour == Behaviour::kBarrierArrive) return pass_named(event, warp);
    Mbarrier& mbarrier = mbarriers_.at(event.barrier);
    if (event.behaviour == Behaviour::kMbarrierWait) {
      if ((mbarrier.phases & 1) == event.value) return false;
      turns_[warp][event.barrier].push_back(mbarrier.phases);
      return true;
    }
    const bool arrived = arrives(event.behaviour);
    if (arrived) --mbarrier.pending;
    mbarrier.bytes += arrived ? int64_t{event.value} : -int64_t{event.value};
    if (mbarrier.pending == 0 && mbarrier.bytes == 0) {
      ++mbarrier.phases;
      mbarrier.pending = mbarrier.arrivals;
    }
    return true;
  }

  // A warp arrives once, and a waiting warp stays until the barrier's phase ends.
  bool pass_named(const Event& event, size_t warp) {
    Named& barrier = named_[static_cast<size_t>(event.barrier) % kBarriers];
    if (synced_[warp] == 0) {
      const uint64_t phase = barrier.phases;
      barrier.threads += 32;
      if (barrier.threads >= event.value) {
        barrier.threads = 0;
        ++barrier.phases;
        return true;
      }
      if (event.behaviour == Behaviour::kBarrierArrive) return true;
      synced_[warp] = phase + 1;
    }
    if (barrier.phases < synced_[warp]) return false;
    synced_[warp] = 0;
    return true;
  }

  std::vector<Position> positions_;
  std::vector<uint64_t> synced_;  // phase of a named barrier for which the warp waits, from 1; 0: none
  std::map<int32_t, Mbarrier> mbarriers_;
  std::array<Named, kBarriers> named_{};
  std::vector<Turns> turns_;
};

// True if a warp waits at an mbarrier, but not for all of its phases.
bool leaves_phases_out(const std::map<int32_t, uint32_t>& arrivals, const std::vector<std::vector<Events>>& warps) {
  std::map<int32_t, uint64_t> arrived;
  for (const std::vector<Events>& events : warps) {
    for (const Behaviour behaviour : {Behaviour::kMbarrierArrive, Behaviour::kTcgen05Commit}) count(events, behaviour, 1, arrived);
  }
  return std::ranges::any_of(warps, [&](const std::vector<Events>& events) {
    std::map<int32_t, uint64_t> waits;
    count(events, Behaviour::kMbarrierWait, 1, waits);
    return std::ranges::any_of(waits, [&](const auto& of) {
      return of.second > 0 && arrivals.contains(of.first) && of.second + 1 < arrived[of.first] / arrivals.at(of.first);
    });
  });
}

}  // namespace

std::vector<Turns> turns_of(const std::vector<Op>& ops, const std::map<int32_t, uint32_t>& arrivals,
                            const std::vector<const Path*>& warps) {
  std::vector<std::vector<Events>> events;
  for (const Path* path : warps) events.push_back(EventReader(ops).read(*path));
  return leaves_phases_out(arrivals, events) ? Phases(arrivals, events).run() : std::vector<Turns>{};
}

}  // namespace warpfold::sass
