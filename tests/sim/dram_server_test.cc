#include "sim/memory/dram_server.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace warpfold::sim {
namespace {

TEST(DramServer, StoresEndInL2AndLeaveWhenNothingIsRead) {
  DramServer dram(1, 1, 8);        // a byte a cycle, 8 dirty bytes at most
  EXPECT_EQ(dram.write(0, 6), 0);  // all of it fits
  EXPECT_EQ(dram.read(2, 3), 5);   // goes first: two of the six have left
  EXPECT_EQ(dram.read_bytes() + dram.written_bytes(), 9);
  EXPECT_EQ(dram.write(5, 6), 7);  // ten are dirty, two of them too many
  EXPECT_EQ(dram.read(7, 1), 8);
  EXPECT_EQ(dram.read_bytes() + dram.written_bytes(), 16);
  EXPECT_EQ(dram.read(100, 1), 101);  // everything has left long ago
  EXPECT_EQ(dram.read_bytes() + dram.written_bytes(), 17);
}

TEST(DramServer, IdleTimeBeforeAStoreIsNoUseToIt) {
  DramServer dram(1, 1, 8);
  EXPECT_EQ(dram.write(100, 8), 100);
  EXPECT_EQ(dram.write(101, 8), 108);  // seven are left of the first eight
}

TEST(DramServer, WithoutRoomForDirtyBytesStoresWaitForDram) {
  DramServer dram(1, 2, 0);
  EXPECT_EQ(dram.write(0, 4), 8);
  EXPECT_EQ(dram.read(0, 1), 10);
  EXPECT_EQ(dram.write(20, 1), 22);
}

TEST(DramServer, AStreamOfStoresComesDownToItsRate) {
  DramServer dram(2, 1, 1000);
  Cycle done = 0;
  for (int i = 0; i < 1000; ++i) done = dram.write(done, 100);
  EXPECT_EQ(done, (100'000 - 1000) / 2);
}

// Reads see nothing of what is written, as long as it fits.
RC_GTEST_PROP(DramServer, ReadsAreAsFastAsWithoutStores, ()) {
  const auto numerator = *rc::gen::inRange<uint64_t>(1, 1000);
  const auto denominator = *rc::gen::inRange<uint64_t>(1, 1000);
  DramServer dram(numerator, denominator, 1'000'000);
  BandwidthServer alone(numerator, denominator);
  Cycle now = 0;
  for (int i = 0; i < 50; ++i) {
    now += *rc::gen::inRange<uint64_t>(0, 100);
    RC_ASSERT(dram.write(now, *rc::gen::inRange<uint64_t>(0, 1000)) == now);
    const auto bytes = *rc::gen::inRange<uint64_t>(0, 1000);
    // A byte that is on its way to DRAM is not stopped: a fraction of a cycle at most.
    const Cycle expected = alone.serve(now, bytes);
    const Cycle done = dram.read(now, bytes);
    RC_ASSERT(done >= expected);
    RC_ASSERT(done <= expected + 1);
  }
}

}  // namespace
}  // namespace warpfold::sim
