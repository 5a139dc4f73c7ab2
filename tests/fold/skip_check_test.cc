// A sample of the exact skips is replayed as well: it agrees where folding is right, and says what differs where a fault is
// planted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iostream>
#include <stdexcept>
#include <string>

#include "tests/support/machine.h"
#include "tests/support/random_programs.h"
#include "tests/support/same_outcome.h"
#include "tests/support/share.h"

namespace warpfold::test {
namespace {

sim::Outcome checked(const Scenario& scenario, const sim::FoldOptions& how) {
  sim::FoldOptions fold = how;
  fold.mode = sim::FoldMode::kExact;
  fold.check_skips = true;
  return outcome(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .fold = fold});
}

// What the check says of a scenario; empty: nothing. Accounts that do not hold say so themselves.
std::string said_of(uint64_t seed, const sim::FoldOptions& how) {
  try {
    checked(*recurring_scenario(seed), how);
  } catch (const std::logic_error& error) {
    const std::string what = error.what();
    return what.starts_with("self-check: ") ? what : "";
  }
  return "";
}

TEST(SkipCheck, AgreesOnRandomPrograms) {
  uint64_t skips = 0;
  uint64_t replayed = 0;
  int runs = 0;
  int with_hits = 0;
  const bool agrees = rc::check([&] {
    const Scenario scenario = any_recurring_scenario();
    const uint64_t checkpoint_spacing = one_in(3) ? 0 : between(20, 2000);
    RC_LOG(scenario.describe() + "checkpoint_spacing " + std::to_string(checkpoint_spacing) + "\n");
    const sim::FoldReport fold = checked(scenario, {.checkpoint_spacing = checkpoint_spacing}).fold;
    skips += fold.skips;
    replayed += fold.skips_checked;
    ++runs;
    with_hits += fold.memo_hits > 0;
    RC_ASSERT(fold.skips_checked <= fold.skips);
    RC_ASSERT(fold.skips == 0 || fold.skips_checked > 0);
  });
  std::cout << replayed << " of " << skips << " skips replayed, memo hits in " << with_hits << " of " << runs << " programs\n";
  ASSERT_TRUE(agrees);
  EXPECT_GT(replayed, 0);
  EXPECT_TRUE(can_be_a_share(with_hits, runs, 0.02, "have memo hits"));
}

TEST(SkipCheck, ChangesNoResult) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const auto scenario = recurring_scenario(seed);
    const sim::Outcome unchecked =
        outcome(scenario->gpu, scenario->launches, {.serialise = scenario->serialise, .fold = {.mode = sim::FoldMode::kExact}});
    const sim::Outcome with = checked(*scenario, {});
    EXPECT_EQ(difference(with, unchecked), "") << seed;
    EXPECT_EQ(with.fold.instructions_replayed, unchecked.fold.instructions_replayed) << seed;
    EXPECT_EQ(unchecked.fold.skips, 0) << seed;
  }
}

constexpr uint32_t kNoRecurrences = 1U << static_cast<int>(sim::Mechanism::kRecurrence);

TEST(SkipCheck, ReplaysMemoHits) {
  uint64_t hits = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const sim::FoldReport fold = checked(*recurring_scenario(seed), {.checkpoint_spacing = 40, .disabled = kNoRecurrences}).fold;
    EXPECT_EQ(fold.skips, fold.memo_hits) << seed;
    EXPECT_EQ(fold.skips_checked > 0, fold.skips > 0) << seed;
    hits += fold.skips_checked;
  }
  EXPECT_GT(hits, 0);
}

// A key without a field takes states for equal whose futures are not.
void expect_found(const std::string& field, const std::string& skip, const sim::FoldOptions& how) {
  sim::FoldOptions without = how;
  without.omitted_field = field;
  std::string said;
  for (uint64_t seed = 1; seed <= 200 && said.empty(); ++seed) said = said_of(seed, without);
  EXPECT_THAT(said, testing::MatchesRegex("self-check: kernel.* k.*: " + skip +
                                          " of [0-9]+ cycles after cycle [0-9]+: .* would be [0-9]+ and is "
                                          "[0-9]+ by replay \\([0-9]+ (more|less)\\)"))
      << field;
}

TEST(SkipCheck, FindsAFieldThatTheKeyLacks) {
  for (const std::string field : {"bandwidth_fraction", "dram_fraction"}) expect_found(field, "a period", {});
  expect_found("dram_fraction", "a memo hit", {.checkpoint_spacing = 40, .disabled = kNoRecurrences});
}

}  // namespace
}  // namespace warpfold::test
