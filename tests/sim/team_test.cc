#include "sim/engine/team.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace warpfold::test {
namespace {

TEST(Team, CallsEachIndexOnceInEveryRound) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    sim::Team team(threads);
    std::vector<int> calls(100);
    for (size_t round = 1; round <= 50; ++round) team.for_each(2 * round, [&](size_t i) { ++calls[i]; });
    for (size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i], 50 - static_cast<int>(i / 2)) << i;
  }
}

TEST(Team, ThrowsWhatTheLowestIndexThrewAndGoesOn) {
  sim::Team team(3);
  const auto fails = [](size_t i) {
    if (i % 7 == 3) throw std::runtime_error(std::to_string(i));
  };
  for (int round = 0; round < 20; ++round) {
    try {
      team.for_each(40, fails);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
  }
  size_t called = 0;
  team.for_each(1, [&](size_t /*i*/) { ++called; });
  EXPECT_EQ(called, 1);
}

}  // namespace
}  // namespace warpfold::test
