#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/account/accounting.h"
#include "sim/engine/state_visitor.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// Short history of the launches that held a resource: segments of [start, launch), the newest still open. A wait is
// charged to the holders of its cycles. Cycles before the oldest segment are charged to the oldest holder.
class HoldHistory {
 public:
  void hold(Cycle start, int launch) {
    if constexpr (!kAccounting) return;
    if (size_ > 0 && segments_[(head_ + size_ - 1) % kSegments].launch == launch) return;
    if (size_ == kSegments) {
      head_ = (head_ + 1) % kSegments;
      --size_;
    }
    segments_[(head_ + size_) % kSegments] = {start, launch};
    ++size_;
  }

  // Shifts the history by skipped time.
  void move_on(Cycle by) {
    for (Segment& segment : segments_) segment.start += by;
  }

  // Forgets all holders.
  void clear() { size_ = 0; }

  // Calls charge(launch, cycles) for each holder of [from, to), newest first. With an empty history, charges
  // `without_holder`.
  template <typename Charge>
  void charge(Cycle from, Cycle to, int without_holder, Charge charge) const {
    if constexpr (!kAccounting) return;
    for (int i = size_ - 1; i >= 0 && to > from; --i) {
      const Segment& segment = segments_[(head_ + i) % kSegments];
      if (segment.start >= to) continue;
      const Cycle begin = i == 0 ? from : std::max(from, segment.start);
      charge(segment.launch, to - begin);
      to = begin;
    }
    if (to > from) charge(without_holder, to - from);
  }

  // Shows only the segments that a wait which began at `earliest` or later can be charged to. The start of the first of
  // these does not matter: it is no later than `earliest`, or charge() ignores it.
  void visit(StateVisitor& visitor, Cycle earliest) {
    // Lists every field, so that a new field does not compile until this function handles it. `head` is the index of
    // the oldest segment.
    [[maybe_unused]] const auto& [segments, head, size] = *this;
    if (!visitor.recording()) {
      for (Segment& segment : segments_) segment.start = visitor.moved(segment.start);
      return;
    }
    int first = std::max(size_ - 1, 0);
    while (first > 0 && at(first).start > earliest) --first;
    visitor.value("holds", static_cast<uint64_t>(size_ - first));
    for (int i = first; i < size_; ++i) {
      visitor.value("hold_launch", static_cast<uint64_t>(at(i).launch));
      if (i > first) visitor.value("hold_start", at(i).start - visitor.now());
    }
  }

  bool operator==(const HoldHistory&) const = default;

 private:
  static constexpr int kSegments = 32;
  struct Segment {
    Cycle start;
    int launch;
    bool operator==(const Segment&) const = default;
  };
  Segment& at(int i) { return segments_[(head_ + i) % kSegments]; }

  std::array<Segment, kSegments> segments_{};
  int head_ = 0;
  int size_ = 0;
};

}  // namespace warpfold::sim
