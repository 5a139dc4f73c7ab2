// Random programs on random machines: exact folding has the results of a full replay.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iostream>

#include "tests/support/random_programs.h"
#include "tests/support/same_outcome.h"
#include "tests/support/share.h"

namespace warpfold::test {
namespace {

// RC_PARAMS="seed=N max_success=M" repeats a run; CTest asks for 500 programs.
TEST(RandomPrograms, GiveTheSameFoldedAsReplayed) {
  int runs = 0;
  int folded = 0;
  uint64_t issued = 0;
  uint64_t replayed = 0;
  const bool same = rc::check([&] {
    Scenario scenario = any_recurring_scenario();
    bound_machine(scenario);
    RC_LOG(scenario.describe());
    const auto run = [&](sim::FoldMode mode) {
      const auto account = runs % 2 == 0 ? sim::AccountGranularity::kByPhase : sim::AccountGranularity::kByInstruction;
      return outcome(scenario.gpu, scenario.launches,
                     {.serialise = scenario.serialise, .account = account, .fold = {.mode = mode}});
    };
    const sim::Outcome exact = run(sim::FoldMode::kExact);
    const sim::Outcome whole = run(sim::FoldMode::kOff);
    const std::string differs = difference(exact, whole);
    if (!differs.empty()) RC_FAIL(differs);
    // A run in mode auto from which no work was taken is exact.
    const sim::Outcome automatic = run(sim::FoldMode::kAuto);
    const std::string automatic_differs = automatic.fold.mode == sim::Folded::kBounded ? "" : difference(automatic, whole);
    if (!automatic_differs.empty()) RC_FAIL("auto: " + automatic_differs);
    ++runs;
    folded += exact.fold.mode == sim::Folded::kExact;
    issued += exact.fold.instructions_of_classes;
    replayed += exact.fold.instructions_replayed;
  });
  std::cout << folded << " of " << runs << " programs folded; replayed " << replayed << " of " << issued << " instructions\n";
  ASSERT_TRUE(same);
  EXPECT_TRUE(can_be_a_share(folded, runs, 0.6, "recur"));
}

// The same with scaled resources: half ports, two issue slots, fractions of wavefronts.
TEST(ScaledMachines, GiveTheSameFoldedAsReplayed) {
  int runs = 0;
  int folded = 0;
  const bool same = rc::check([&] {
    Scenario scenario = any_recurring_scenario();
    RC_LOG(scale_machine(scenario.gpu));
    RC_LOG(scenario.describe());
    const auto run = [&](sim::FoldMode mode) {
      return outcome(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .fold = {.mode = mode}});
    };
    const sim::Outcome exact = run(sim::FoldMode::kExact);
    const std::string differs = difference(exact, run(sim::FoldMode::kOff));
    if (!differs.empty()) RC_FAIL(differs);
    ++runs;
    folded += exact.fold.mode == sim::Folded::kExact;
  });
  ASSERT_TRUE(same);
  EXPECT_TRUE(can_be_a_share(folded, runs, 0.6, "recur"));
}

}  // namespace
}  // namespace warpfold::test
