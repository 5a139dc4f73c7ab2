// Simulations of every SM of a chip, compared with simulations of one SM for each class.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/chip/reference.h"
#include "sim/sm/make_spec.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Returns `sms` SMs of an H100. Each has `share` times its part of the whole chip's L2 and DRAM bandwidth.
configs::Gpu chip(uint32_t sms, double share = 1) {
  configs::Gpu gpu = one_sm("h100_sxm");
  const double part = share * sms / 132;
  gpu.set_sm_count(sms);
  gpu.mutable_l2()->set_read_bytes_per_clk(part * gpu.l2().read_bytes_per_clk());
  gpu.mutable_l2()->set_write_bytes_per_clk(part * gpu.l2().write_bytes_per_clk());
  gpu.mutable_dram()->set_bandwidth_gb_per_s(part * gpu.dram().bandwidth_gb_per_s());
  gpu.mutable_dram()->set_efficiency_percent(88);  // 14 bytes a cycle for each SM
  gpu.mutable_l2()->set_dirty_bytes(0);            // stores wait for DRAM, so it has served all requests at the end
  return gpu;
}

sim::Outcome simulate(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, bool all_sms) {
  const auto outcome = sim::simulate(gpu, launches, {.all_sms = all_sms, .fold = {.mode = sim::FoldMode::kOff}});
  if (!outcome) throw std::logic_error(outcome.error().text());
  return *outcome;
}

sim::Outcome whole(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches) { return simulate(gpu, launches, true); }
sim::Outcome whole(const configs::Gpu& gpu, const traces::Kernel& kernel) { return whole(gpu, {launch(kernel)}); }
sim::Outcome classes(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches) { return simulate(gpu, launches, false); }
sim::Outcome classes(const configs::Gpu& gpu, const traces::Kernel& kernel) { return classes(gpu, {launch(kernel)}); }

double ratio(uint64_t part, uint64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }
// Returns the cycles with every SM simulated over the cycles with one SM for each class.
double whole_over_classes(const configs::Gpu& gpu, const traces::Kernel& kernel) {
  return ratio(whole(gpu, kernel).total_cycles, classes(gpu, kernel).total_cycles);
}

uint64_t busy(const sim::Outcome& outcome, std::string_view name) {
  return std::ranges::find(outcome.resources, name, &sim::ResourceUse::name)->busy;
}

// Returns all counters of an outcome.
std::vector<uint64_t> counters(const sim::Outcome& outcome) {
  std::vector<uint64_t> all{outcome.total_cycles};
  for (const sim::KernelCounters& kernel : outcome.kernels) {
    all.insert(all.end(), {kernel.start_cycle, kernel.end_cycle, kernel.ctas, kernel.instructions, kernel.resident_warp_cycles,
                           kernel.l2_bytes, kernel.l2_bytes_served, kernel.dram_bytes});
    all.insert(all.end(), kernel.states.begin(), kernel.states.end());
  }
  for (const sim::ResourceUse& use : outcome.resources) all.push_back(use.busy);
  for (const auto& victim : outcome.ledger) {
    for (const auto& culprit : victim) all.insert(all.end(), culprit.begin(), culprit.end());
  }
  return all;
}

// A kernel whose warps each keep four loads of 512 bytes under way. `stream`: such as "read dram=1/1".
traces::Kernel stream(uint64_t ctas, uint64_t trips, std::string_view stream, uint32_t warps = 8) {
  Lines lines;
  for (int c = 0; c < 4; ++c)
    lines.push_back(
        op(text({"LDG.E.128 R", std::to_string(8 + 4 * c), ", [R2.64]"}), {.write = c, .wait = {c}}, "bytes=512 stream=0"));
  // An SM has room for one CTA at a time, so that CTAs make waves.
  return KernelText("stream", "sm_90")
      .options("registers=64 shared_memory=120000")
      .declare(text({"stream data ", stream}))
      .ctas(ctas)
      .role("load", warps, join(loop(trips, join(lines, {op("BRA `(.L_1)", {.stall = 5})})), {op("NOP", {.wait = {0, 1, 2, 3}})}))
      .kernel();
}

traces::Kernel arithmetic(uint64_t ctas, uint64_t trips) {
  const Lines lines = repeat(4, {op("FFMA R8, R4, R5, R8"), op("IADD3 R9, R6, R7, R9", {.stall = 2})});
  return KernelText("arithmetic", "sm_90")
      .ctas(ctas)
      .role("all", 8, loop(trips, join(lines, {op("BRA `(.L_1)", {.stall = 5})})))
      .kernel();
}

// A kernel whose producer copies tiles in bulk through a ring. The consumers wait for the tiles and store.
traces::Kernel bulk(uint64_t ctas, uint64_t tiles) {
  const std::string fill = "bytes=8192 barrier=0 cursor=0 stream=0";
  return KernelText("bulk", "sm_90")
      .options("registers=64 shared_memory=120000")
      .declare("ring full depth=4 arrivals=1")
      .declare("ring empty depth=4 arrivals=4 free")
      .declare("cursor fill depth=4")
      .declare("cursor use depth=4")
      .declare("stream data read dram=1/4")
      .declare("stream out write dram=1/2")
      .ctas(ctas)
      .role("producer", 1,
            loop(tiles, {op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=1 cursor=0"),
                         op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=0 cursor=0 tx_bytes=16384"),
                         op("UTMALDG.2D [UR8], [UR4]", {.stall = 2}, fill),
                         op("UTMALDG.2D [UR8], [UR4]", {.stall = 2}, text({fill, " advance=1"})), op("BRA `(.L_1)", {.stall = 5})}))
      .role("consumer", 4,
            loop(tiles, {op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0 cursor=1"),
                         op("LDS.128 R8, [R2]", {.stall = 2, .write = 0}),
                         op("STG.E.128 [R4.64], R8", {.stall = 2, .read = 1, .wait = {0, 1}}, "bytes=512 stream=1"),
                         op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=1 cursor=1 advance=1"),
                         op("BRA `(.L_2)", {.stall = 5})}))
      .kernel();
}

TEST(WholeChip, OfOneSmIsTheClassViewBitForBit) {
  const configs::Gpu gpu = chip(1);
  const traces::Kernel load = stream(3, 50, "read dram=1/3");
  const traces::Kernel copy = bulk(3, 40);
  const traces::Kernel compute = arithmetic(5, 60);
  const traces::Kernel tensor = wgmma_kernel({64, false, 30});
  for (const std::vector<sim::Launch>& launches : {std::vector{launch(load)},
                                                   {launch(copy)},
                                                   {launch(copy, 0), launch(load, 1), launch(compute, 2)},
                                                   {launch(load), launch(compute), launch(copy), launch(tensor)}}) {
    EXPECT_EQ(counters(whole(gpu, launches)), counters(classes(gpu, launches)));
  }
}

// Some SMs run five CTAs and others four. They share L2 and DRAM in both views.
TEST(WholeChip, DoesNotDependOnTheNumberOfThreads) {
  const configs::Gpu gpu = chip(8);
  const traces::Kernel load = stream(37, 50, "read dram=1/3");
  const traces::Kernel copy = bulk(11, 40);
  const std::vector<sim::Launch> launches{launch(load, 0), launch(copy, 1)};
  for (const bool all_sms : {true, false}) {
    const auto on = [&](unsigned threads) {
      return counters(
          *sim::simulate(gpu, launches, {.all_sms = all_sms, .threads = threads, .fold = {.mode = sim::FoldMode::kExact}}));
    };
    const std::vector<uint64_t> one = on(1);
    EXPECT_EQ(on(2), one);
    EXPECT_EQ(on(7), one);
  }
}

TEST(WholeChip, SimulatesEverySmThatReceivesACta) {
  const traces::Kernel few = arithmetic(5, 10);
  const sim::Outcome of_classes = classes(chip(8), few);
  const sim::Outcome of_all = whole(chip(8), few);
  EXPECT_FALSE(of_classes.whole_chip);
  EXPECT_TRUE(of_all.whole_chip);
  EXPECT_EQ(of_classes.sms_simulated, 1);
  EXPECT_EQ(of_all.sms_simulated, 5);
  EXPECT_EQ(of_all.sm_classes, 1);
  EXPECT_EQ(whole(chip(3), few).sms_simulated, 3);
  EXPECT_EQ(whole(chip(3), few).sm_classes, 2);
}

// A folded SM would leave out requests that delay other SMs.
TEST(WholeChip, FoldsNothing) {
  const traces::Kernel kernel = arithmetic(4, 4000);
  const auto outcome = sim::simulate(chip(4), {launch(kernel)}, {.all_sms = true, .fold = {.mode = sim::FoldMode::kExact}});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->fold.mode, sim::Folded::kOff);
  EXPECT_EQ(outcome->fold.instructions_replayed, traces::issued_instructions(kernel));
}

// ---- runs in which both views agree exactly

TEST(WholeChip, AgreesExactlyWithoutMemory) {
  const traces::Kernel kernel = arithmetic(19, 60);
  EXPECT_EQ(counters(whole(chip(6), kernel)), counters(classes(chip(6), kernel)));
}

// If an SM's part of L2 and DRAM is faster than its port, the port alone decides when bytes arrive.
TEST(WholeChip, AgreesExactlyWhereThePortsAreTheNarrowestPlace) {
  constexpr double kPlenty = 40;
  for (const traces::Kernel& kernel : {stream(9, 30, "read dram=1/3"), bulk(6, 30)}) {
    EXPECT_EQ(counters(whole(chip(4, kPlenty), kernel)), counters(classes(chip(4, kPlenty), kernel)));
  }
}

// ---- runs that saturate memory

// Equal SMs get equal service, so one SM represents its class. A class's rate is rounded to 1/4096.
TEST(WholeChip, AgreesWhereEqualSmsSaturateMemory) {
  constexpr double kRounding = 1.0 / 4096;
  for (const std::string_view what : {"read dram=0/1", "read dram=1/1", "read dram=1/4"}) {
    EXPECT_NEAR(whole_over_classes(chip(8), stream(16, 100, what)), 1, kRounding) << what;
  }
  EXPECT_NEAR(whole_over_classes(chip(8), bulk(8, 40)), 1, kRounding);
  EXPECT_NEAR(whole_over_classes(chip(8, 0.25), bulk(8, 40)), 1, kRounding);
}

// Five CTAs on four SMs: in the second wave, one SM has the memory to itself. It uses two of the chip's four shares of
// 14 bytes a cycle: with room for 30 requests of 512 bytes, it fetches about 27 bytes a cycle at DRAM's latency of 570
// cycles. So the second wave takes half as long as the first, and both together 0.75 times two waves.
TEST(WholeChip, GivesATailWaveTheBandwidthOfIdleSms) {
  const uint64_t wave = classes(chip(4), stream(4, 200, "read dram=1/1")).total_cycles;
  EXPECT_NEAR(ratio(classes(chip(4), stream(5, 200, "read dram=1/1")).total_cycles, 2 * wave), 0.75, 0.01);
  EXPECT_NEAR(whole_over_classes(chip(4), stream(5, 200, "read dram=1/1")), 1, 0.001);
}

// Two of four SMs saturate the memory with twice their shares. A single SM is limited by its requests under way.
TEST(WholeChip, GivesFewSmsTheBandwidthOfIdleSms) {
  const uint64_t wave = classes(chip(4), stream(4, 200, "read dram=1/1")).total_cycles;
  for (const uint64_t ctas : {1, 2}) {
    EXPECT_NEAR(ratio(classes(chip(4), stream(ctas, 200, "read dram=1/1")).total_cycles, wave), 0.5, 0.01);
    EXPECT_NEAR(whole_over_classes(chip(4), stream(ctas, 200, "read dram=1/1")), 1, 0.001);
  }
}

// One class saturates memory and the other does not. Both views give both kernels the same cycles.
TEST(WholeChip, AgreesOnClassesThatMeetInMemory) {
  const traces::Kernel load = stream(3, 120, "read dram=1/1");
  const traces::Kernel copy = bulk(5, 30);
  std::vector<sim::Launch> launches{launch(load, 0), launch(copy, 1)};
  launches[0].sms = {.first = 0, .count = 3};
  launches[1].sms = {.first = 3, .count = 5};
  const sim::Outcome of_all = whole(chip(8), launches);
  const sim::Outcome of_classes = classes(chip(8), launches);
  for (size_t l = 0; l < launches.size(); ++l) {
    EXPECT_NEAR(ratio(of_all.kernels[l].end_cycle, of_classes.kernels[l].end_cycle), 1, 0.002);
  }
}

// ---- order

// Three SMs make a request in the same cycle and get the same service: 3 x 512 bytes take 192 cycles, and then all
// three requests are complete.
TEST(WholeChip, ServesEqualSmsAlike) {
  configs::Gpu gpu = chip(3);
  gpu.mutable_l2()->set_read_bytes_per_clk(8);
  const auto kernel = [](uint64_t ctas) {
    return KernelText("one", "sm_90")
        .declare("stream data read dram=0/1")
        .ctas(ctas)
        .role("load", 1, {op("LDG.E.128 R8, [R2.64]", {.stall = 2, .write = 0}, "bytes=512 stream=0"), op("NOP", {.wait = {0}})})
        .kernel();
  };
  const auto issues = [&](const traces::Kernel& of) {
    std::vector<sim::IssueRecord> log;
    EXPECT_TRUE(sim::simulate(gpu, {launch(of)}, {.all_sms = true, .issue_log = &log}));
    std::vector<std::vector<uint64_t>> by_sm(of.ctas());
    for (const sim::IssueRecord& record : log) by_sm.at(record.sm_class).push_back(record.cycle);
    return by_sm;
  };
  const auto alone = issues(kernel(1));
  for (const auto& of_sm : issues(kernel(3))) {
    ASSERT_EQ(of_sm.size(), 3);
    EXPECT_EQ(of_sm[0], alone[0][0]);
    EXPECT_EQ(of_sm[1] - alone[0][1], 128);
  }
}

TEST(WholeChip, IsTheSameTwice) {
  const traces::Kernel load = stream(11, 60, "read dram=1/3");
  const traces::Kernel copy = bulk(9, 30);
  const std::vector<sim::Launch> launches{launch(load, 0), launch(copy, 1)};
  EXPECT_EQ(counters(whole(chip(5), launches)), counters(whole(chip(5), launches)));
}

TEST(WholeChip, IsWhatAllSmsDoInLockStep) {
  const traces::Kernel load = stream(11, 60, "read dram=1/3");
  const traces::Kernel copy = bulk(9, 30);
  const traces::Kernel compute = arithmetic(13, 20);
  configs::Gpu gpu = chip(5);
  gpu.set_kernel_launch_cycles(300);
  const std::vector<sim::Launch> launches{launch(load, 0), launch(copy, 1), launch(compute, 1), launch(copy, 0)};
  const sim::Outcome fast = whole(gpu, launches);
  const std::vector<sim::ReferenceLaunch> plain = sim::reference(*sim::make_spec(gpu), launches);
  for (size_t l = 0; l < launches.size(); ++l) {
    const sim::KernelCounters& kernel = fast.kernels[l];
    EXPECT_EQ((sim::ReferenceLaunch{kernel.start_cycle, kernel.end_cycle, kernel.instructions, kernel.resident_warp_cycles}),
              plain[l]);
  }
}

// ---- conservation

TEST(WholeChip, ServesWhatWasRequested) {
  const traces::Kernel load = stream(11, 60, "read dram=1/1");
  const traces::Kernel copy = bulk(9, 30);
  const sim::Outcome outcome = whole(chip(5), {launch(load, 0), launch(copy, 1)});
  for (const sim::KernelCounters& kernel : outcome.kernels) {
    uint64_t states = 0;
    for (const uint64_t cycles : kernel.states) states += cycles;
    EXPECT_EQ(states, kernel.resident_warp_cycles);
    EXPECT_EQ(kernel.l2_bytes, kernel.l2_bytes_served);
  }
  const uint64_t loaded = 11 * 60 * 8 * 4 * 512;
  EXPECT_EQ(outcome.kernels[0].ctas, 11);
  EXPECT_EQ(outcome.kernels[0].l2_bytes, loaded);
  EXPECT_EQ(outcome.kernels[0].dram_bytes, loaded);
  EXPECT_EQ(outcome.kernels[1].ctas, 9);
  EXPECT_EQ(busy(outcome, "l2_read"), loaded + 9 * 30 * 2 * 8192);
  EXPECT_EQ(busy(outcome, "l2_write"), 9 * 30 * 4 * 512);
  EXPECT_EQ(busy(outcome, "dram"), outcome.kernels[0].dram_bytes + outcome.kernels[1].dram_bytes);
  EXPECT_EQ(busy(outcome, "sm_ingress"), busy(outcome, "l2_read"));
}

// When SM classes stop sharing L2, its dirty bytes stay the same in number: the second set of stores finds as much room
// in L2 as with every SM simulated.
TEST(WholeChip, WritesBackAsManyBytesAsClassesDo) {
  const traces::Kernel writer =
      KernelText("writer", "sm_90")
          .options("registers=64 shared_memory=120000")
          .declare("stream data write dram=1/1")
          .ctas(7)
          .role("store", 4,
                join(loop(100, join(repeat(4, {op("STG.E.128 [R2.64], R8", {.stall = 2}, "bytes=512 stream=0")}),
                                    {op("BRA `(.L_1)", {.stall = 5})})),
                     {op("NOP")}))
          .kernel();
  const traces::Kernel reader = stream(2, 50, "read dram=1/4");
  const traces::Kernel compute = arithmetic(8, 20);
  const auto on = [](const traces::Kernel& kernel, int stream, uint32_t first, uint32_t count, std::vector<int> after) {
    sim::Launch each = launch(kernel, stream);
    each.sms = {first, count};
    each.after = std::move(after);
    return each;
  };
  configs::Gpu gpu = chip(4, 0.25);
  gpu.mutable_l2()->set_dirty_bytes(2 * writer.ctas() * 4 * 100 * 4 * 512);
  gpu.set_kernel_launch_cycles(1000);
  const std::vector<sim::Launch> twice = {on(writer, 0, 0, 2, {}),  on(reader, 1, 2, 1, {}),  on(compute, 2, 0, 3, {0, 1}),
                                          on(writer, 3, 0, 2, {2}), on(reader, 4, 2, 1, {2}), on(compute, 5, 0, 3, {3, 4})};
  const sim::Outcome chip = whole(gpu, twice);
  const sim::Outcome by_class = classes(gpu, twice);
  for (size_t k = 0; k < twice.size(); ++k)
    EXPECT_NEAR(ratio(chip.kernels[k].end_cycle, by_class.kernels[k].end_cycle), 1, 0.002) << k;
}

// ---- launches

TEST(WholeChip, StartsALaunchWhenItIsDueOnAllSms) {
  const traces::Kernel load = stream(11, 40, "read dram=1/2");
  const traces::Kernel compute = arithmetic(7, 20);
  for (const uint32_t delay : {0U, 1U, 2U, 1500U}) {
    configs::Gpu gpu = chip(4);
    gpu.set_kernel_launch_cycles(delay);
    sim::Launch beside = launch(compute, 1);
    beside.priority = 1;
    const sim::Outcome outcome = whole(gpu, {launch(load), launch(compute), beside, launch(load)});
    EXPECT_EQ(outcome.kernels[1].start_cycle, outcome.kernels[0].end_cycle + delay);
    EXPECT_EQ(outcome.kernels[2].start_cycle, 0);
    EXPECT_EQ(outcome.kernels[3].start_cycle, outcome.kernels[1].end_cycle + delay);
  }
}

TEST(WholeChip, NamesEachWayToHangOnce) {
  const traces::Kernel stuck =
      KernelText("stuck", "sm_90")
          .ctas(5)
          .role("arrive", 1, {op("BAR.SYNC.DEFER_BLOCKING 0x3, 0x40", {}, "barrier=3 count=64"), op("NOP")})
          .role("absent", 1, {op("NOP")})
          .kernel();
  const sim::Outcome outcome = whole(chip(4), {launch(stuck), launch(stuck)});
  ASSERT_TRUE(outcome.deadlocked);
  EXPECT_THAT(outcome.deadlock.report,
              AllOf(HasSubstr("SM 0:\n"), HasSubstr("SM 1 and 2 more alike:\n"), Not(HasSubstr("SM 2")),
                    HasSubstr("stuck waits for a launch before it"), HasSubstr("barrier 3, 1 warps have arrived")));
}

}  // namespace
}  // namespace warpfold::test
