#include "tools/report/overall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tools/report/difference.h"

namespace warpfold::report {
namespace {

void add_run(const std::string& label, double total, bool model, configs::Report& report) {
  configs::Run& run = *report.add_run();
  run.set_label(label);
  run.set_path(label + ".result");
  run.mutable_result()->set_total_time_us(total);
  if (model) run.mutable_result()->mutable_model();
}

TEST(OverallFindings, NameTheFastestRun) {
  configs::Report report;
  add_run("A", 30, false, report);
  add_run("B", 20, false, report);
  add_run("C", 25, false, report);
  const auto findings = overall_findings(report);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].text(), "B: 20.0 us, 1.500 times as fast as A.");
  EXPECT_THAT(findings[0].field(), testing::ElementsAre("B.result.total_time_us", "A.result.total_time_us"));
}

// By 0.15 %, where folding leaves open 0.1 % in each.
TEST(OverallFindings, NameRunsThatCannotBeToldFromTheFastest) {
  configs::Report report;
  for (const auto& [label, total] : {std::pair{"A", 30.0}, {"B", 20.0}, {"C", 20.03}, {"D", 20.05}})
    add_run(label, total, false, report);
  for (configs::Run& run : *report.mutable_run()) run.mutable_result()->mutable_fold()->set_error_bound(0.001);
  EXPECT_EQ(overall_findings(report)[0].text(),
            "B: 20.0 us, 1.500 times as fast as A; tied with C (0.15 % slower, told apart from 0.20 %).");
}

TEST(OverallFindings, SayWhereNoneIsFasterThanTheFirst) {
  configs::Report report;
  for (const std::string name : {"A", "B", "C"}) add_run(name, 20, false, report);
  EXPECT_EQ(overall_findings(report)[0].text(), "A: 20.0 us, tied with B, C (the same time).");
}

configs::Report two_runs() {
  configs::Report report;
  add_run("A", 20, false, report);
  add_run("B", 25, false, report);
  return report;
}

TEST(OverallFindings, SayWhatChanged) {
  configs::Report report = two_runs();
  *report.mutable_difference() = difference_of(report.run(0), report.run(1));
  EXPECT_EQ(overall_findings(report)[0].text(), "From A to B, total time: from 20.0 to 25.0 us, +25.0 %.");
}

// A kernel of a run: its time, and warp-cycles in two states.
void add_kernel(const std::string& name, double time, uint64_t wait, uint64_t gmma, configs::Run& run) {
  configs::KernelResult& kernel = *run.mutable_result()->add_kernels();
  kernel.set_name(name);
  kernel.set_time_us(time);
  kernel.set_resident_warp_cycles(wait + gmma);
  for (const auto& [state, cycles] : {std::pair{"wait", wait}, {"gmma", gmma}}) {
    configs::StateCycles& entry = *kernel.add_states();
    entry.set_state(state);
    entry.set_warp_cycles(cycles);
  }
}

TEST(OverallFindings, NameTheKernelThatMovesMostAndWhereItsWarpsTimeWent) {
  configs::Report report = two_runs();
  add_kernel("short", 3, 100, 100, *report.mutable_run(0));
  add_kernel("short", 4, 140, 100, *report.mutable_run(1));
  add_kernel("long", 10, 1000, 400, *report.mutable_run(0));
  add_kernel("long", 15.5, 1100, 700, *report.mutable_run(1));
  *report.mutable_difference() = difference_of(report.run(0), report.run(1));
  const auto findings = overall_findings(report);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].text(),
            "long takes 5.50 us longer; of the warp time that it adds, 75.0 % went into waiting for wgmma to finish.");
  EXPECT_THAT(findings[1].field(),
              testing::ElementsAre("A.result.kernels[1].time_us", "B.result.kernels[1].time_us",
                                   "A.result.kernels[1].states[1].warp_cycles", "B.result.kernels[1].states[1].warp_cycles"));
}

// The kernel's warps spent less time in all although it took longer: no state is the cause.
TEST(OverallFindings, NameNoCauseWhereWarpTimeWentTheOtherWay) {
  configs::Report report = two_runs();
  add_kernel("k", 10, 1000, 400, *report.mutable_run(0));
  add_kernel("k", 15, 500, 500, *report.mutable_run(1));
  *report.mutable_difference() = difference_of(report.run(0), report.run(1));
  EXPECT_EQ(overall_findings(report)[1].text(), "k takes 5.00 us longer.");
}

TEST(OverallFindings, HoldTheLimiterModelAgainstTheSimulation) {
  configs::Report report;
  add_run("A", 20, false, report);
  add_run("B", 15, true, report);
  EXPECT_EQ(overall_findings(report)[0].text(),
            "The limiter model gives 15.0 us, the simulation 20.0 us: 75.0 % of the simulated time.");
}

TEST(OverallFindings, AreNoneForOneRun) {
  configs::Report report;
  add_run("A", 20, false, report);
  EXPECT_TRUE(overall_findings(report).empty());
}

}  // namespace
}  // namespace warpfold::report
