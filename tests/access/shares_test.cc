// Shares as fractions that recur soon.

#include <gtest/gtest.h>

#include "traces/access/shares.h"

namespace warpfold::traces::access {
namespace {

TEST(Fractions, AreTheSimplestNearby) {
  EXPECT_EQ(simplest(0, 10), (Fraction{0, 1}));
  EXPECT_EQ(simplest(10, 10), (Fraction{1, 1}));
  EXPECT_EQ(simplest(501, 1000), (Fraction{1, 2}));
  EXPECT_EQ(simplest(333, 1000), (Fraction{1, 3}));
  // Small ones keep their size: one tile for all SMs.
  const Fraction small = simplest(1000, 132'000);
  EXPECT_NEAR(static_cast<double>(small.numerator) / static_cast<double>(small.denominator), 1.0 / 132, 0.25 / 132);
}

TEST(Fractions, OfRequestsHaveAPowerOfTwoBelow) {
  EXPECT_EQ(simplest_binary(7, 8), (Fraction{7, 8}));
  EXPECT_EQ(simplest_binary(1, 3), (Fraction{43, 128}));
  EXPECT_EQ(simplest_binary(0, 5), (Fraction{0, 1}));
  EXPECT_EQ(simplest_binary(5, 5), (Fraction{1, 1}));
  EXPECT_LT(simplest_binary(9'999, 10'000).numerator, simplest_binary(9'999, 10'000).denominator);  // the remainder still moves
}

// 100 requests of 4 sectors, 50 of which hit whole, 20 more with half of their sectors: 160 sectors go on, by 50 requests.
TEST(Served, SpreadsWhatGoesOnOverRequestsThatMiss) {
  const Served in_part = served({.requests = 100, .l1_requests = 50, .sectors = 400, .l1_sectors = 240, .dram_sectors = 40});
  EXPECT_EQ(in_part.l1, (Fraction{1, 2}));
  EXPECT_EQ(in_part.moved, (Fraction{4, 5}));
  EXPECT_EQ(in_part.dram, (Fraction{1, 4}));
  EXPECT_EQ(served({}).moved, (Fraction{1, 1}));
  EXPECT_EQ(served({.requests = 8, .l1_requests = 8, .sectors = 32, .l1_sectors = 32}).l1, (Fraction{1, 1}));
}

}  // namespace
}  // namespace warpfold::traces::access
