// 32 lane addresses to 128-byte lines and 32-byte sectors.

#include "traces/access/coalesce.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/access/accesses.h"
#include "traces/access/opcode_access.h"

namespace warpfold::test {
namespace {

using traces::access::coalesce;
using traces::access::l2_passes;
using traces::access::LaneAccess;
using traces::access::LineTouch;
using traces::access::pair_count;
using traces::access::sector_count;
using traces::access::store_pairs;
using traces::access::tag_passes;

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

TEST(StorePairs, CountALineAndItsSectors) {
  EXPECT_EQ(store_pairs(coalesce(strided(0, 4, 4))), 2);               // a whole line
  EXPECT_EQ(store_pairs(coalesce(strided(0, 16, 16))), 8);             // four of them
  EXPECT_EQ(store_pairs(coalesce(strided(0, 128, 4))), 26);            // a sector of 32 lines: 31 sectors a cycle
  EXPECT_NEAR(store_pairs(coalesce(strided(0, 64, 4))), 32 * 0.6, 1);  // two of 16 lines: 42 sectors a cycle
}

// Counted on an A100 in the mean over eight offsets: 2.36, 2.83, 8.8 and 9.8 (tests/validation/micro/strides.csv).
TEST(TagPasses, FourLinesACycleIfTheyLieInUnlikeBanks) {
  EXPECT_EQ(tag_passes(coalesce(strided(0, 4, 4))), 1);
  EXPECT_EQ(tag_passes(coalesce(strided(0, 24, 4))), 2);   // six lines
  EXPECT_EQ(tag_passes(coalesce(strided(0, 32, 4))), 2);   // eight lines
  EXPECT_EQ(tag_passes(coalesce(strided(0, 132, 4))), 8);  // 32 lines
  EXPECT_EQ(tag_passes(coalesce(strided(0, 160, 4))), 9);
  EXPECT_EQ(tag_passes({}), 0);
}

// A load waits for the banks of L1's data or for its tags; a store takes a pass a line, an access past L1 none for lines.
TEST(GlobalWavefronts, AreThoseOfDataOrTags) {
  using traces::access::Access;
  using traces::access::global_wavefronts;
  const auto passes = [](Access access, uint64_t stride) {
    const LaneAccess lanes = strided(0, stride, 4);
    return global_wavefronts(access, access == Access::kGlobalStore ? "STG.E" : "LDG.E", lanes, coalesce(lanes));
  };
  EXPECT_EQ(passes(Access::kGlobalLoad, 4), 1);
  EXPECT_EQ(passes(Access::kGlobalLoad, 32), 8) << "eight lanes in a bank, two passes of tags";
  EXPECT_EQ(passes(Access::kGlobalLoad, 132), 8) << "no conflict of banks, 32 lines";
  EXPECT_EQ(passes(Access::kGlobalStore, 132), 32);
  EXPECT_EQ(passes(Access::kGlobalLoadPastL1, 132), 1);
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
