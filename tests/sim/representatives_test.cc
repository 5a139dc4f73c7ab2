// Classes of SMs that need not be simulated in a bounded run, because others end no earlier.

#include "sim/sampling/representatives.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>

#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::RepresentativeClass;
using sim::SmClass;

// A long CTA has ten times the trips of a short one. An SM holds two of 32 warps.
traces::Kernel long_and_short(uint32_t warps) {
  return KernelText("k", "sm_90")
      .options("registers=32")
      .classes("parameter t\nclass long t=100\nclass short t=10\ngrid long*1 short*1\n")
      .role("warps", warps, loop("t", {op("IADD3 R0, R1, R2, R3"), op("IADD3 R1, R0, R2, R3")}))
      .kernel();
}

SmClass sm_class(uint64_t sms, uint64_t long_ctas, uint64_t short_ctas) { return {sms, {{{0, long_ctas}, {1, short_ctas}}}}; }

uint64_t ctas(const SmClass& of) { return of.ctas[0][0].count + of.ctas[0][1].count; }

// By their numbers of CTAs: how many SMs each class that is simulated stands for.
std::map<uint64_t, uint64_t> simulated(const std::vector<RepresentativeClass>& classes) {
  std::map<uint64_t, uint64_t> sms;
  for (const RepresentativeClass& each : classes) sms[ctas(each.sm_class)] = each.sm_class.sms;
  return sms;
}

class Representatives : public testing::Test {
 protected:
  std::vector<RepresentativeClass> merge(const std::vector<SmClass>& classes, double difference) const {
    return sim::choose_representatives(classes, {image_}, difference);
  }

  traces::Kernel kernel_ = long_and_short(32);
  sim::Spec spec_ = *sim::make_spec(one_sm("h100_sxm"));
  sim::KernelImage image_ = *sim::make_image(spec_, kernel_);
};

TEST_F(Representatives, LeavesOutWhatAMeanOfTwoOthersHasAsMuchAs) {
  // Long and short alone, nine long and three short: some 3 % fewer instructions than nine and six, two CTAs more than ten.
  const std::vector<SmClass> classes{sm_class(2, 10, 0), sm_class(3, 9, 3), sm_class(5, 9, 6)};
  const auto merged = merge(classes, 0.05);
  EXPECT_EQ(merged.size(), 2);
  EXPECT_EQ(merged[0].sm_class.sms + merged[1].sm_class.sms, 10);
  EXPECT_EQ(ctas(merged[0].sm_class), 10);
  EXPECT_EQ(ctas(merged[1].sm_class), 15);
}

TEST_F(Representatives, KeepsWhatHasMoreCtasThanAnyOtherOrFarFewerInstructions) {
  const std::vector<SmClass> classes{sm_class(1, 10, 0), sm_class(2, 9, 6), sm_class(4, 8, 0)};
  EXPECT_EQ(simulated(merge(classes, 0.05)), (std::map<uint64_t, uint64_t>{{10, 1}, {15, 2}, {8, 4}}));
}

// The order of classes is the order in which they are served where they ask memory in one cycle: a run that leaves none out is the
// replay.
TEST_F(Representatives, StayInTheOrderOfTheClasses) {
  const auto merged = merge({sm_class(4, 8, 0), sm_class(2, 9, 6), sm_class(1, 10, 0)}, 0.05);
  std::vector<uint64_t> sms;
  for (const RepresentativeClass& each : merged) sms.push_back(each.sm_class.sms);
  EXPECT_EQ(sms, (std::vector<uint64_t>{4, 2, 1}));
}

TEST_F(Representatives, AFewCtasMoreAreNoReasonToSimulateAnotherSm) {
  const std::vector<SmClass> classes{sm_class(1, 100, 0), sm_class(2, 98, 6)};  // 104 CTAs, 1.4 % fewer instructions
  EXPECT_EQ(simulated(merge(classes, 0.05)), (std::map<uint64_t, uint64_t>{{100, 3}}));
  EXPECT_EQ(merge(classes, 0.03).size(), 2);
}

// 16 of 4 warps fit: as many come and go but twice, and whose warps get on best decides when the last of them ends.
TEST_F(Representatives, KeepsWhatIsTooFewCtasToAverageOver) {
  const traces::Kernel small = long_and_short(4);
  const sim::KernelImage image = *sim::make_image(spec_, small);
  const auto merged = [&](uint64_t ctas) {
    return sim::choose_representatives({sm_class(1, ctas, 0), sm_class(2, ctas, 1)}, {image}, 0.05);
  };
  EXPECT_EQ(merged(31).size(), 2);
  EXPECT_EQ(merged(33).size(), 1);
  EXPECT_EQ(sim::choose_representatives({sm_class(1, 2, 0), sm_class(2, 2, 0)}, {image}, 0.05).size(), 1);
  // As many instructions, but not in the same CTAs: those of a long one come last.
  const SmClass shorts{1, {{{1, 20}}}};
  const SmClass longs{1, {{{0, 2}}}};
  EXPECT_EQ(sim::choose_representatives({shorts, longs}, {image}, 0.05).size(), 2);
}

// As much in the same CTAs, but where the long ones come last there is less beside them: such an SM may end later.
TEST_F(Representatives, LetsNoClassWithShorterLastCtasRepresentAnother) {
  const traces::Kernel small = long_and_short(4);
  const sim::KernelImage image = *sim::make_image(spec_, small);
  const SmClass long_last{1, {{{1, 200}, {0, 40}}}};
  const SmClass short_last{1, {{{0, 40}, {1, 200}}}};
  EXPECT_EQ(sim::choose_representatives({long_last, short_last}, {image}, 0.05).size(), 1);
  EXPECT_EQ(sim::choose_representatives({short_last, long_last}, {image}, 0.05).size(), 2);
  // Of thousands of CTAs the last ones are within the difference.
  const SmClass many_long_last{1, {{{1, 20'000}, {0, 4000}}}};
  const SmClass many_short_last{1, {{{0, 4000}, {1, 20'000}}}};
  EXPECT_EQ(sim::choose_representatives({many_short_last, many_long_last}, {image}, 0.05).size(), 1);
}

// SMs that load in another order do not ask at the same time; those with the same CTAs as long as both have some do.
TEST_F(Representatives, LeavesSixteenClassesThatLoadInOrdersOfTheirOwn) {
  const auto kernel = [](const Lines& body) {
    return KernelText("k", "sm_90")
        .options("registers=32")
        .declare("stream data read dram=1/3")
        .classes("parameter t\nclass long t=100\nclass short t=10\ngrid long*1 short*1\n")
        .role("warps", 4, loop("t", body))
        .kernel();
  };
  const traces::Kernel adds = kernel({op("IADD3 R0, R1, R2, R3")});
  const traces::Kernel loads = kernel({op("LDG.E R0, [R2.64]", {}, "bytes=128 stream=0")});
  std::vector<SmClass> other_orders;
  std::vector<SmClass> in_step;
  for (uint64_t c = 0; c < 20; ++c) {
    other_orders.push_back({1, {{{1, c + 1}, {0, 4000}, {1, 20'000 - c}}}});
    in_step.push_back({1, {{{0, 4000}, {1, 20'000 - c}}}});
  }
  const auto simulated = [&](const traces::Kernel& of, const std::vector<SmClass>& classes) {
    return sim::choose_representatives(classes, {*sim::make_image(spec_, of)}, 0.05).size();
  };
  EXPECT_EQ(simulated(adds, other_orders), 1);
  EXPECT_EQ(simulated(loads, other_orders), 16);
  EXPECT_EQ(simulated(loads, in_step), 1);
}

// In another order it may end later or earlier than as much is worth; with more less to do than that it is not the last. But for
// what its SMs come to somebody has to be simulated that has nearly as much to do.
TEST_F(Representatives, LeavesOutWhatSurelyIsNotTheLastToEnd) {
  const traces::Kernel small = long_and_short(4);
  const sim::KernelImage image = *sim::make_image(spec_, small);
  const auto simulated = [&](uint64_t longs, uint64_t fewer) {
    const SmClass most{1, {{{0, longs}, {1, 2000}}}};
    const SmClass less{1, {{{1, 1000}, {0, longs - fewer}, {1, 1000}}}};
    return std::array{
        sim::choose_representatives({most, less}, {image}, 0.002).size(),
        sim::choose_representatives({{1, {most.ctas[0], {}}}, {1, {less.ctas[0], {}}}}, {image, image}, 0.002).size()};
  };
  EXPECT_EQ(simulated(400, 1), (std::array<size_t, 2>{2, 2})) << "may be the last";
  EXPECT_EQ(simulated(400, 6), (std::array<size_t, 2>{1, 2})) << "beside another launch earlier ends count as well";
  EXPECT_EQ(simulated(400, 40), (std::array<size_t, 2>{2, 2})) << "nobody has nearly as much to do";
}

// Beside another launch long CTAs may end later for what they meet, wherever they come in the order. A few of another length do not
// matter.
TEST_F(Representatives, KeepsCtasOfSeveralLengthsBesideOthersWhereTheyDiffer) {
  const auto simulated = [&](uint64_t longs, uint64_t shorts, uint64_t of_other) {
    const auto beside = [&](uint64_t fewer, uint64_t less_of_other) {
      return SmClass{1, {{{0, longs}, {1, shorts - fewer}}, {{0, of_other - less_of_other}}}};
    };
    return std::array{sim::choose_representatives({beside(0, 0), beside(1, 0)}, {image_, image_}, 0.05).size(),
                      sim::choose_representatives({beside(0, 0), beside(0, 1)}, {image_, image_}, 0.05).size()};
  };
  EXPECT_EQ(simulated(200, 200, 100), (std::array<size_t, 2>{2, 1}));
  EXPECT_EQ(simulated(400, 4, 100), (std::array<size_t, 2>{1, 1}));
}

TEST_F(Representatives, WithoutADifferenceRepresentNoOther) {
  EXPECT_EQ(merge({sm_class(1, 10, 0), sm_class(2, 10, 0)}, 0).size(), 2);
}

TEST_F(Representatives, WhatTheOthersHaveLessIsCounted) {
  const std::vector<SmClass> classes{sm_class(2, 10, 0), sm_class(3, 9, 3), sm_class(5, 9, 6), sm_class(7, 10, 0)};
  uint64_t all = 0;
  for (const SmClass& each : classes) all += each.sms * ctas(each);
  uint64_t counted = 0;
  for (const RepresentativeClass& each : merge(classes, 0.05))
    counted += each.sm_class.sms * ctas(each.sm_class) - each.less[0].ctas;
  EXPECT_EQ(counted, all);
}

// An SM holds one CTA at a time. One of two has 51 of `first`, the other 50: it begins `second` a CTA's time before.
TEST(RepresentativeRun, BeginsALaunchWhereThereIsRoomFirst) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(2);
  const auto kernel = [](const char* name, uint64_t ctas) {
    return KernelText(name, "sm_90")
        .options("registers=32 shared_memory=120000")
        .ctas(ctas)
        .role("warps", 4, loop(2500, {op("IADD3 R0, R1, R2, R3", {.stall = 4})}))
        .kernel();
  };
  const traces::Kernel first = kernel("first", 101);
  const traces::Kernel second = kernel("second", 2);
  const std::vector<sim::Launch> launches{launch(first), launch(second, 1)};
  const sim::Outcome merged = *sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kAuto, .error = 0.05}});
  const sim::Outcome each = *sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact}});
  EXPECT_EQ(merged.sms_simulated, 2);
  EXPECT_EQ(merged.kernels[1].start_cycle, each.kernels[1].start_cycle);
  EXPECT_LT(each.kernels[1].start_cycle, each.kernels[0].end_cycle);
  EXPECT_EQ(merged.total_cycles, each.total_cycles);
}

// Of two SMs with 51 and 50 CTAs the first is simulated; what both have used is as if each had been.
TEST(RepresentativeRun, UsesWhatAllItsSmsUse) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(2);
  const traces::Kernel kernel =
      KernelText("k", "sm_90").ctas(101).role("warps", 4, loop(2500, {op("IADD3 R0, R1, R2, R3", {.stall = 4})})).kernel();
  const std::vector<sim::Launch> launches{launch(kernel)};
  const sim::Outcome merged = *sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kAuto, .error = 0.05}});
  const sim::Outcome each = *sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact}});
  ASSERT_EQ(merged.sms_simulated, 1);
  ASSERT_EQ(each.sms_simulated, 2);
  EXPECT_EQ(merged.total_cycles, each.total_cycles);
  for (size_t r = 0; r < each.resources.size(); ++r)
    EXPECT_EQ(merged.resources[r].busy, each.resources[r].busy) << each.resources[r].name;
}

// A run so short is exact: both SMs are simulated.
TEST(RepresentativeRun, OfAFewInstructionsSimulatesEveryClass) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(2);
  const traces::Kernel kernel =
      KernelText("k", "sm_90").ctas(101).role("warps", 4, loop(50, {op("IADD3 R0, R1, R2, R3", {.stall = 4})})).kernel();
  const sim::Outcome both = *sim::simulate(gpu, {launch(kernel)}, {.fold = {.mode = sim::FoldMode::kAuto, .error = 0.05}});
  EXPECT_EQ(both.sms_simulated, 2);
  EXPECT_EQ(both.fold.error_bound, 0);
}

// SMs with 121 and 120 CTAs, of which the first is simulated: states are of both, in proportion, and add up.
TEST(RepresentativeRun, EstimatesTheStatesOfAllItsSms) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(2);
  const traces::Kernel kernel = KernelText("k", "sm_90")
                                    .options("registers=32 shared_memory=120000")
                                    .ctas(241)
                                    .role("warps", 4, loop(2500, {op("IADD3 R0, R1, R2, R3", {.stall = 4})}))
                                    .kernel();
  const std::vector<sim::Launch> launches{launch(kernel)};
  const sim::Outcome merged = *sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kAuto, .error = 0.05}});
  const sim::Outcome each = *sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact}});
  ASSERT_EQ(merged.sms_simulated, 1);
  const sim::KernelCounters& estimated = merged.kernels[0];
  const sim::KernelCounters& exact = each.kernels[0];
  EXPECT_EQ(estimated.instructions, exact.instructions);
  EXPECT_EQ(std::reduce(estimated.states.begin(), estimated.states.end()), estimated.resident_warp_cycles);
  const auto near = [](uint64_t one, uint64_t other) { EXPECT_NEAR(double(one), double(other), 1e-4 * double(other)); };
  near(estimated.resident_warp_cycles, exact.resident_warp_cycles);
  for (int s = 0; s < sim::kWarpStates; ++s) near(estimated.states[s], exact.states[s]);
}

}  // namespace
}  // namespace warpfold::test
