#include "configs/near_miss.h"

#include <gtest/gtest.h>

namespace warpfold {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("tile_n", "tile_n"), 0);
  EXPECT_EQ(edit_distance("tile", "tile_n"), 2);
  EXPECT_EQ(edit_distance("tile_n", "tie_n"), 1);
  EXPECT_EQ(edit_distance("tile_q", "tile_n"), 1);
  EXPECT_EQ(edit_distance("tiel_n", "tile_n"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
}

TEST(EditDistance, TakesUpperAndLowerCaseForTheSame) { EXPECT_EQ(edit_distance("ffma", "FFMA"), 0); }

TEST(NearestName, IsTheClosestOfTheKnown) {
  EXPECT_EQ(nearest_name("roundz", {"round", "rounds", "bounds"}), "round");
  EXPECT_EQ(nearest_name("queris", {"heads", "queries", "keys"}), "queries");
}

TEST(NearestName, IsNothingWhereNoneIsNear) {
  EXPECT_EQ(nearest_name("banana", {"heads", "queries", "keys"}), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name(std::string(100'000'000, 'x'), {"heads", "queries"}), "");  // at once
}

TEST(Suggestion, NamesTheNearestOrElseAll) {
  EXPECT_EQ(suggestion("kes", {"heads", "keys"}), "; did you mean \"keys\"?");
  EXPECT_EQ(suggestion("banana", {"heads", "keys"}), "; known: heads, keys");
  EXPECT_EQ(suggestion("banana", {}), "");
}

}  // namespace
}  // namespace warpfold
