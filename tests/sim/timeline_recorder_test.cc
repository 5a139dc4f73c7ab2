// Contents of a timeline recorder, event by event.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/account/timeline_recorder.h"

namespace warpfold::test {
namespace {

using sim::Cycle;
using sim::SmTimeline;
using sim::TimelineRecorder;
using testing::ElementsAre;

constexpr sim::TimelineLimits kFew{.ctas = 2, .longest = 1, .phases = 4, .folds = 2, .windows = 4};

TimelineRecorder recorder() { return {kFew, 2, 2, 1}; }

SmTimeline finish(TimelineRecorder recorder, Cycle end, const TimelineRecorder::Use& use, std::vector<sim::LaunchSpan> launches) {
  recorder.end(end, use);
  return recorder.timeline(std::move(launches));
}

std::vector<Cycle> starts(const SmTimeline& timeline) {
  std::vector<Cycle> starts;
  for (const sim::CtaSlice& cta : timeline.ctas) starts.push_back(cta.start);
  return starts;
}

TEST(TimelineRecorder, KeepsTheFirstAndTheLastCtas) {
  TimelineRecorder timeline = recorder();
  for (Cycle at = 0; at < 70; at += 10) {
    timeline.cta_placed(0, 0, 0, at);
    timeline.cta_ended(0, at + 10);
  }
  const SmTimeline kept = finish(timeline, 70, {0}, {{.launch = 0, .ctas = 7}});
  EXPECT_THAT(starts(kept), ElementsAre(0, 10, 20, 50, 60));
  EXPECT_EQ(kept.launches[0].ctas_left_out, 2);
  EXPECT_EQ(kept.launches[0].left_out_from, 30);
  EXPECT_EQ(kept.launches[0].left_out_to, 50);
}

// The CTA in slot 1 runs from 15 to 45 while CTAs in slot 0 take turns. It is the longest of the CTAs that are neither
// among the first nor among the last.
TEST(TimelineRecorder, KeepsTheLongestOfTheOtherCtas) {
  TimelineRecorder timeline = recorder();
  for (Cycle at = 0; at < 90; at += 10) {
    timeline.cta_placed(0, 0, 0, at);
    if (at == 10) timeline.cta_placed(1, 1, 0, 15);
    timeline.cta_ended(0, at + 10);
    if (at == 30) timeline.cta_ended(1, 45);
  }
  const SmTimeline kept = finish(timeline, 90, {0}, {{.launch = 0, .ctas = 9}, {.launch = 1, .ctas = 1}});
  EXPECT_THAT(starts(kept), ElementsAre(0, 10, 15, 20, 70, 80));
  EXPECT_EQ(kept.launches[0].ctas_left_out, 4);
  EXPECT_EQ(kept.launches[1].ctas_left_out, 0);
}

// A period of 100 cycles is skipped 5 times from cycle 300 on. The CTA in slot 0 stays all the time, CTAs in slot 1
// take turns.
TEST(TimelineRecorder, CutsOffCtasThatComeAndGoInSkippedTime) {
  TimelineRecorder timeline = recorder();
  timeline.cta_placed(0, 0, 3, 0);
  timeline.cta_placed(1, 1, 4, 180);
  timeline.cta_ended(1, 240);
  timeline.cta_placed(1, 1, 5, 280);
  timeline.skipped({.start = 300, .period = 100, .periods = 5, .placed = {0, 5}}, {30}, {80});
  timeline.cta_ended(1, 840);
  timeline.cta_ended(0, 900);
  const SmTimeline kept = finish(timeline, 900, {90}, {{.launch = 0, .ctas = 1}, {.launch = 1, .ctas = 7}});
  ASSERT_THAT(starts(kept), ElementsAre(0, 180, 280, 800));
  EXPECT_EQ(kept.ctas[0].end, 900);
  EXPECT_EQ(kept.ctas[2].end, 300);
  EXPECT_TRUE(kept.ctas[2].ended_folded);
  EXPECT_EQ(kept.ctas[3].placed, 780);
  EXPECT_EQ(kept.ctas[3].end, 840);
  ASSERT_EQ(kept.folds.size(), 1);
  EXPECT_EQ(kept.folds[0].cycles, 500);
  EXPECT_THAT(kept.folds[0].ctas, ElementsAre(0, 4)) << "of five placed, one is there at the end";
  EXPECT_EQ(kept.launches[1].ctas_folded, 4);
}

TEST(TimelineRecorder, KeepsTheFirstAndTheLastFoldedSpans) {
  TimelineRecorder timeline = recorder();
  for (Cycle at = 100; at <= 700; at += 100)
    timeline.skipped({.start = at, .period = at / 100, .periods = 2, .placed = {0, 0}}, {0}, {0});
  const SmTimeline kept = finish(timeline, 900, {0}, {});
  ASSERT_EQ(kept.folds.size(), 4);
  EXPECT_EQ(kept.folds[1].start, 200);
  EXPECT_EQ(kept.folds[2].start, 600);
  EXPECT_EQ(kept.folds_left_out, 3);
  EXPECT_EQ(kept.cycles_left_out, 2 * (3 + 4 + 5));
}

// A resource is busy one cycle in two and is sampled whenever a sample is due.
TEST(TimelineRecorder, WindowsGetWiderAndStillHoldEverything) {
  TimelineRecorder timeline = recorder();
  constexpr Cycle kEnd = 100'000;
  for (Cycle now = 0; now < kEnd; ++now) {
    if (now >= timeline.next_sample()) timeline.sample(now, {now / 2});
  }
  const SmTimeline kept = finish(timeline, kEnd, {kEnd / 2}, {});
  EXPECT_LE(kept.windows.size(), kFew.windows + 1);
  EXPECT_GE(kept.windows.size(), kFew.windows / 2);
  Cycle at = 0;
  for (const sim::UseWindow& window : kept.windows) {
    EXPECT_EQ(window.start, at);
    EXPECT_EQ(window.busy[0], (window.end - window.start) / 2);
    at = window.end;
  }
  EXPECT_EQ(at, kEnd);
}

TEST(TimelineRecorder, IdleTimeIsAWindowOfItsOwn) {
  TimelineRecorder timeline = recorder();
  timeline.sample(10'000, {128});
  const SmTimeline kept = finish(timeline, 10'100, {140}, {});
  ASSERT_EQ(kept.windows.size(), 3);
  EXPECT_EQ(kept.windows[0].end, 256);
  EXPECT_THAT(kept.windows[0].busy, ElementsAre(128));
  EXPECT_EQ(kept.windows[1].end, 10'000);
  EXPECT_THAT(kept.windows[1].busy, ElementsAre(0));
  EXPECT_THAT(kept.windows[2].busy, ElementsAre(12));
}

TEST(TimelineRecorder, SkippedTimeIsAWindowOfItsOwn) {
  TimelineRecorder timeline = recorder();
  timeline.skipped({.start = 100, .period = 50, .periods = 4, .placed = {0, 0}}, {10}, {30});
  const SmTimeline kept = finish(timeline, 400, {35}, {});
  ASSERT_EQ(kept.windows.size(), 3);
  EXPECT_THAT(kept.windows[0].busy, ElementsAre(10));
  EXPECT_EQ(kept.windows[1].folded, 200);
  EXPECT_THAT(kept.windows[1].busy, ElementsAre(20));
  EXPECT_THAT(kept.windows[2].busy, ElementsAre(5));
}

// With two warps of one role, the phase is that of the warp ahead.
TEST(TimelineRecorder, PhasesBeginWithTheFirstWarp) {
  TimelineRecorder timeline = recorder();
  timeline.cta_placed(0, 0, 0, 0);
  for (size_t warp : {0, 1}) timeline.warp_started(0, warp, 0, 1, sim::Phase::kPrologue, 0);
  timeline.warp_moved(0, 1, 1, sim::Phase::kMainLoop, 10);
  timeline.warp_moved(0, 0, 1, sim::Phase::kMainLoop, 15);
  timeline.warp_moved(0, 0, 1, sim::Phase::kEpilogue, 40);
  timeline.warp_moved(0, 1, 1, sim::Phase::kEpilogue, 45);
  timeline.warp_ended(0, 1, 50);
  timeline.warp_ended(0, 1, 60);
  const SmTimeline kept = finish(timeline, 60, {0}, {});
  std::vector<std::tuple<sim::Phase, Cycle, Cycle>> phases;
  for (const sim::PhaseSlice& phase : kept.phases) phases.emplace_back(phase.phase, phase.start, phase.end);
  using sim::Phase;
  EXPECT_THAT(phases, ElementsAre(std::tuple(Phase::kPrologue, 0, 10), std::tuple(Phase::kMainLoop, 10, 40),
                                  std::tuple(Phase::kEpilogue, 40, 60)));
}

// A phase that began before the period goes on through the skip. A phase that began in the period is cut off.
TEST(TimelineRecorder, CutsOffPhasesThatBeginInThePeriod) {
  TimelineRecorder timeline = recorder();
  timeline.cta_placed(0, 0, 0, 0);
  timeline.warp_started(0, 0, 0, 0, sim::Phase::kMainLoop, 0);
  timeline.warp_started(0, 1, 0, 1, sim::Phase::kPrologue, 0);
  timeline.warp_moved(0, 1, 1, sim::Phase::kMainLoop, 250);
  timeline.skipped({.start = 300, .period = 100, .periods = 5, .placed = {0, 0}}, {0}, {0});
  timeline.warp_ended(0, 0, 900);
  timeline.warp_ended(0, 1, 910);
  const SmTimeline kept = finish(timeline, 910, {0}, {});
  std::vector<std::tuple<uint32_t, Cycle, Cycle>> phases;
  for (const sim::PhaseSlice& phase : kept.phases) phases.emplace_back(phase.role, phase.start, phase.end);
  EXPECT_THAT(phases, ElementsAre(std::tuple(0, 0, 900), std::tuple(1, 0, 250), std::tuple(1, 250, 300), std::tuple(1, 800, 910)));
}

TEST(TimelineLimits, ManySmsKeepAsMuchAsEight) {
  EXPECT_EQ(sim::TimelineLimits::for_each_of(3).ctas, sim::TimelineLimits{}.ctas);
  EXPECT_EQ(sim::TimelineLimits::for_each_of(128).windows, sim::TimelineLimits{}.windows / 16);
  EXPECT_EQ(sim::TimelineLimits::for_each_of(100'000).folds, 8);
}

}  // namespace
}  // namespace warpfold::test
