#include "sim/memory/dram_server.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace warpfold::sim {
namespace {

TEST(DramServer, ReadsEvictDirtyLinesWhichWaitInAQueue) {
  DramServer dram(1, 1, {8, 0, 2}, 0);  // a byte a cycle, at most 8 dirty bytes and 2 in the queue, no turnaround
  EXPECT_EQ(dram.write(0, 6), 0);       // all six bytes fit
  EXPECT_EQ(dram.read(2, 3), 5);        // goes first; one of the three bytes that it evicts leaves by cycle 6
  EXPECT_EQ(dram.dirty_bytes(), 3);
  EXPECT_EQ(dram.waiting_bytes().evicted, 2);
  EXPECT_EQ(dram.write(5, 6), 7);  // nine would be dirty, one too many
  EXPECT_EQ(dram.dirty_bytes(), 8);
  EXPECT_EQ(dram.read_bytes() + dram.written_bytes(), 15);
}

TEST(DramServer, DirtyLinesStayThroughAPause) {
  DramServer dram(1, 1, {8, 0, 0}, 0);
  EXPECT_EQ(dram.write(0, 8), 0);
  EXPECT_EQ(dram.write(1'000'000, 1), 1'000'001);  // there is still no room
  EXPECT_EQ(dram.read(2'000'000, 4), 2'000'004);
  EXPECT_EQ(dram.read(2'000'004, 4), 2'000'012);  // behind the four bytes that the first read evicted
  EXPECT_EQ(dram.dirty_bytes(), 0);
  EXPECT_EQ(dram.read(3'000'000, 4), 3'000'004);
  EXPECT_EQ(dram.read(3'000'004, 4), 3'000'008);  // evicts nothing
}

TEST(DramServer, TheQueueEmptiesWhileNothingIsRead) {
  DramServer dram(1, 1, {8, 0, 8}, 0);
  dram.write(0, 8);
  EXPECT_EQ(dram.read(10, 4), 14);  // leaves four in the queue
  EXPECT_EQ(dram.read(14, 1), 15);  // does not wait for the queue
  EXPECT_EQ(dram.read(100, 1), 101);
  EXPECT_EQ(dram.waiting_bytes().evicted, 1);  // evicted by the last read; all earlier ones have left
}

TEST(DramServer, WhatIsWrittenBackWaitsInL2UntilDramHasTime) {
  DramServer dram(1, 1, {8, 4, 0}, 0);
  EXPECT_EQ(dram.write(0, 12), 0);
  EXPECT_EQ(dram.waiting_bytes().written_back, 4);
  EXPECT_EQ(dram.write(2, 4), 4);  // two bytes have left, and two of the six that would wait must leave
  EXPECT_EQ(dram.write(100, 4), 100);
  EXPECT_EQ(dram.dirty_bytes(), 8);
}

TEST(DramServer, WhatAReadEvictsTakesLongerByTheTurnaround) {
  DramServer dram(1, 1, {1'000'000, 0, 0}, 250);
  dram.write(0, 1'000'000);
  Cycle done = 0;
  for (int i = 0; i < 1000; ++i) done = dram.read(done, 100);
  EXPECT_EQ(done, 100 * 1000 + 999 * 125);  // the bytes that the last read evicts come after it
}

TEST(DramServer, WithoutRoomForDirtyBytesStoresWaitForDram) {
  DramServer dram(1, 2, {0, 0, 0}, 0);
  EXPECT_EQ(dram.write(0, 4), 8);
  EXPECT_EQ(dram.read(0, 1), 10);
  EXPECT_EQ(dram.write(20, 1), 22);
}

TEST(DramServer, AStreamOfStoresComesDownToItsRate) {
  DramServer dram(2, 1, {1000, 0, 0}, 500);
  Cycle done = 0;
  for (int i = 0; i < 1000; ++i) done = dram.write(done, 100);
  EXPECT_EQ(done, (100'000 - 1000) / 2);
}

// Stores do not delay reads as long as the queue has room for the bytes that reads evict.
RC_GTEST_PROP(DramServer, ReadsAreAsFastAsWithoutStores, ()) {
  const auto numerator = *rc::gen::inRange<uint64_t>(1, 1000);
  const auto denominator = *rc::gen::inRange<uint64_t>(1, 1000);
  DramServer dram(numerator, denominator, {1'000'000, 0, 1'000'000}, 100);
  BandwidthServer alone(numerator, denominator);
  Cycle now = 0;
  for (int i = 0; i < 50; ++i) {
    now += *rc::gen::inRange<uint64_t>(0, 100);
    RC_ASSERT(dram.write(now, *rc::gen::inRange<uint64_t>(0, 1000)) == now);
    const auto bytes = *rc::gen::inRange<uint64_t>(0, 1000);
    // A byte on its way to DRAM is not interrupted: it delays a read by a fraction of a cycle at most.
    const Cycle expected = alone.serve(now, bytes);
    const Cycle done = dram.read(now, bytes);
    RC_ASSERT(done >= expected);
    RC_ASSERT(done <= expected + 1);
  }
}

}  // namespace
}  // namespace warpfold::sim
