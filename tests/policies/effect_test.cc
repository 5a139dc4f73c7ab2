// Every policy on a pair of kernels whose best placement is known by argument.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policies/support.h"
#include "tests/support/machine.h"

namespace warpfold::policies {
namespace {

using test::KernelText;
using test::loop;
using test::op;
using test::repeat;

// Half of a sub-core's issue slots, all of its ALU: one instruction in two cycles.
test::Lines alu_work(uint64_t trips) { return loop(trips, repeat(16, {op("IADD3 R1, R2, R3, RZ")})); }
// The other half, all of the heavy FMA pipe.
test::Lines fma_work(uint64_t trips) { return loop(trips, repeat(16, {op("IMAD R1, R2, R3, RZ")})); }
// One instruction in four cycles whatever else runs, if its turn comes at once.
test::Lines chain(uint64_t trips) { return loop(trips, repeat(16, {op("IADD3 R1, R1, R3, RZ", {.stall = 4})})); }

traces::Kernel make(const std::string& name, uint64_t ctas, uint32_t warps, const test::Lines& lines, const std::string& options) {
  return KernelText(name, "sm_90").options(options).ctas(ctas).role("warps", warps, lines).kernel();
}

// As many resident CTAs as an SM's registers hold: 8 of 4 warps.
constexpr const char* kEighth = "registers=64";

double speed_up(const configs::Result& slow, const configs::Result& fast) {
  return static_cast<double>(slow.total_cycles()) / static_cast<double>(fast.total_cycles());
}

// Pipes that complement each other: side by side takes half the time of one after the other.
TEST(Effect, ConcurrentHidesKernelsThatWantDifferentPipes) {
  Bench bench;
  bench.add(make("a", 4, 4, alu_work(200), kEighth), "stream: 0").add(make("b", 4, 4, fma_work(200), kEighth), "stream: 1");
  const configs::Result sequential = bench.run(configs::SEQUENTIAL);
  const configs::Result concurrent = bench.run(configs::CONCURRENT);
  EXPECT_NEAR(speed_up(sequential, concurrent), 2, 0.05);
  EXPECT_THAT(sequential.reason(), testing::StartsWith("a and b not overlapping"));
}

// The same pipe: nothing is won, whatever the policy.
TEST(Effect, NothingIsWonWhereBothWantOnePipe) {
  Bench bench;
  bench.add(make("a", 4, 4, alu_work(200), kEighth), "stream: 0").add(make("b", 4, 4, alu_work(200), kEighth), "stream: 1");
  const configs::Result sequential = bench.run(configs::SEQUENTIAL);
  for (const configs::PolicyKind kind : {configs::CONCURRENT, configs::SLICED}) {
    EXPECT_NEAR(speed_up(sequential, bench.run(kind)), 1, 0.02) << configs::PolicyKind_Name(kind);
  }
}

// Left over by a kernel that fills the SM is nothing until its last CTAs. Quotas let both in, and the pipes complement each other.
TEST(Effect, SlicesLetInWhatTheFirstKernelWouldKeepOut) {
  Bench bench;
  bench.add(make("greedy", 64, 4, alu_work(20), kEighth), "stream: 0").add(make("b", 64, 4, fma_work(20), kEighth), "stream: 1");
  const configs::Result sequential = bench.run(configs::SEQUENTIAL);
  EXPECT_LT(speed_up(sequential, bench.run(configs::CONCURRENT)), 1.15);
  EXPECT_GT(speed_up(sequential, bench.run(configs::SLICED)), 1.9);
  // The default is four CTAs of eight each; the same said by hand, and said in warps or registers.
  const uint64_t fair = bench.run(configs::SLICED).total_cycles();
  for (const char* quota : {"ctas: 4", "warps: 16", "registers: 32768"}) {
    bench.policy("quota { kernel: \"greedy\" " + std::string(quota) + " } quota { kernel: \"b\" " + quota + " }");
    EXPECT_EQ(bench.run(configs::SLICED).total_cycles(), fair) << quota;
  }
}

// A quota bounds a kernel only while another kernel runs.
TEST(Effect, ASliceGrowsToTheWholeSmWhenTheOthersHaveEnded) {
  Bench bench;
  bench.add(make("a", 2, 4, alu_work(1), kEighth), "stream: 0").add(make("b", 160, 4, fma_work(20), kEighth), "stream: 1");
  const uint64_t alone = bench.run(configs::SEQUENTIAL).alone(1).cycles();
  bench.policy("quota { kernel: \"b\" ctas: 1 }");
  EXPECT_LT(bench.run(configs::SLICED).total_cycles(), alone * 11 / 10);
}

// A chain of dependent instructions is as fast as each of them gets its turn. Beside older CTAs it waits for that, on SMs of its
// own it never does.
TEST(Effect, PartitionsKeepAChainFromWaitingForItsTurn) {
  Bench bench(2);
  bench.add(make("hog", 14, 4, alu_work(40), kEighth), "stream: 0").add(make("chain", 2, 4, chain(400), kEighth), "stream: 1");
  const configs::Result concurrent = bench.run(configs::CONCURRENT);
  bench.policy("sm_share { kernel: \"chain\" sms: 1 } sm_share { kernel: \"hog\" percent: 50 }");
  const configs::Result partition = bench.run(configs::SM_PARTITION);
  EXPECT_EQ(kernel(partition, "chain").cycles(), kernel(partition, "chain").solo_cycles());
  EXPECT_EQ(kernel(partition, "hog").cycles(), kernel(partition, "hog").solo_cycles());
  EXPECT_GT(kernel(concurrent, "chain").slowdown_vs_solo(), 1.2);
  EXPECT_LT(partition.total_cycles(), concurrent.total_cycles());
  EXPECT_EQ(kernel(partition, "chain").sms(), 1);
}

// Both kernels fill the chip; on halves of it each takes twice as long, at the same time: no better and no worse.
TEST(Effect, PartitionsOfEqualKernelsCostNothing) {
  Bench bench(4);
  bench.add(make("a", 64, 4, alu_work(20), kEighth), "stream: 0").add(make("b", 64, 4, alu_work(20), kEighth), "stream: 1");
  const configs::Result partition = bench.run(configs::SM_PARTITION);
  EXPECT_NEAR(speed_up(bench.run(configs::SEQUENTIAL), partition), 1, 0.02);
  EXPECT_EQ(kernel(partition, "a").sms(), 2);
  EXPECT_EQ(partition.sm_classes(), 2);
  // The same resource binds it on two SMs and on four. Each of two has more warps, since the last CTAs are a smaller part.
  const configs::Result sequential = bench.run(configs::SEQUENTIAL);
  const configs::KernelResult& whole = kernel(sequential, "a");
  EXPECT_EQ(whole.bound_by(), "alu");
  EXPECT_EQ(kernel(partition, "a").bound_by(), whole.bound_by());
  EXPECT_GE(kernel(partition, "a").occupancy().average_warps(), whole.occupancy().average_warps());
}

TEST(Effect, SmsOfAKernelThatHasEndedStayIdle) {
  Bench bench(4);
  bench.add(make("a", 8, 4, alu_work(20), kEighth), "stream: 0").add(make("b", 128, 4, alu_work(20), kEighth), "stream: 1");
  const configs::Result partition = bench.run(configs::SM_PARTITION);
  EXPECT_THAT(partition.reason(), testing::StartsWith("idle SMs, up to 2 of 4"));
  EXPECT_LT(speed_up(bench.run(configs::SEQUENTIAL), partition), 0.7);
}

// A short kernel that comes when a long one has filled the SM waits for its last CTAs where it comes second, and for the first
// CTA that ends where it has priority.
TEST(Effect, PriorityLetsALateShortKernelFinishFirst) {
  Bench bench;
  bench.add(make("long", 64, 4, alu_work(40), kEighth), "stream: 0");
  bench.add(make("first", 1, 4, alu_work(1), kEighth), "stream: 1 priority: 1");
  bench.add(make("short", 2, 4, alu_work(5), kEighth), "stream: 1");
  bench.policy("by_priority { order: \"short\" issue: true }");
  const configs::Result concurrent = bench.run(configs::CONCURRENT);
  const configs::Result priority = bench.run(configs::PRIORITY);
  EXPECT_GT(kernel(concurrent, "short").end_cycle(), kernel(concurrent, "long").end_cycle() * 9 / 10);
  EXPECT_LT(kernel(priority, "short").end_cycle(), kernel(priority, "long").end_cycle() / 4);
}

// No other kernel slows down one whose instructions have priority. Placement by priority alone, as on hardware, leaves the issue
// slot to older CTAs.
TEST(Effect, PriorityOfInstructionsKeepsAKernelAtItsOwnPace) {
  Bench bench;
  bench.add(make("hog", 6, 4, alu_work(100), kEighth), "stream: 0");
  bench.add(make("first", 1, 4, alu_work(1), kEighth), "stream: 1 priority: 1");
  bench.add(make("chain", 1, 4, chain(200), kEighth), "stream: 1 priority: 1");
  const configs::Result placed = bench.run(configs::PRIORITY);
  EXPECT_GT(kernel(placed, "chain").slowdown_vs_solo(), 1.5);
  EXPECT_EQ(placed.total_cycles(), bench.run(configs::CONCURRENT).total_cycles());
  bench.policy("by_priority { issue: true }");
  EXPECT_LT(kernel(bench.run(configs::PRIORITY), "chain").slowdown_vs_solo(), 1.3);
}

TEST(Effect, CarveOutLetsInWhatTheFirstKernelWouldKeepOut) {
  Bench bench;
  bench.add(make("greedy", 64, 4, alu_work(20), kEighth), "stream: 0").add(make("b", 64, 4, fma_work(20), kEighth), "stream: 1");
  bench.policy("reserve { kernel: \"b\" register_percent: 50 warp_slot_percent: 25 }");
  EXPECT_GT(speed_up(bench.run(configs::SEQUENTIAL), bench.run(configs::CARVE_OUT)), 1.9);
}

}  // namespace
}  // namespace warpfold::policies
