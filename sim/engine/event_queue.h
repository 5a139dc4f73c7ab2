#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/engine/time.h"

namespace warpfold::sim {

// Pending events of one SM, in the total order (time, sequence of scheduling). Most events are due within a few hundred
// cycles. They go into a ring of lists, one list per cycle, with an occupancy bit per list. Later events (DRAM replies,
// releases) go into a heap.
//
//   taken up to 1000:  ring[1000 % 256] -> a -> b      heap: d at 1700, e at 1701
//                      ring[1003 % 256] -> c
template <typename Payload>
class EventQueue {
 public:
  struct Event {
    Cycle time;
    uint64_t sequence;
    Payload payload;
    bool operator==(const Event&) const = default;
  };

  EventQueue() { ring_.fill({kNone, kNone}); }

  // Schedules an event at the time of the event popped last, or later.
  void schedule(Cycle time, const Payload& payload) { add({time, sequence_++, payload}, time - last_popped_ < kRing); }
  // Schedules an event before all other events of the same time, scheduled before or after this call.
  void schedule_first(Cycle time, const Payload& payload) { add({time, 0, payload}, false); }

  size_t size() const { return size_; }
  Cycle next_time() const { return next_; }

  // Removes the next event and returns its payload.
  Payload pop() {
    last_popped_ = next_;
    --size_;
    // All events in this list are due now: each was scheduled less than a ring's length ahead.
    List& list = ring_[next_ % kRing];
    if (!far_.empty() && far_.front().time == next_ &&
        (list.first == kNone || far_.front().sequence < nodes_[list.first].event.sequence)) {
      std::pop_heap(far_.begin(), far_.end(), Later{});
      const Payload payload = far_.back().payload;
      far_.pop_back();
      find_next();
      return payload;
    }
    const uint32_t first = list.first;
    Node& node = nodes_[first];
    list.first = node.next;
    node.next = std::exchange(free_, first);
    if (list.first == kNone) {
      occupied_[next_ % kRing / 64] &= ~(uint64_t{1} << next_ % 64);
      find_next();
    }
    return node.event.payload;
  }

  // Visits all events: the ring's in order, then the heap's in no order.
  template <typename Visit>
  void for_each(Visit visit) const {
    const size_t begin = last_popped_ % kRing / 64;
    const uint64_t from_last_popped = ~uint64_t{0} << last_popped_ % 64;
    for (size_t i = 0; i <= occupied_.size(); ++i) {  // The first word is visited twice: first the bits from last_popped_ on,
                                                      // last the bits before it.
      const size_t word = (begin + i) % occupied_.size();
      uint64_t bits = occupied_[word] & (i == 0 ? from_last_popped : i == occupied_.size() ? ~from_last_popped : ~uint64_t{0});
      for (; bits != 0; bits &= bits - 1) {
        const size_t at = word * 64 + static_cast<size_t>(std::countr_zero(bits));
        for (uint32_t n = ring_[at].first; n != kNone; n = nodes_[n].next) visit(nodes_[n].event);
      }
    }
    for (const Event& event : far_) visit(event);
  }

  // Moves all events by `by` cycles, modulo 2^64.
  void shift(Cycle by) {
    for (const List& list : ring_) {
      for (uint32_t n = list.first; n != kNone; n = nodes_[n].next) nodes_[n].event.time += by;
    }
    for (Event& event : far_) event.time += by;
    std::ranges::rotate(ring_, ring_.end() - static_cast<std::ptrdiff_t>(by % kRing));
    occupied_ = {};
    for (size_t at = 0; at < kRing; ++at) occupied_[at / 64] |= (ring_[at].first != kNone ? uint64_t{1} : 0) << at % 64;
    last_popped_ += by;
    if (next_ != kNever) next_ += by;
  }

  bool operator==(const EventQueue&) const = default;

 private:
  static constexpr Cycle kRing = 256;
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Node {
    Event event;
    uint32_t next;  // next node of the list; kNone at its end
    bool operator==(const Node&) const = default;
  };
  struct List {
    uint32_t first;
    uint32_t last;
    bool operator==(const List&) const = default;
  };
  // A function object instead of a function, so that the heap algorithms inline it.
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return a.time != b.time ? a.time > b.time : a.sequence > b.sequence; }
  };

  void add(const Event& event, bool near) {
    ++size_;
    next_ = std::min(next_, event.time);
    if (!near) {
      far_.push_back(event);
      std::push_heap(far_.begin(), far_.end(), Later{});
      return;
    }
    uint32_t place = free_;
    if (place != kNone) {
      free_ = nodes_[place].next;
      nodes_[place] = {event, kNone};
    } else {
      place = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({event, kNone});
    }
    List& list = ring_[event.time % kRing];
    if (list.first == kNone) {
      list.first = place;
      occupied_[event.time % kRing / 64] |= uint64_t{1} << event.time % 64;
    } else {
      nodes_[list.last].next = place;
    }
    list.last = place;
  }

  void find_next() {
    next_ = far_.empty() ? kNever : far_.front().time;
    const size_t begin = last_popped_ % kRing / 64;
    uint64_t bits = occupied_[begin] & ~uint64_t{0} << last_popped_ % 64;
    for (size_t i = 0; i <= occupied_.size(); bits = occupied_[(begin + ++i) % occupied_.size()]) {
      if (bits == 0) continue;
      const Cycle at = (begin + i) % occupied_.size() * 64 + static_cast<Cycle>(std::countr_zero(bits));
      next_ = std::min(next_, last_popped_ + (at - last_popped_) % kRing);
      return;
    }
  }

  std::array<List, kRing> ring_;
  std::array<uint64_t, kRing / 64> occupied_{};
  std::vector<Node> nodes_;
  uint32_t free_ = kNone;   // list of unused nodes, linked by `next`
  std::vector<Event> far_;  // heap
  Cycle last_popped_ = 0;   // time of the event popped last
  Cycle next_ = kNever;
  size_t size_ = 0;
  uint64_t sequence_ = 1;
};

}  // namespace warpfold::sim
