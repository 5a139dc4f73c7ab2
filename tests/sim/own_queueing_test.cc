// Waits for wgmma that a kernel causes itself: its own commands are ahead in the pipe, or its own reads hold the
// register ports.

#include <gtest/gtest.h>

#include "tests/support/machine.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

using sim::Contended;
using sim::WarpState;

// Returns by how many warp-cycles the launch's waits are longer because of the launch itself; negative: shorter.
int64_t behind_itself(const Replay& run, WarpState state, size_t launch = 0) {
  const auto s = static_cast<size_t>(state);
  uint64_t sum = 0;
  for (const sim::SegmentCounters& each : run.outcome.kernels[launch].segments)
    sum += each.inherited_in_all[s] - each.hidden_in_all[s] - (each.inherited[s] - each.hidden[s]);
  return static_cast<int64_t>(sum);
}

uint64_t inherited(const Replay& run, WarpState state, size_t launch = 0) {
  uint64_t sum = 0;
  for (const sim::SegmentCounters& each : run.outcome.kernels[launch].segments) sum += each.inherited[static_cast<size_t>(state)];
  return sum;
}

uint64_t of_requests(const Replay& run, size_t culprit, Contended resource) {
  uint64_t sum = 0;
  for (const sim::SegmentCounters& each : run.outcome.kernels[0].segments)
    sum += each.requests_lost[culprit][static_cast<size_t>(resource)];
  return sum;
}

constexpr uint64_t kGroupAlone = 4 * 176;  // warp-cycles that a warpgroup waits for one m64n256 in an idle pipe

// The second warpgroup's command waits for the first one's 128 cycles of tensor time, less the cycles by which it is
// complete later.
TEST(OwnQueueing, BehindTheOtherWarpgroupOfTheKernel) {
  const Lines wgmma = wgmma_lines({256, false, 1});
  const traces::Kernel two = KernelText("two", "sm_90").role("first", 4, wgmma).role("second", 4, wgmma).kernel();
  const Replay run = replay(one_sm("h100_sxm"), two);
  const uint64_t waited = of_requests(run, 0, Contended::kWgmma);
  EXPECT_GT(waited, 120);
  EXPECT_LE(waited, 128);
  EXPECT_EQ(behind_itself(run, WarpState::kGmma), static_cast<int64_t>(4 * waited));
  EXPECT_EQ(run.state(0, WarpState::kGmma), 2 * kGroupAlone + 4 * waited);
}

TEST(OwnQueueing, IsNotWhatAnotherKernelHolds) {
  const traces::Kernel one = wgmma_kernel({256, false, 1});
  const Replay run = replay_together(one_sm("h100_sxm"), {one, one});
  const size_t late = run.state(0, WarpState::kGmma) > run.state(1, WarpState::kGmma) ? 0 : 1;
  for (const size_t launch : {size_t{0}, size_t{1}}) EXPECT_EQ(behind_itself(run, WarpState::kGmma, launch), 0);
  EXPECT_EQ(run.state(late, WarpState::kGmma) - inherited(run, WarpState::kGmma, late), kGroupAlone);
  EXPECT_GT(inherited(run, WarpState::kGmma, late), 4 * 120);
}

// Two warpgroups that, without another kernel, take turns: the first has left the pipe when the second one comes.
traces::Kernel in_turn() {
  const Lines wgmma = wgmma_lines({256, false, 1});
  return KernelText("in_turn", "sm_90")
      .role("first", 4, join(join({op("NOP", {.stall = 10})}, loop(50, {op("IADD3 R1, R2, RZ, RZ", {.stall = 2})})), wgmma))
      .role("second", 4, join(repeat(18, {op("NOP", {.stall = 15})}), wgmma))
      .kernel();
}

// Another kernel delays the first warpgroup so long that the second one meets it in the pipe. The second one's wait
// there is inherited, not caused by the kernel itself.
TEST(OwnQueueing, IsNotWhatALateWarpgroupOfTheKernelHolds) {
  const traces::Kernel thief = on_one_sub_core("sm_90", {loop(60, {op("IADD3 R1, R2, RZ, RZ", {.stall = 2})})}, "thief");
  const configs::Gpu gpu = one_sm_youngest_first("h100_sxm");
  const Replay alone = replay(gpu, in_turn());
  EXPECT_EQ(behind_itself(alone, WarpState::kGmma), 0);
  const Replay beside = replay_together(gpu, {in_turn(), thief});
  const uint64_t more = beside.state(0, WarpState::kGmma) - alone.state(0, WarpState::kGmma);
  EXPECT_GT(more, 4 * 50);
  // The late warp's instructions also compete with the second warpgroup's NOPs for the issue slot.
  EXPECT_LE(behind_itself(beside, WarpState::kGmma), static_cast<int64_t>(more / 10));
  EXPECT_NEAR(static_cast<double>(inherited(beside, WarpState::kGmma)), static_cast<double>(more), 0.1 * static_cast<double>(more));
}

// Lines that read three fresh registers in each instruction. They leave hardly a port slot for updates of accumulators.
Lines reading() { return loop(200, join(three_fresh("FFMA", 160), {op("BRA `(.L_1)", {.stall = 5})})); }

uint64_t of_updates(const Replay& run, size_t victim, size_t culprit) {
  uint64_t sum = 0;
  for (const sim::SegmentCounters& each : run.outcome.kernels[victim].segments)
    sum += each.requests_lost[culprit][static_cast<size_t>(Contended::kRegisterReadPort)];
  return sum;
}

// The victim's own few reads leave enough port slots. Its updates wait for the other kernel's reads alone, and the
// whole wait is charged to that kernel.
TEST(UpdateOfAccumulators, WaitsForTheOtherKernelWhereItsOwnReadsLeaveEnough) {
  const traces::Kernel victim = KernelText("victim", "sm_90")
                                    .role("math", 4, loop(2000, {op("IADD3 R90, R91, R92, RZ", {.stall = 8})}))
                                    .role("tensor", 4, wgmma_lines({16, false, 300}))
                                    .kernel();
  EXPECT_EQ(of_updates(replay(one_sm("h100_sxm"), victim), 0, 0), 0);
  const Replay run = replay_together(one_sm("h100_sxm"), {on_all_sub_cores("sm_90", 12, reading(), "other"), victim});
  EXPECT_GT(of_updates(run, 1, 0), 500);
  EXPECT_EQ(of_updates(run, 1, 1), 0);
}

// The victim's own reads would have delayed its updates just as much, so their waits are charged to the victim.
TEST(UpdateOfAccumulators, WaitsForItsOwnKernelWhereTheOthersReadsMakeNoDifference) {
  const traces::Kernel victim =
      KernelText("victim", "sm_90").role("math", 12, reading()).role("tensor", 4, wgmma_lines({16, false, 300})).kernel();
  EXPECT_GT(of_updates(replay(one_sm("h100_sxm"), victim), 0, 0), 500);
  const traces::Kernel other =
      on_one_sub_core("sm_90", {loop(100, {op("IADD3 R1, R2, RZ, RZ", {.stall = 15}), op("NOP", {.stall = 15})})}, "other");
  const Replay run = replay_together(one_sm("h100_sxm"), {victim, other});
  EXPECT_GT(of_updates(run, 0, 0), 500);
  EXPECT_LE(of_updates(run, 0, 1), of_updates(run, 0, 0) / 20);
}

}  // namespace
}  // namespace warpfold::test
