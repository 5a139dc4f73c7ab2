// An SM's state is a value: another SM of the same spec and launches to which it is assigned goes on in the same way,
// also after the state was moved to another cycle.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/watched_sm.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

// Keeps the state at loop end number `loop_end`.
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
    other.state() = *checkpoint.state();
    EXPECT_TRUE(other.state() == *checkpoint.state()) << seed;
    EXPECT_FALSE(other.state() == one.state()) << seed;
    run_to_end(other);
    // The other SM has no observer, so its last loop end is still marked.
    sim::SmState end = other.state();
    end.loop_end = one.state().loop_end;
    EXPECT_TRUE(end == one.state()) << seed;
  }
  EXPECT_GT(checkpoints, 10);
}

// Returns the fast-forward that moves a state by `cycles` and changes nothing else.
sim::FastForward shift_of(const sim::Snapshot& state, sim::Cycle cycles) {
  sim::FastForward skip;
  skip.cycles = cycles;
  skip.counted.assign(state.counts.size(), 0);
  skip.risen.assign(state.levels.size(), 0);
  skip.trips_taken.assign(state.trips.left.size(), 0);
  skip.moments.assign(state.moments.size(), cycles);
  skip.placed.assign(state.placed.size(), 0);
  return skip;
}

sim::Snapshot taken(const WatchedSm& watched, const sim::SmState& of) {
  sim::Sm sm = watched.start();
  sm.state() = of;
  sim::Snapshot state;
  sim::StateVisitor taker(state, sm.state().now + 1);
  sm.visit(taker);
  return state;
}

// Expects the run to go on in the same way from its `loop_end`-th loop end when moved to a later and to an earlier
// cycle. Returns false if it has no such loop end.
bool goes_on_alike_in_another_cycle(const Scenario& scenario, int loop_end) {
  const WatchedSm watched(scenario);
  sim::Sm one = watched.start();
  Checkpoint checkpoint(loop_end);
  one.observe_with(checkpoint);
  run_to_end(one);
  if (!checkpoint.state()) return false;
  const sim::Snapshot state = taken(watched, *checkpoint.state());
  // Moved back, no wait that goes on may begin before cycle 0.
  const sim::Cycle earliest = std::ranges::min(state.moments);
  for (const sim::Cycle by : {sim::Cycle{5000}, sim::Cycle{0} - earliest / 2 * 2}) {
    sim::Sm other = watched.start();
    other.state() = *checkpoint.state();
    const sim::FastForward skip = shift_of(state, by);
    sim::StateVisitor mover(skip);
    other.visit(mover);
    EXPECT_EQ(other.state().now, checkpoint.state()->now + by) << loop_end;
    run_to_end(other);
    EXPECT_TRUE(other.state().account == one.state().account) << loop_end;
    for (size_t l = 0; l < one.state().progress.size(); ++l) {
      const sim::LaunchProgress& progress = one.state().progress[l];
      EXPECT_EQ(other.state().progress[l].end, progress.done > 0 ? progress.end + by : progress.end) << loop_end;
    }
  }
  return true;
}

// Moved to a later or an earlier cycle, the SM does and charges the same.
TEST(State, MovedToAnotherCycleGoesOnAlike) {
  int checkpoints = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed)
    checkpoints += goes_on_alike_in_another_cycle(*recurring_scenario(seed), static_cast<int>(seed % 7) * 5 + 3) ? 1 : 0;
  EXPECT_GT(checkpoints, 10);
}

// With shared memory at a quarter of its rate, the tensor pipe is held for longer than a short wgmma takes to complete.
TEST(State, MovedWhileTheTensorPipeIsTakenByNoCommandInFlightGoesOnAlike) {
  Scenario scenario;
  scenario.gpu = one_sm("h100_sxm");
  scenario.gpu.mutable_sm()->mutable_shared_memory()->set_scale(0.25);
  const Lines twice = join(wgmma_lines({.columns = 8, .count = 1}), loop(3, {op("FFMA R4, R8, R9, R4", {.stall = 2})}));
  scenario.kernels.push_back(on_all_sub_cores("sm_90", 4, join(twice, wgmma_lines({.columns = 8, .count = 1})), "twice"));
  scenario.launches.push_back(launch(scenario.kernels[0]));
  EXPECT_TRUE(goes_on_alike_in_another_cycle(scenario, 0));
  EXPECT_TRUE(goes_on_alike_in_another_cycle(scenario, 1));
}

// Runs two kernels on one SM and expects the same run when moved at each of the first loop ends.
void expect_alike_wherever_moved(const configs::Gpu& gpu, std::vector<traces::Kernel> kernels) {
  Scenario scenario;
  scenario.gpu = gpu;
  scenario.kernels = std::move(kernels);
  for (size_t k = 0; k < scenario.kernels.size(); ++k)
    scenario.launches.push_back(launch(scenario.kernels[k], static_cast<int>(k)));
  for (int loop_end = 0; loop_end < 20; ++loop_end) EXPECT_TRUE(goes_on_alike_in_another_cycle(scenario, loop_end));
}

// A copy waits for earlier copies of both kernels and is charged for each.
TEST(State, MovedWhileBulkCopiesWaitForTwoKernelsGoesOnAlike) {
  const auto copying = [](const std::string& name) {
    return KernelText(name, "sm_90")
        .options("registers=32 shared_memory=4096")
        .declare("ring full depth=1 arrivals=1")
        .declare("cursor use depth=1")
        .ctas(3)
        .role("producer", 1,
              loop(20, {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=0 cursor=0 tx_bytes=128"),
                        op("UTMALDG.2D [UR8], [UR4]", {.stall = 2}, "bytes=128 barrier=0 cursor=0"),
                        op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0 cursor=0 advance=1")}))
        .kernel();
  };
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.mutable_sm()->set_bulk_copy_issue_cycles(100);
  expect_alike_wherever_moved(gpu, {copying("one"), copying("other")});
}

// Loads wait for loads of both kernels, in front of the memory stage and then in front of the data stage.
TEST(State, MovedWhileLoadsWaitForTwoKernelsGoesOnAlike) {
  const auto loading = [](const std::string& name) {
    return KernelText(name, "sm_90")
        .options("registers=32")
        .ctas(2)
        .role("warps", 4,
              loop(20, join(repeat(3, {op("LDS R4, [R2]", {.stall = 2, .write = 0}, "wavefronts=4")}), {op("NOP", {.wait = {0}})})))
        .kernel();
  };
  expect_alike_wherever_moved(one_sm("h100_sxm"), {loading("one"), loading("other")});
}

// Products wait in the tensor pipe for products of both kernels and are charged for each.
TEST(State, MovedWhileProductsWaitForTwoKernelsGoesOnAlike) {
  const auto multiplying = [](const std::string& name) {
    return KernelText(name, "sm_90")
        .options("registers=128")
        .ctas(2)
        .role("consumer", 4, loop(20, wgmma_lines({.columns = 128, .count = 3})))
        .kernel();
  };
  expect_alike_wherever_moved(one_sm("h100_sxm"), {multiplying("one"), multiplying("other")});
}

// If CTAs of a launch end in a skipped period, a skip moves the launch's end so far; otherwise the end stays.
TEST(State, TheEndOfALaunchMovesWithTheCtasThatEnd) {
  const auto scenario = recurring_scenario(1);
  const WatchedSm watched(*scenario);
  for (const uint64_t ended : {0, 1}) {
    sim::Sm sm = watched.start();
    run_to_end(sm);
    const std::vector<sim::LaunchProgress> before = sm.state().progress;
    sim::FastForward skip = shift_of(taken(watched, sm.state()), 5000);
    std::ranges::fill(skip.counted, ended);
    sim::StateVisitor mover(skip);
    sm.visit(mover);
    for (size_t l = 0; l < before.size(); ++l) EXPECT_EQ(sm.state().progress[l].end, before[l].end + 5000 * ended);
  }
}

}  // namespace
}  // namespace warpfold::test
