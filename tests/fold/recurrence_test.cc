// Number of periods that may follow two equal states.

#include "sim/memo/recurrence.h"

#include <gtest/gtest.h>

namespace warpfold::sim {
namespace {

using Runs = std::vector<traces::CtaRun>;

// Two states, in cycles 1000 and 1100. The tests add warps, levels and placements.
struct States {
  Snapshot before;
  Snapshot after;

  // Adds a warp: its serial and trips left in both states, the outermost loop first.
  States& warp(uint64_t serial, const std::vector<uint64_t>& then, uint64_t serial_now, const std::vector<uint64_t>& now) {
    before.trips.add(serial, 0, then);
    after.trips.add(serial_now, 0, now);
    return *this;
  }
  States& warp(const std::vector<uint64_t>& then, const std::vector<uint64_t>& now) { return warp(1, then, 1, now); }
  States& placed(uint64_t then, uint64_t now) {
    before.placed.push_back(then);
    after.placed.push_back(now);
    return *this;
  }
  States& moment(Cycle then, Cycle now) {
    before.moments.push_back(then);
    after.moments.push_back(now);
    return *this;
  }
  States& level(uint64_t then, uint64_t now, uint64_t most, uint64_t added) {
    before.levels.push_back({then, most, 5000});
    after.levels.push_back({now, most, 5000 + added});
    return *this;
  }
  FastForward linked(const std::vector<Runs>& ctas = {}, Cycle limit = kNever) {
    before.at = 1000;
    after.at = 1100;
    std::vector<const Runs*> pointers;
    for (const Runs& runs : ctas) pointers.push_back(&runs);
    return recurrence(before, after, pointers, limit);
  }
};

TEST(Loops, ALoopKeepsOneTrip) {
  EXPECT_EQ(States().warp({100}, {90}).linked().periods, 8);  // leaves 10 trips; a ninth period would take the last one
  EXPECT_EQ(States().warp({101}, {91}).linked().periods, 9);
  EXPECT_EQ(States().warp({12}, {11}).linked().periods, 10);
  EXPECT_EQ(States().warp({20}, {10}).linked().periods, 0);
  EXPECT_EQ(States().warp({100}, {90}).linked().cycles, 800);
}

TEST(Levels, RiseUntilOnePeriodMoreMightComeToTheBound) {
  FastForward skip = States().warp({100}, {90}).level(300, 310, 400, 40).linked();
  EXPECT_EQ(skip.periods, 5);  // at 360 then, and up to 400 within one more period
  EXPECT_EQ(skip.risen, (std::vector<uint64_t>{50}));
  EXPECT_EQ(States().warp({100}, {90}).level(370, 380, 400, 40).linked().periods, 0);  // may have reached it in this period
  skip = States().warp({100}, {90}).level(400, 400, 400, 40).linked();
  EXPECT_EQ(skip.periods, 8);  // a level that stays the same does not bound, even at its bound
  EXPECT_EQ(skip.risen, (std::vector<uint64_t>{0}));
}

TEST(Levels, FallUntilOnePeriodMoreMightComeToZero) {
  const FastForward skip = States().warp({100}, {90}).level(100, 90, 400, 20).linked();
  EXPECT_EQ(skip.periods, 6);  // at 30 then, which one more period might use up
  EXPECT_EQ(skip.risen, (std::vector<uint64_t>{~uint64_t{60} + 1}));
  EXPECT_EQ(States().warp({100}, {90}).level(30, 20, 400, 20).linked().periods, 0);
}

TEST(Loops, TheWarpWithFewestTripsLeftDecides) {
  FastForward skip = States().warp({100}, {90}).warp({50}, {48}).warp({7}, {7}).linked();
  EXPECT_EQ(skip.periods, 8);
  EXPECT_EQ(skip.trips_taken, (std::vector<uint64_t>{80, 16, 0}));
  skip = States().warp({100}, {90}).warp({50}, {40}).linked();
  EXPECT_EQ(skip.periods, 3);
}

TEST(Loops, InnerLoopsStandWhereTheyStood) {
  EXPECT_EQ(States().warp({5, 30, 4}, {5, 28, 4}).linked().periods, 13);
  EXPECT_EQ(States().warp({5, 30, 4}, {5, 28, 3}).linked().periods, 0);
  EXPECT_EQ(States().warp({5, 30, 4}, {4, 31, 4}).linked().periods, 0);
  EXPECT_EQ(States().warp({5, 30, 3}, {5, 30, 4}).linked().periods, 0);  // a loop never gains trips
}

TEST(Loops, AWarpInAnothersPlaceStandsWhereItStood) {
  const std::vector<Runs> ctas = {{{0, 100}}};
  EXPECT_EQ(States().warp(1, {5}, 9, {5}).placed(10, 11).linked(ctas).periods, 88);
  EXPECT_EQ(States().warp(1, {5}, 9, {4}).placed(10, 11).linked(ctas).periods, 0);
}

TEST(Ctas, ACtaIsLeftToPlace) {
  EXPECT_EQ(States().placed(10, 13).linked({{{0, 100}}}).periods, 28);  // 97 are placed then, and three are left
  EXPECT_EQ(States().placed(10, 13).linked({{{0, 16}}}).periods, 0);
  EXPECT_EQ(States().placed(10, 13).linked({{{0, 17}}}).periods, 1);
  EXPECT_EQ(States().placed(10, 13).linked({{{0, 13}}}).periods, 0);
}

TEST(Ctas, ClassesComeInTheSameOrder) {
  const auto periods = [](uint64_t then, uint64_t now, const Runs& runs) {
    return States().placed(then, now).linked({runs}).periods;
  };
  EXPECT_EQ(periods(10, 12, {{0, 40}, {1, 60}}), 14);  // up to the 40th
  EXPECT_EQ(periods(39, 41, {{0, 40}, {1, 60}}), 0);   // the CTAs of the period are of two classes
  EXPECT_EQ(periods(41, 43, {{0, 40}, {1, 60}}), 28);
  const Runs sequence = {{0, 2}, {1, 1}, {0, 2}, {1, 1}, {0, 2}, {1, 1}, {0, 2}, {1, 1}, {2, 5}};
  EXPECT_EQ(periods(0, 3, sequence), 3);
  EXPECT_EQ(periods(1, 4, sequence), 2);
  EXPECT_EQ(periods(0, 6, sequence), 1);
  EXPECT_EQ(periods(0, 2, sequence), 0);
  // Neighbouring runs of one class are as one run.
  EXPECT_EQ(periods(0, 2, {{0, 3}, {0, 5}, {0, 3}}), 4);
}

TEST(Ctas, EveryLaunchBounds) {
  const std::vector<Runs> ctas = {{{0, 100}}, {{0, 20}}, {{0, 3}}};
  const FastForward skip = States().placed(10, 11).placed(4, 6).placed(3, 3).linked(ctas);
  EXPECT_EQ(skip.periods, 6);
  EXPECT_EQ(skip.placed, (std::vector<uint64_t>{6, 12, 0}));
}

TEST(Release, NoPeriodReachesTheLimit) {
  EXPECT_EQ(States().warp({1000}, {999}).linked({}, 1399).periods, 2);
  EXPECT_EQ(States().warp({1000}, {999}).linked({}, 1400).periods, 3);
  EXPECT_EQ(States().warp({1000}, {999}).linked({}, 1199).periods, 0);
  EXPECT_EQ(States().warp({1000}, {999}).linked({}, 50).periods, 0);
}

TEST(Waits, AWaitGoesOnOrBeginsAgain) {
  const auto moves = [](Cycle then, Cycle now) { return States().warp({100}, {90}).moment(then, now).linked(); };
  EXPECT_EQ(moves(400, 400).moments, std::vector<Cycle>{0});
  EXPECT_EQ(moves(400, 400).periods, 8);
  EXPECT_EQ(moves(980, 1080).moments, std::vector<Cycle>{800});
  EXPECT_EQ(moves(980, 1080).periods, 8);
  EXPECT_EQ(moves(400, 1080).periods, 0);
}

TEST(Recurrence, CountsGrowAsTheyGrew) {
  States states;
  states.warp({100}, {90});
  states.before.counts = {7, 100, ~uint64_t{0}};
  states.after.counts = {7, 130, 1};
  EXPECT_EQ(states.linked().counted, (std::vector<uint64_t>{0, 240, 16}));
}

// A period that consumes nothing is not skipped: the machine makes no progress, which a replay shows.
TEST(Recurrence, NothingConsumedIsNothingToSkip) {
  EXPECT_EQ(States().warp({100}, {100}).placed(3, 3).linked({{{0, 9}}}).periods, 0);
}

// If a field is left out of the key, states with equal keys may hold different numbers of trips, counts or waits.
TEST(Recurrence, StatesOfOtherShapesDoNotRecur) {
  EXPECT_EQ(States().warp({100, 3}, {90}).linked().periods, 0);
  EXPECT_EQ(States().warp({100, 3}, {90}).warp({100}, {90, 3}).linked().periods, 0);
  States counts;
  counts.warp({100}, {90}).before.counts = {1};
  EXPECT_EQ(counts.linked().periods, 0);
  States moments;
  moments.warp({100}, {90}).before.moments = {1};
  EXPECT_EQ(moments.linked().periods, 0);
}

}  // namespace
}  // namespace warpfold::sim
