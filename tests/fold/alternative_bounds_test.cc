// Alternative bounds: if a run says that they would have changed nothing, a run under those bounds is the same. A run
// that they would have changed says so.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iostream>
#include <numeric>

#include "tests/support/random_programs.h"
#include "tests/support/same_outcome.h"
#include "tests/support/share.h"

namespace warpfold::test {
namespace {

using Bounds = std::vector<sim::PlacementBounds>;

void set_bounds(std::vector<sim::Launch>& launches, const Bounds& bounds) {
  for (size_t l = 0; l < launches.size(); ++l) static_cast<sim::PlacementBounds&>(launches[l]) = bounds[l];
}

// Draws bounds for the launches, some of which bind.
Bounds any_bounds(const std::vector<sim::Launch>& launches) {
  Bounds bounds = sim::bounds_of(launches);
  for (sim::PlacementBounds& each : bounds) {
    if (one_in(4)) continue;
    each = {};
    if (one_in(2)) each.quota.ctas = one_in(3) ? 64 : between(1U, 2U);
    each.reserved = one_in(2);
    each.reserved_warps = between(1U, 48U);
  }
  return bounds;
}

TEST(RandomAlternativeBounds, AreTheRunWhereItSaysSoAndAreToldApartWhereItIsAnother) {
  int same = 0;
  int apart = 0;
  const bool holds = rc::check([&] {
    Scenario scenario = any_recurring_scenario();
    bound_machine(scenario);
    RC_LOG(scenario.describe());
    const auto mode = one_in(3) ? sim::FoldMode::kOff : one_in(2) ? sim::FoldMode::kExact : sim::FoldMode::kAuto;
    sim::Options options{.serialise = scenario.serialise, .fold = {.mode = mode}};
    for (int n = between(1, 3); n > 0; --n) options.alternative_bounds.push_back(any_bounds(scenario.launches));
    const sim::Outcome run = outcome(scenario.gpu, scenario.launches, options);
    RC_ASSERT(run.alternative_bounds.size() == options.alternative_bounds.size());
    for (size_t which = 0; which < run.alternative_bounds.size(); ++which) {
      std::vector<sim::Launch> launches = scenario.launches;
      set_bounds(launches, options.alternative_bounds[which]);
      const auto own = sim::simulate(scenario.gpu, launches, {.serialise = scenario.serialise, .fold = {.mode = mode}});
      const auto said = sim::under_alternative_bounds(run, which);
      if (options.alternative_bounds[which] != sim::bounds_of(scenario.launches)) ++(said ? same : apart);
      if (!own) {
        RC_ASSERT(!said);
      } else if (said) {
        const std::string differs = difference(*said, *own);
        if (!differs.empty()) RC_FAIL(differs);
        RC_ASSERT(said->fold.mode == own->fold.mode);
        RC_ASSERT(said->fold.instructions_replayed == own->fold.instructions_replayed);
      }
    }
  });
  std::cout << same << " other bounds were the same run, " << apart << " were not\n";
  ASSERT_TRUE(holds);
  EXPECT_TRUE(can_be_a_share(same, same + apart, 0.7, "are the same run under other bounds"));
  EXPECT_TRUE(can_be_a_share(apart, same + apart, 0.15, "are told apart"));
}

traces::Kernel sleeper(const std::string& name, uint64_t ctas) {
  return KernelText(name, "sm_90").ctas(ctas).role("all", 4, loop(50, {op("NOP", {.stall = 10})})).kernel();
}

// A quota of as many CTAs as a kernel has never binds; a smaller one does.
TEST(AlternativeBounds, AQuotaIsToldApartWhereItBinds) {
  const std::vector<traces::Kernel> kernels = {sleeper("one", 6), sleeper("other", 6)};
  const std::vector<sim::Launch> launches = {launch(kernels[0], 0), launch(kernels[1], 1)};
  Bounds wide(2);
  Bounds narrow(2);
  wide[0].quota.ctas = 6;
  narrow[0].quota.ctas = 5;
  const sim::Outcome run = outcome(one_sm("h100_sxm"), launches, {.alternative_bounds = {wide, narrow}});
  EXPECT_TRUE(run.alternative_bounds[0].same);
  EXPECT_FALSE(run.alternative_bounds[1].same);
  EXPECT_FALSE(sim::under_alternative_bounds(run, 1).has_value());
}

// Absences under alternative bounds grow in skipped time as in a replay.
TEST(AlternativeBounds, AbsencesAreThoseOfTheReplayWhereTheRunIsFolded) {
  const auto adder = [](const std::string& name, uint64_t ctas) {
    return KernelText(name, "sm_90")
        .options("registers=64 shared_memory=100000")
        .ctas(ctas)
        .role("all", 4, loop(20'000, {op("FADD R4, R4, R5", {.stall = 4})}))
        .kernel();
  };
  const std::vector<traces::Kernel> kernels = {adder("first", 2), adder("second", 2)};
  const std::vector<sim::Launch> launches = {launch(kernels[0], 0), launch(kernels[1], 1)};
  Bounds wide(2);
  wide[0].quota.ctas = 6;
  const auto run = [&](sim::FoldMode mode) {
    return outcome(one_sm("h100_sxm"), launches, {.fold = {.mode = mode}, .alternative_bounds = {wide}});
  };
  const sim::Outcome folded = run(sim::FoldMode::kExact);
  ASSERT_EQ(folded.fold.mode, sim::Folded::kExact);
  ASSERT_TRUE(folded.alternative_bounds[0].same);
  EXPECT_EQ(folded.alternative_bounds[0].absent, run(sim::FoldMode::kOff).alternative_bounds[0].absent);
  uint64_t missed = 0;
  for (const std::vector<sim::Losses>& of_launch : folded.alternative_bounds[0].absent) {
    for (const sim::Losses& losses : of_launch) missed = std::accumulate(losses.begin(), losses.end(), missed);
  }
  EXPECT_GT(missed, 0U);
}

// Bounds in which no CTA fits are an error, so no run is the same under them.
TEST(AlternativeBounds, ThatCannotBeAreNotTheSame) {
  const std::vector<traces::Kernel> kernels = {sleeper("only", 1)};
  Bounds none_fits(1);
  none_fits[0].quota.warps = 2;
  EXPECT_FALSE(
      outcome(one_sm("h100_sxm"), {launch(kernels[0], 0)}, {.alternative_bounds = {none_fits}}).alternative_bounds[0].same);
}

// One simulation may serve two lists of launches only if they differ in bounds alone.
TEST(AlternativeBounds, AnythingElseIsAnotherSimulation) {
  const std::vector<traces::Kernel> kernels = {sleeper("one", 6), sleeper("other", 6)};
  const std::vector<traces::Kernel> longer = {sleeper("one", 6), sleeper("other", 7)};
  const std::vector<traces::Kernel> copies = kernels;
  const std::vector<sim::Launch> launches = {launch(kernels[0], 0), launch(kernels[1], 1)};
  const auto with = [&](auto change) {
    std::vector<sim::Launch> changed = launches;
    change(changed[1]);
    return sim::differ_in_bounds_only(launches, changed);
  };
  EXPECT_TRUE(with([](sim::Launch& each) { each.quota.ctas = 1; }));
  EXPECT_TRUE(with([](sim::Launch& each) { each.reserved = true; }));
  EXPECT_TRUE(with([](sim::Launch& each) { each.reserved_registers = 4096; }));
  EXPECT_TRUE(with([&](sim::Launch& each) { each.kernel = &copies[1]; }));
  EXPECT_FALSE(with([&](sim::Launch& each) { each.kernel = &longer[1]; }));
  EXPECT_FALSE(with([](sim::Launch& each) { each.stream = 2; }));
  EXPECT_FALSE(with([](sim::Launch& each) { each.priority = 1; }));
  EXPECT_FALSE(with([](sim::Launch& each) { each.after = {0}; }));
  EXPECT_FALSE(with([](sim::Launch& each) { each.sms = {0, 66}; }));
  EXPECT_FALSE(sim::differ_in_bounds_only(launches, {launches[0]}));
}

}  // namespace
}  // namespace warpfold::test
