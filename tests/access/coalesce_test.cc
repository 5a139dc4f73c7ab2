// 32 lane addresses to 128-byte lines and 32-byte sectors.

#include "traces/access/coalesce.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/access/accesses.h"

namespace warpfold::test {
namespace {

using traces::access::coalesce;
using traces::access::l2_passes;
using traces::access::LaneAccess;
using traces::access::LineTouch;
using traces::access::pair_count;
using traces::access::sector_count;

TEST(Coalesce, AWarpOfWordsIsALine) {
  EXPECT_EQ(coalesce(strided(0x1000, 4, 4)), (std::vector<LineTouch>{{0x1000 / 128, 0b1111}}));
}

TEST(Coalesce, AnOffsetOfAWordCostsASectorMore) {
  const auto touched = coalesce(strided(0x1004, 4, 4));
  EXPECT_EQ(touched, (std::vector<LineTouch>{{0x20, 0b1111}, {0x21, 0b0001}}));
  EXPECT_EQ(sector_count(touched), 5);
}

TEST(Coalesce, WideLanesFillFourLines) {
  const auto touched = coalesce(strided(0x2000, 16, 16));
  EXPECT_EQ(touched.size(), 4);
  EXPECT_EQ(sector_count(touched), 16);
}

TEST(Coalesce, AStrideOfALineTouchesOneSectorOfEach) {
  const auto touched = coalesce(strided(0, 128, 4));
  EXPECT_EQ(touched.size(), 32);
  EXPECT_EQ(sector_count(touched), 32);
}

TEST(Coalesce, LanesOfOneAddressShareASector) { EXPECT_EQ(sector_count(coalesce(strided(0x40, 0, 4))), 1); }

TEST(Coalesce, InactiveLanesAskForNothing) {
  EXPECT_TRUE(coalesce(strided(0x40, 4, 4, 0)).empty());
  EXPECT_EQ(sector_count(coalesce(strided(0, 32, 4, 0x80000001))), 2);
}

TEST(Coalesce, FallingAndMixedAddressesComeOnceAndInOrder) {
  LaneAccess access = strided(0, 4, 4);
  for (int lane = 0; lane < 32; ++lane) access.addresses[lane] = lane % 2 == 0 ? 0x400 - 4 * lane : 0x80 + 4 * lane;
  const auto touched = coalesce(access);
  EXPECT_TRUE(std::ranges::is_sorted(touched, {}, &LineTouch::line));
  EXPECT_EQ(touched.size(), 3);  // 0x384-0x400 and 0x84-0xfc
}

TEST(Coalesce, ALaneMayStraddleSectors) { EXPECT_EQ(sector_count(coalesce(strided(0x1e, 0, 4))), 2); }

TEST(Coalesce, TheEndOfTheAddressSpaceIsNoLoop) { EXPECT_LE(sector_count(coalesce(strided(~uint64_t{0}, 0, 16))), 1); }

TEST(Coalesce, NeighbouringSectorsArePairs) {
  EXPECT_EQ(pair_count(coalesce(strided(0x1000, 4, 4))), 2U);
  EXPECT_EQ(pair_count(coalesce(strided(0x1004, 4, 4))), 3U);
  EXPECT_EQ(pair_count(coalesce(strided(0, 32, 4))), 16U);
  EXPECT_EQ(pair_count(coalesce(strided(0, 64, 4))), 32U);
}

TEST(Additions, PassOverASectorOncePerWord) {
  EXPECT_EQ(l2_passes(strided(0x1000, 4, 4)), 4U);   // a word a lane
  EXPECT_EQ(l2_passes(strided(0x1000, 0, 4)), 32U);  // one word
  EXPECT_EQ(l2_passes(strided(0x1000, 32, 4)), 32U);
  LaneAccess two = strided(0x1000, 0, 4);  // three lanes at one word, two at another of its sector, one elsewhere
  two.mask = 0x3f;
  two.addresses[3] = two.addresses[4] = 0x1004;
  two.addresses[5] = 0x2000;
  EXPECT_EQ(l2_passes(two), 4U);
}

}  // namespace
}  // namespace warpfold::test
