#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/engine/time.h"

namespace warpfold::sim {

// Pending events of one SM in the total order (time, sequence of scheduling): a binary heap, since an SM has few pending
// events (memory replies, wgmma completions) against many instructions.
template <typename Payload>
class EventQueue {
 public:
  struct Event {
    Cycle time;
    uint64_t sequence;
    Payload payload;
  };

  EventQueue() { heap_.reserve(1024); }

  void schedule(Cycle time, const Payload& payload) {
    heap_.push_back({time, sequence_++, payload});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
  }

  // Before everything else of its time, whenever that was or will be scheduled.
  void schedule_first(Cycle time, const Payload& payload) {
    heap_.push_back({time, 0, payload});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
  }

  size_t size() const { return heap_.size(); }
  bool empty() const { return heap_.empty(); }
  Cycle next_time() const { return heap_.empty() ? kNever : heap_.front().time; }

  // In no particular order.
  std::vector<Event>& pending() { return heap_; }

  Payload pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    Payload payload = heap_.back().payload;
    heap_.pop_back();
    return payload;
  }

 private:
  // A type of its own, not a function: the heap's algorithms have it inlined.
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return a.time != b.time ? a.time > b.time : a.sequence > b.sequence; }
  };

  std::vector<Event> heap_;
  uint64_t sequence_ = 1;
};

}  // namespace warpfold::sim
