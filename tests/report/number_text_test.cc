#include "tools/report/number_text.h"

#include <gtest/gtest.h>

#include <array>

namespace warpfold::report {
namespace {

TEST(ByteUnit, IsKbWhereASizeWouldReadAsNothing) {
  EXPECT_EQ(byte_unit(std::array<uint64_t, 2>{0, 100'000}).name, "MB");
  EXPECT_EQ(byte_unit(std::array<uint64_t, 2>{0, 99'999}).name, "kB");
  EXPECT_EQ(byte_unit(std::array<uint64_t, 2>{5'000'000, 1}).bytes, 1e3);
  EXPECT_EQ(byte_unit({}).bytes, 1e6);
}

}  // namespace
}  // namespace warpfold::report
