// The check of skips: without a fault it finds nothing, and with a planted fault it says which figure differs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iostream>
#include <stdexcept>
#include <string>

#include "tests/support/machine.h"
#include "tests/support/random_programs.h"
#include "tests/support/same_outcome.h"

namespace warpfold::test {
namespace {

sim::Outcome checked(const Scenario& scenario, const sim::FoldOptions& how) {
  sim::FoldOptions fold = how;
  fold.mode = sim::FoldMode::kExact;
  fold.check_skips = true;
  return outcome(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .fold = fold});
}

// Returns the check's message on a scenario; empty if it found nothing, or if an account that does not hold was
// reported first.
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
  const bool agrees = rc::check([&] {
    const Scenario scenario = any_recurring_scenario();
    RC_LOG(scenario.describe());
    const sim::FoldReport fold = checked(scenario, {}).fold;
    skips += fold.skips;
    replayed += fold.skips_checked;
    RC_ASSERT(fold.skips_checked <= fold.skips);
    RC_ASSERT(fold.skips == 0 || fold.skips_checked > 0);
  });
  std::cout << replayed << " of " << skips << " skips replayed\n";
  ASSERT_TRUE(agrees);
  EXPECT_GT(replayed, 0);
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

// Expects the check to notice a key without `field`, which takes states with different futures for equal.
void expect_found(const std::string& field) {
  sim::FoldOptions without;
  without.omitted_field = field;
  std::string said;
  for (uint64_t seed = 1; seed <= 200 && said.empty(); ++seed) said = said_of(seed, without);
  EXPECT_THAT(said, testing::MatchesRegex(
                        "self-check: kernel.* k.*: a period of [0-9]+ cycles after cycle [0-9]+: .* would be [0-9]+ and is "
                        "[0-9]+ by replay \\([0-9]+ (more|less)\\)"))
      << field;
}

TEST(SkipCheck, FindsAFieldThatTheKeyLacks) {
  for (const std::string field : {"bandwidth_fraction", "dram_fraction"}) expect_found(field);
}

}  // namespace
}  // namespace warpfold::test
