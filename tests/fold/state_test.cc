// An SM's state is a value: assigned to another SM of the same spec and launches, that one goes on as the first one does.

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/watched_sm.h"

namespace warpfold::test {
namespace {

// Keeps the state at one of the loop ends.
class Checkpoint : public sim::SmObserver {
 public:
  explicit Checkpoint(int loop_end) : left_(loop_end) {}

  void loop_ended(sim::Sm& sm, sim::Cycle /*now*/, sim::Cycle /*limit*/) override {
    if (left_-- == 0) state_ = sm.state();
  }
  const std::optional<sim::SmState>& state() const { return state_; }

 private:
  int left_;
  std::optional<sim::SmState> state_;
};

void run_to_end(sim::Sm& sm) {
  while (sm.run(sim::kNever) != sim::kNever) {
  }
  sm.settle();
}

TEST(State, AssignedToAnotherSmGoesOnAlike) {
  int checkpoints = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto scenario = recurring_scenario(seed);
    const WatchedSm watched(*scenario);
    sim::Sm one = watched.start();
    Checkpoint checkpoint(static_cast<int>(seed % 7) * 5);
    one.observe_with(checkpoint);
    run_to_end(one);
    if (!checkpoint.state()) continue;
    ++checkpoints;
    sim::Sm other = watched.start();
    other.restore(*checkpoint.state());
    EXPECT_TRUE(other.state() == *checkpoint.state()) << seed;
    EXPECT_FALSE(other.state() == one.state()) << seed;
    run_to_end(other);
    // The other has nobody to tell of the last loop end.
    sim::SmState end = other.state();
    end.loop_end = one.state().loop_end;
    EXPECT_TRUE(end == one.state()) << seed;
  }
  EXPECT_GT(checkpoints, 10);
}

}  // namespace
}  // namespace warpfold::test
