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

TEST(NumberText, SaysTimesAndSizesInTheirUnits) {
  EXPECT_EQ(time_text(17.8), "17.8 us");
  EXPECT_EQ(time_text(4608.03), "4.61 ms");
  EXPECT_EQ(time_text(43'530'793.74), "43.5 s");
  EXPECT_EQ(bytes_text(524'288), "524 kB");
  EXPECT_EQ(bytes_text(1.0737e9), "1.07 GB");
}

TEST(TimeUnit, FollowsTheLongestTime) {
  EXPECT_EQ(time_unit(4608).name, "us");
  EXPECT_EQ(time_unit(10'000).name, "ms");
  EXPECT_EQ(time_unit(43'530'793.74).us, 1e6);
}

}  // namespace
}  // namespace warpfold::report
