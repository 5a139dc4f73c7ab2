#include "sim/engine/bandwidth_server.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace warpfold::sim {
namespace {

TEST(BandwidthServer, KeepsFractionsOfACycle) {
  BandwidthServer server(8, 3);        // 2 2/3 bytes a cycle
  EXPECT_EQ(server.serve(0, 7), 3);    // 21/8 cycles
  EXPECT_EQ(server.serve(0, 7), 6);    // 42/8
  EXPECT_EQ(server.serve(0, 2), 6);    // 6 exactly, not 3 + 3 + 1
  EXPECT_EQ(server.serve(20, 3), 22);  // idle in between
  EXPECT_EQ(server.served_bytes(), 19);
}

TEST(BandwidthServer, NothingTakesNoTime) {
  BandwidthServer server(1, 100);
  EXPECT_EQ(server.serve(7, 0), 7);
  EXPECT_EQ(server.serve(7, 1), 107);
  EXPECT_EQ(server.serve(9, 0), 9);  // nothing to serve: does not queue
}

TEST(BandwidthServer, AnSmsShareOfL2IsWithinOnePartIn4096OverALongRun) {
  // 5050 B/clk for 132 SMs, 128 bytes a request: a million requests take 128e6 * 132 / 5050 cycles. Only the rate is
  // rounded.
  BandwidthServer server(5'050'000, 132'000);
  Cycle done = 0;
  for (int i = 0; i < 1'000'000; ++i) done = server.serve(0, 128);
  const uint64_t asked = (128'000'000ULL * 132 + 5049) / 5050;
  EXPECT_GE(done, asked);
  EXPECT_LE(done, asked + asked / 4096);
}

TEST(BandwidthServer, ComesBackToAWholeCycleAfterFewPowersOfTwo) {
  // A steady state can recur only because of this: 16 KiB tiles at the same share, back to back.
  BandwidthServer server(5'050'000, 132'000);
  std::set<Cycle> steps;
  Cycle done = 0;
  for (int i = 0; i < 64; ++i) {
    Cycle sixteen = 0;
    for (int j = 0; j < 16; ++j) sixteen = server.serve(0, 16384);
    steps.insert(sixteen - done);
    done = sixteen;
  }
  EXPECT_EQ(steps.size(), 1);
}

RC_GTEST_PROP(BandwidthServer, IsNeverFasterThanItsRateAndNeverIdleWithWork, ()) {
  const auto numerator = *rc::gen::inRange<uint64_t>(1, 10'000);
  const auto denominator = *rc::gen::inRange<uint64_t>(1, 10'000);
  BandwidthServer server(numerator, denominator);
  Cycle now = 0;
  uint64_t busy_until = 0;     // in 1/numerator cycle, at the exact rate
  uint64_t rounded_until = 0;  // the same at the slowest rate that rounding may give: 4096/4097
  for (int i = 0; i < 50; ++i) {
    now += *rc::gen::inRange<uint64_t>(0, 100);
    const auto bytes = *rc::gen::inRange<uint64_t>(1, 1000);
    busy_until = std::max(busy_until, now * numerator) + bytes * denominator;
    rounded_until = std::max(rounded_until, now * numerator * 4096) + bytes * denominator * 4097;
    const Cycle done = server.serve(now, bytes);
    RC_ASSERT(done * numerator >= busy_until);
    RC_ASSERT((done - 1) * numerator * 4096 < rounded_until);
  }
}

}  // namespace
}  // namespace warpfold::sim
