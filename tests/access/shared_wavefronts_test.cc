// Bank conflicts of shared memory, by width.

#include "traces/access/shared_wavefronts.h"

#include <gtest/gtest.h>

#include "tests/access/accesses.h"

namespace warpfold::test {
namespace {

using traces::access::LaneAccess;
using traces::access::matrix_wavefronts;
using traces::access::shared_wavefronts;

TEST(SharedWavefronts, WordsInARowTakeOne) { EXPECT_EQ(shared_wavefronts(strided(0, 4, 4)), 1); }

TEST(SharedWavefronts, AStrideOfTwoWordsTakesTwo) { EXPECT_EQ(shared_wavefronts(strided(0, 8, 4)), 2); }

TEST(SharedWavefronts, AnOddStrideOfWordsHasNoConflict) { EXPECT_EQ(shared_wavefronts(strided(0, 33 * 4, 4)), 1); }

TEST(SharedWavefronts, OneBankTakesThirtyTwo) { EXPECT_EQ(shared_wavefronts(strided(0, 128, 4)), 32); }

TEST(SharedWavefronts, AWordForAllIsBroadcast) { EXPECT_EQ(shared_wavefronts(strided(64, 0, 4)), 1); }

TEST(SharedWavefronts, BytesOfOneWordAreBroadcast) { EXPECT_EQ(shared_wavefronts(strided(0, 1, 1)), 1); }

TEST(SharedWavefronts, WideAccessesGoByHalvesAndQuarters) {
  EXPECT_EQ(shared_wavefronts(strided(0, 8, 8)), 2);
  EXPECT_EQ(shared_wavefronts(strided(0, 16, 16)), 4);
  // Rows of 256 bytes: the eight lanes of a quarter fall on the same four banks.
  EXPECT_EQ(shared_wavefronts(strided(0, 256, 16)), 32);
  // Two lanes of a half share each bank: lanes 128 bytes apart.
  EXPECT_EQ(shared_wavefronts(strided(0, 16, 8)), 4);
}

TEST(SharedWavefronts, OnlyActiveGroupsTakeAPass) {
  EXPECT_EQ(shared_wavefronts(strided(0, 16, 16, 0x000000ff)), 1);
  EXPECT_EQ(shared_wavefronts(strided(0, 16, 16, 0)), 0);
}

TEST(SharedWavefronts, RowsOfMatricesGoOneMatrixAPass) {
  EXPECT_EQ(matrix_wavefronts(strided(0, 16, 16), 4), 4);
  EXPECT_EQ(matrix_wavefronts(strided(0, 16, 16), 2), 2);
  // Rows of 64 halves without a swizzle: all eight rows of a matrix on the same banks.
  EXPECT_EQ(matrix_wavefronts(strided(0, 128, 16), 4), 32);
  // The swizzle of 128-byte rows: chunk xor row.
  LaneAccess swizzled = strided(0, 128, 16);
  for (int lane = 0; lane < 32; ++lane) swizzled.addresses[lane] += 16 * (lane % 8);
  EXPECT_EQ(matrix_wavefronts(swizzled, 4), 4);
}

}  // namespace
}  // namespace warpfold::test
