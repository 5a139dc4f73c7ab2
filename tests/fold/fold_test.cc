// Exact folding: recurring periods are skipped and no result changes. Each test shows one phenomenon.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "tests/support/same_outcome.h"
#include "tests/support/tcgen05.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

using testing::HasSubstr;

sim::Outcome folded(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches) {
  return outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact}});
}

// Simulates with and without folding and expects equal outcomes. Returns the folded one.
sim::Outcome both(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches) {
  sim::Outcome exact = folded(gpu, launches);
  const sim::Outcome off = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}});
  EXPECT_EQ(difference(exact, off), "");
  EXPECT_EQ(off.fold.mode, sim::Folded::kOff);
  EXPECT_LE(off.fold.instructions_replayed, off.fold.instructions_of_classes);
  EXPECT_EQ(exact.fold.instructions_of_classes, off.fold.instructions_of_classes);
  return exact;
}

sim::Outcome both(const configs::Gpu& gpu, const traces::Kernel& kernel) { return both(gpu, {launch(kernel)}); }

// Expects that less than 1/`share` of the instructions were replayed.
void expect_replayed(const sim::Outcome& run, uint64_t share) {
  EXPECT_EQ(run.fold.mode, sim::Folded::kExact);
  EXPECT_EQ(run.fold.error_bound, 0);
  EXPECT_LT(run.fold.instructions_replayed * share, run.fold.instructions_of_classes);
}

Lines ffma_body() {
  return {op("FFMA R4, R8, R9, R4", {.stall = 2}), op("IADD3 R5, R10, R11, R12"), op("MUFU.EX2 R6, R7", {.stall = 2, .write = 0}),
          op("FADD R6, R6, R6", {.stall = 5, .wait = {0}})};
}

traces::Kernel looping(const std::string& name, uint64_t trips, uint64_t ctas, uint32_t warps = 4) {
  return KernelText(name, "sm_86").ctas(ctas).role("warps", warps, loop(trips, ffma_body())).kernel();
}

TEST(Folding, OneLoopIsReplayedForAFewTrips) {
  const sim::Outcome run = both(one_sm("rtx_a6000"), looping("loop", 20'000, 1));
  EXPECT_LT(run.fold.instructions_replayed, 4'000);
  expect_replayed(run, 50);
  ASSERT_FALSE(run.fold.periods.empty());
  for (const sim::FoldedPeriod& period : run.fold.periods) {
    EXPECT_TRUE(period.exact);
    EXPECT_GT(period.repeats, 0);
    EXPECT_GT(period.instructions, 0);
  }
}

// Two CTA classes run the same code, one of them with no trips of the inner loops. One inner loop begins the outer
// loop's body, and the other follows it at once.
TEST(Folding, LoopsThatAClassSkipsAreSkipped) {
  const Lines inner = join(loop("some", {op("IADD3 R4, R4, 0x1, RZ", {.stall = 4})}), loop("some", ffma_body()));
  const traces::Kernel kernel =
      KernelText("skipping", "sm_86")
          .classes("parameter some\n  class none some=0\n  class all some=500\n  grid none*3 all*2 none*1\n")
          .role("warps", 2, loop(20, join(inner, {op("NOP")})))
          .kernel();
  const sim::Outcome run = both(one_sm("rtx_a6000"), kernel);
  expect_replayed(run, 2);
  // A warp issues 20 NOPs and the EXIT; in two CTAs also 500 trips of 1 and of 4 instructions before each NOP.
  EXPECT_EQ(run.kernels[0].instructions, 2 * (4 * (20 + 1) + 2 * (20 * (500 * 5 + 1) + 1)));
}

// With ten thousand times the trips, about as many instructions are replayed, and a trip takes as many cycles.
TEST(Folding, CostsTheSameHoweverLongTheLoop) {
  const configs::Gpu gpu = one_sm("rtx_a6000");
  const traces::Kernel shorter = looping("loop", 100'000, 1);
  const traces::Kernel longer = looping("loop", 1'000'000'000, 1);
  const traces::Kernel longest = looping("loop", 1'999'900'000, 1);
  const sim::Outcome one = folded(gpu, {launch(shorter)});
  const sim::Outcome many = folded(gpu, {launch(longer)});
  const sim::Outcome most = folded(gpu, {launch(longest)});
  EXPECT_LT(many.fold.instructions_replayed, 2 * one.fold.instructions_replayed);
  EXPECT_EQ(most.total_cycles - many.total_cycles, many.total_cycles - one.total_cycles);
}

TEST(Folding, InstructionsReplayedAndSkippedAreAllThatWereIssued) {
  const sim::Outcome run = both(one_sm("rtx_a6000"), looping("loop", 20'000, 3));
  uint64_t skipped = 0;
  for (const sim::FoldedPeriod& period : run.fold.periods) skipped += period.instructions * period.repeats;
  EXPECT_EQ(run.fold.instructions_replayed + skipped, run.fold.instructions_of_classes);
  EXPECT_EQ(run.fold.instructions_of_classes, run.kernels[0].instructions);
}

TEST(Folding, LoopsInLoops) {
  const Lines inner = loop(40, {op("FFMA R4, R8, R9, R4", {.stall = 4}), op("BRA `(.L_1)", {.stall = 5})});
  const Lines middle = loop(30, join({op("IADD3 R5, R10, R11, R12")}, inner));
  const traces::Kernel kernel = KernelText("nest", "sm_86").role("warps", 2, loop(50, join(middle, ffma_body()))).kernel();
  expect_replayed(both(one_sm("rtx_a6000"), kernel), 10);
}

TEST(Folding, WavesOfCtas) { expect_replayed(both(one_sm("rtx_a6000"), looping("waves", 3, 5'000)), 5); }

// Without loops, a recurrence is found at the ends of CTAs. A loop of one trip counts as none.
TEST(Folding, WavesOfCtasWithoutLoops) {
  for (const uint64_t trips : {0, 1}) {
    const Lines body = trips == 0 ? ffma_body() : loop(trips, ffma_body());
    const auto waves = [&](uint64_t ctas) { return KernelText("waves", "sm_86").ctas(ctas).role("warps", 4, body).kernel(); };
    const traces::Kernel few = waves(5'000);
    const traces::Kernel many = waves(500'000);
    const sim::Outcome run = both(one_sm("rtx_a6000"), few);
    expect_replayed(run, 5);
    const sim::Outcome longer = folded(one_sm("rtx_a6000"), {launch(many)});
    EXPECT_LT(longer.fold.instructions_replayed, 2 * run.fold.instructions_replayed);
  }
}

// CTAs end sooner than new ones can be placed. Requests for a placement do not pile up, so the state recurs.
TEST(Folding, CtasThatWaitToBePlacedOneAfterTheOther) {
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.mutable_sm()->set_cta_launch_cycles(50);
  const traces::Kernel kernel = KernelText("short", "sm_86").ctas(5'000).role("warps", 1, ffma_body()).kernel();
  expect_replayed(both(gpu, kernel), 5);
}

TEST(Folding, EverySmClassForItself) {
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.set_sm_count(3);
  const sim::Outcome run = both(gpu, looping("waves", 400, 200));
  expect_replayed(run, 3);
  std::set<uint32_t> classes;
  for (const sim::FoldedPeriod& period : run.fold.periods) classes.insert(period.sm_class);
  EXPECT_EQ(run.sm_classes, 2);
  EXPECT_EQ(classes.size(), 2);
}

// Two kernels on one pipe take turns, until the longer one has the pipe alone.
TEST(Folding, AKernelThatEndsChangesThePeriod) {
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.mutable_sub_core()->set_issue_policy(configs::LRR);
  const auto heavy = [](const std::string& name, uint64_t trips) {
    return on_one_sub_core("sm_86", {loop(trips, {op("MUFU.EX2 R6, R7", {.stall = 12}), op("FFMA R4, R8, R9, R4")})}, name);
  };
  const traces::Kernel first = heavy("first", 3'000);
  const traces::Kernel second = heavy("second", 20'000);
  const sim::Outcome run = both(gpu, {launch(first, 0), launch(second, 1)});
  expect_replayed(run, 5);
  const sim::Outcome alone = folded(gpu, {launch(second)});
  EXPECT_GT(run.kernels[1].end_cycle, alone.total_cycles);
  std::set<uint64_t> rates;  // instructions per 1000 cycles
  for (const sim::FoldedPeriod& period : run.fold.periods) rates.insert(period.instructions * 1000 / period.cycles);
  EXPECT_GE(rates.size(), 2);
}

struct Grid {
  const char* name;
  const char* classes;
  uint64_t share;
};

std::ostream& operator<<(std::ostream& stream, const Grid& grid) { return stream << grid.classes; }

class Classes : public testing::TestWithParam<Grid> {};

TEST_P(Classes, FoldWhereTheSequenceRepeats) {
  const traces::Kernel kernel = KernelText("tiles", "sm_86")
                                    .options("shared_memory=65536")
                                    .classes(GetParam().classes)
                                    .role("warps", 4, loop("t", ffma_body()))
                                    .kernel();
  expect_replayed(both(one_sm("rtx_a6000"), kernel), GetParam().share);
}

// Ramps of trip counts as in causal attention, long and short; sequences of classes that repeat, or nearly repeat.
INSTANTIATE_TEST_SUITE_P(
    Folding, Classes,
    testing::Values(
        Grid{"Ramp", "parameter t\nclass a t=50\nclass b t=100\nclass c t=400\ngrid a*30 b*30 c*30\n", 5},
        Grid{"RampOfSingles", "parameter t\nclass a t=2000\nclass b t=4000\nclass c t=6000\ngrid a*1 b*1 c*1\n", 5},
        Grid{"Repeated", "parameter t\nclass a t=3\nclass b t=7\ngrid a*3 b*2 a*3 b*2 a*3 b*2 a*3 b*2 a*3 b*2 a*300\n", 2},
        Grid{"Ragged", "parameter t\nclass a t=900\nclass b t=1\nclass c t=333\ngrid a*1 b*7 c*1 a*2 c*3 b*50 a*1\n", 5},
        Grid{"OneOddTile", "parameter t\nclass a t=20\nclass b t=21\ngrid a*500 b*1 a*500\n", 5}),
    [](const auto& grid) { return std::string(grid.param.name); });

Lines try_wait(std::string_view effect) { return {op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, effect)}; }
Lines arrive(std::string_view effect) { return {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, effect)}; }

// A kernel in which a producer fills a ring of `depth` stages in `t` rounds and a warpgroup multiplies from it in `u`.
// `producer_first`: the producer is in a warpgroup of its own whose other warps exit at once, as in compiled GEMMs.
KernelText pipeline(int depth, int columns, bool producer_first = false) {
  const std::string stages = text({" depth=", std::to_string(depth)});
  const Lines consumer = loop(
      "u", join(try_wait("barrier=0 cursor=1"), join(wgmma_lines({columns, false, 4}), arrive("barrier=1 cursor=1 advance=1"))));
  const Lines producer =
      loop("t", join(join(try_wait("barrier=1 cursor=0"), arrive("barrier=0 cursor=0 tx_bytes=16384")),
                     {op("UTMALDG.2D [UR8], [UR4]", {.stall = 4}, "bytes=16384 barrier=0 cursor=0 stream=0 advance=1")}));
  KernelText kernel("gemm", "sm_90");
  kernel.options("registers=128 shared_memory=131072")
      .declare(text({"ring full", stages, " arrivals=1"}))
      .declare(text({"ring empty", stages, " arrivals=4 free"}))
      .declare(text({"cursor load", stages}))
      .declare(text({"cursor use", stages}))
      .declare("stream data read dram=1/4");
  if (producer_first) kernel.role("producer", 1, producer).role("idle", 3, {op("NOP")});
  kernel.role("consumer", 4, consumer);
  if (!producer_first) kernel.role("producer", 1, producer);
  return kernel;
}

TEST(Folding, ProductsIntoTensorMemory) {
  // The state recurs only after some 1,500 tiles, when the reader's delay relative to the copier has reached its limit
  // (kMostApart).
  const Scenario alone = tcgen05_scenario(20'000);
  expect_replayed(both(alone.gpu, {launch(alone.kernels[0])}), 4);
  const Scenario beside = tcgen05_scenario(500);
  EXPECT_EQ(both(beside.gpu, beside.launches).fold.error_bound, 0);
}

TEST(Folding, RingsOfMbarriersAndWgmma) {
  for (const int depth : {1, 3, 4}) {
    const traces::Kernel kernel =
        pipeline(depth, 128).classes("parameter t\nparameter u\nclass a t=3000 u=3000\ngrid a*2\n").kernel();
    expect_replayed(both(one_sm("h100_sxm"), kernel), 4);
  }
}

// Returns the instructions of the shortest period.
uint64_t shortest_period(const sim::Outcome& run) {
  uint64_t shortest = run.fold.instructions_of_classes;
  for (const sim::FoldedPeriod& period : run.fold.periods) shortest = std::min(shortest, period.instructions);
  return shortest;
}

// A state with all cursors one stage further is the same state, so a period need not be a multiple of the ring's depth.
TEST(Folding, RingsTurn) {
  for (const bool producer_first : {false, true}) {
    for (const int depth : {5, 7, 11}) {
      const traces::Kernel kernel =
          pipeline(depth, 128, producer_first).classes("parameter t\nparameter u\nclass a t=3000 u=3000\ngrid a*1\n").kernel();
      const sim::Outcome run = both(one_sm("h100_sxm"), kernel);
      expect_replayed(run, 20);
      const uint64_t round = run.kernels[0].instructions / 3000;
      EXPECT_LT(shortest_period(run), 3 * round) << depth;
    }
  }
}

// The warp from whose cursor stages are counted exits while the consumers are still in their loops.
TEST(Folding, RingsTurnWhenTheFirstToUseThemHasLeft) {
  const traces::Kernel kernel = pipeline(7, 64, true).classes("parameter t\nparameter u\nclass a t=40 u=40\ngrid a*300\n").kernel();
  expect_replayed(both(one_sm("h100_sxm"), kernel), 4);
}

// A warp waits for the first stage without a cursor, so the stages differ. The state then recurs at the earliest
// after a whole turn of the ring.
TEST(Folding, RingsWithAStageOfTheirOwnDoNotTurn) {
  for (const int depth : {5, 7}) {
    const traces::Kernel kernel = pipeline(depth, 128)
                                      .classes("parameter t\nparameter u\nclass a t=3000 u=3000\ngrid a*1\n")
                                      .role("onlooker", 1, try_wait("barrier=0"))
                                      .kernel();
    const sim::Outcome run = both(one_sm("h100_sxm"), kernel);
    expect_replayed(run, 4);
    const uint64_t round = run.kernels[0].instructions / 3000;
    EXPECT_GE(shortest_period(run), static_cast<uint64_t>(depth) * round - 1) << depth;
  }
}

TEST(Folding, CtasWithRingsReplaceEachOther) {
  const traces::Kernel kernel = pipeline(4, 64).classes("parameter t\nparameter u\nclass a t=12 u=12\ngrid a*400\n").kernel();
  expect_replayed(both(one_sm("h100_sxm"), kernel), 4);
}

TEST(Folding, CpAsyncGroups) {
  const Lines body = join(
      {op("LDGSTS.E.128 [R6], [R2.64]", {}, "bytes=512 stream=0"), op("LDGDEPBAR"), op("DEPBAR.LE.LDGSTS SB0, 0x2", {.stall = 4})},
      ffma_body());
  const traces::Kernel kernel =
      KernelText("copies", "sm_86").declare("stream data read dram=1/2").role("warps", 2, loop(4'000, body)).kernel();
  expect_replayed(both(one_sm("rtx_a6000"), kernel), 4);
}

// `next` is released `kernel_launch` cycles after the last CTA of `first` has ended on any SM. The SM that ends `first`
// early is then in the middle of the loop of `beside`, and must not have skipped beyond that cycle.
TEST(Folding, StopsAtALaunchThatAnotherSmReleases) {
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.set_sm_count(2);
  for (const uint32_t delay : {0U, 1U, 97U, 1500U}) {
    gpu.set_kernel_launch_cycles(delay);
    const traces::Kernel first = KernelText("first", "sm_86")
                                     .options("shared_memory=65536")
                                     .classes("parameter t\nclass a t=30\nclass b t=700\ngrid b*1 a*1\n")
                                     .role("warps", 4, loop("t", ffma_body()))
                                     .kernel();
    const traces::Kernel next = looping("next", 500, 4);
    const traces::Kernel beside = looping("beside", 3'000, 2);
    sim::Launch after = launch(next, 2);
    after.after = {0};
    const sim::Outcome run = both(gpu, {launch(first, 0), launch(beside, 1), after});
    EXPECT_EQ(run.sm_classes, 2);
    EXPECT_EQ(run.kernels[2].start_cycle, run.kernels[0].end_cycle + delay);
    EXPECT_LT(run.kernels[2].start_cycle, run.kernels[1].end_cycle);
    expect_replayed(run, 2);
  }
}

// The consumers of the last CTA wait for a round that no warp produces. The report is the same as without folding.
TEST(Folding, LeavesDeadlocksAndTheirReports) {
  for (const char* classes : {"parameter t\nparameter u\nclass good t=9 u=9\nclass bad t=9 u=10\ngrid good*200 bad*1\n",
                              "parameter t\nparameter u\nclass bad t=2000 u=2003\ngrid bad*1\n",
                              "parameter t\nparameter u\nclass bad t=2001 u=2003\ngrid bad*1\n"}) {
    const traces::Kernel kernel = pipeline(3, 64).classes(classes).kernel();
    const sim::Outcome run = both(one_sm("h100_sxm"), kernel);
    EXPECT_TRUE(run.deadlocked);
    EXPECT_EQ(run.fold.mode, sim::Folded::kExact);
    EXPECT_THAT(run.deadlock.report, HasSubstr("consumer warp 0"));
    EXPECT_THAT(run.deadlock.report, HasSubstr("waits for ring full, 1 phases ahead"));
  }
}

// A wait that begins before a skip and goes on after it is charged from its begin.
TEST(Folding, WaitsThatOutlastThePeriods) {
  const traces::Kernel kernel =
      KernelText("outlast", "sm_90")
          .role("waits", 4, {op("BAR.SYNC.DEFER_BLOCKING 0x1, 0x100", {.stall = 2}, "barrier=1 count=256")})
          .role("works", 4,
                join(loop(5'000, ffma_body()), {op("BAR.SYNC.DEFER_BLOCKING 0x1, 0x100", {.stall = 2}, "barrier=1 count=256")}))
          .kernel();
  const sim::Outcome run = both(one_sm("h100_sxm"), kernel);
  expect_replayed(run, 10);
  EXPECT_GT(run.kernels[0].states[static_cast<size_t>(sim::WarpState::kBarrier)], 3 * run.total_cycles);
}

TEST(Folding, AnIssueLogNeedsEveryInstruction) {
  const traces::Kernel kernel = looping("loop", 1'000, 1);
  std::vector<sim::IssueRecord> log;
  const sim::Outcome run = outcome(one_sm("rtx_a6000"), {launch(kernel)}, {.issue_log = &log});
  EXPECT_EQ(run.fold.mode, sim::Folded::kOff);
  EXPECT_EQ(log.size(), run.kernels[0].instructions);
}

TEST(Folding, WhatNeverRecursIsReplayed) {
  const sim::Outcome run = both(one_sm("rtx_a6000"), looping("short", 2, 1));
  EXPECT_EQ(run.fold.mode, sim::Folded::kNone);
  EXPECT_EQ(run.fold.instructions_replayed, run.fold.instructions_of_classes);
  EXPECT_TRUE(run.fold.periods.empty());
}

// Kernels of loads in four streams, on three SMs that all run different numbers of CTAs.
struct ManyLoads {
  configs::Gpu gpu = one_sm("h100_sxm");
  std::vector<traces::Kernel> kernels;
  std::vector<sim::Launch> launches;

  ManyLoads() {
    gpu.set_sm_count(3);
    gpu.set_kernel_launch_cycles(200);
    for (uint64_t k = 0; k < 16; ++k) kernels.push_back(load(k));
    for (const traces::Kernel& kernel : kernels) launches.push_back(launch(kernel, static_cast<int>(launches.size() % 4)));
  }
  static traces::Kernel load(uint64_t k) {
    return KernelText(text({"load", std::to_string(k)}), "sm_90")
        .options("registers=64 shared_memory=60000")
        .declare("stream data read dram=1/1")
        .ctas(4 + 3 * (k % 5))
        .role("load", 3,
              loop(40 + k, {op("LDG.E R4, [R2.64]", {.write = 0}, "bytes=128 stream=0"), op("FADD R4, R4, R5", {.wait = {0}})}))
        .kernel();
  }
  sim::Outcome run(const sim::FoldOptions& fold) const { return outcome(gpu, launches, {.fold = fold}); }
};

// Launches begin and end too often for the sampler to measure a rate.
TEST(Bounded, TakesNothingOfAShortRun) {
  const ManyLoads loads;
  const sim::Outcome automatic = loads.run({.mode = sim::FoldMode::kAuto});
  EXPECT_GT(automatic.sm_classes, 1);
  EXPECT_NE(automatic.fold.mode, sim::Folded::kBounded);
  EXPECT_EQ(difference(automatic, loads.run({.mode = sim::FoldMode::kOff})), "");
}

}  // namespace
}  // namespace warpfold::test
