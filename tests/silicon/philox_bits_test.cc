#define __host__
#define __device__
#include "tools/silicon/philox_bits.h"

#include <gtest/gtest.h>

namespace silicon {
namespace {

// Known answers of Random123 (kat_vectors, philox4x32 10).
TEST(Philox, GivesTheAuthorsKnownAnswers) {
  const Words zero = philox<10>({0, 0, 0, 0}, 0, 0);
  EXPECT_EQ(zero.x, 0x6627e8d5U);
  EXPECT_EQ(zero.y, 0xe169c58dU);
  EXPECT_EQ(zero.z, 0xbc57ac4cU);
  EXPECT_EQ(zero.w, 0x9b00dbd8U);
  const Words ones = philox<10>({~0U, ~0U, ~0U, ~0U}, ~0U, ~0U);
  EXPECT_EQ(ones.x, 0x408f276dU);
  EXPECT_EQ(ones.y, 0x41c83b0eU);
  EXPECT_EQ(ones.z, 0xa20bc7c6U);
  EXPECT_EQ(ones.w, 0x6d5451fdU);
}

TEST(KeepBits, CompareEachFieldOfAWord) {
  EXPECT_EQ(keep_bits<8>(0x10e0e1ffU, 0xe0), 0b1100U);
  EXPECT_EQ(keep_bits<16>(0x00e0ffffU, 0xe0), 0b10U);
  EXPECT_EQ(keep_bits<32>(0x000000e0U, 0xe0), 1U);
  EXPECT_EQ((keep_word<7, 8>(1, 2, 0xffU)), ~0U);
  EXPECT_EQ((keep_word<7, 32>(1, 2, ~0U)), ~0U);
}

}  // namespace
}  // namespace silicon
