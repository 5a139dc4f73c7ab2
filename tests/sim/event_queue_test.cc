#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace warpfold::sim {
namespace {

// A reference queue that sorts events: by time, then the event scheduled as the first of its time, then by age.
class Sorted {
 public:
  struct Event {
    Cycle time;
    int rank;
    int name;
  };

  void schedule(Cycle time, int name) { events_.push_back({time, ++count_, name}); }
  void schedule_first(Cycle time, int name) { events_.push_back({time, 0, name}); }
  Cycle next_time() const { return events_.empty() ? kNever : earliest()->time; }
  size_t size() const { return events_.size(); }
  int pop() {
    const auto next = earliest();
    const int name = next->name;
    events_.erase(next);
    return name;
  }
  void shift(Cycle by) {
    for (Event& event : events_) event.time += by;
  }
  bool holds(Cycle time, int name) const {
    return std::ranges::any_of(events_, [&](const Event& each) { return each.time == time && each.name == name; });
  }

 private:
  std::vector<Event>::const_iterator earliest() const {
    return std::ranges::min_element(
        events_, [](const Event& a, const Event& b) { return a.time != b.time ? a.time < b.time : a.rank < b.rank; });
  }

  std::vector<Event> events_;
  int count_ = 0;
};

TEST(EventQueue, TakesEventsByTimeAndThenInTheOrderOfScheduling) {
  std::mt19937_64 random(1);
  const auto below = [&](uint64_t bound) { return random() % bound; };
  EventQueue<int> queue;
  Sorted sorted;
  Cycle now = 0;
  Cycle first_at = 0;  // at most one event is the first of a time
  for (int step = 0; step < 100'000; ++step) {
    const uint64_t what = below(100);
    // Times in the same cycle, near, beyond the ring, and on both sides of the ring's length.
    const Cycle time = now + (below(4) == 0 ? 0 : below(3) == 0 ? 250 + below(12) : below(2) == 0 ? below(40) : below(3000));
    if (what < 45 || queue.size() == 0) {
      queue.schedule(time, step);
      sorted.schedule(time, step);
    } else if (what < 47 && time > first_at) {
      first_at = time;
      queue.schedule_first(time, step);
      sorted.schedule_first(time, step);
    } else if (what < 48) {
      now += below(std::min<Cycle>(queue.next_time() - now, 400) + 1);  // time passes without an event
    } else if (what < 50) {
      // Shift to a later or an earlier time, but to none before cycle 0.
      const Cycle by = below(2) == 0 ? below(10'000) : Cycle{0} - below(now + 1);
      now += by;
      first_at += by;
      queue.shift(by);
      sorted.shift(by);
    } else {
      now = queue.next_time();
      ASSERT_EQ(now, sorted.next_time()) << step;
      ASSERT_EQ(queue.pop(), sorted.pop()) << step;
    }
    ASSERT_EQ(queue.size(), sorted.size()) << step;
    ASSERT_EQ(queue.next_time(), sorted.next_time()) << step;
  }
  size_t seen = 0;
  queue.for_each([&](const auto& event) {
    EXPECT_TRUE(sorted.holds(event.time, event.payload));
    ++seen;
  });
  EXPECT_EQ(seen, sorted.size());
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace warpfold::sim
