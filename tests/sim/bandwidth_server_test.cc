#include "sim/engine/bandwidth_server.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace warpfold::sim {
namespace {

TEST(BandwidthServer, KeepsFractionsOfACycle) {
  BandwidthServer server(3, 2);        // 1.5 bytes a cycle
  EXPECT_EQ(server.serve(0, 4), 3);    // 8/3 cycles
  EXPECT_EQ(server.serve(0, 4), 6);    // 16/3, not 3 + 3
  EXPECT_EQ(server.serve(0, 4), 8);    // 8 exactly
  EXPECT_EQ(server.serve(20, 3), 22);  // idle in between
  EXPECT_EQ(server.served_bytes(), 15);
}

TEST(BandwidthServer, NothingTakesNoTime) {
  BandwidthServer server(1, 100);
  EXPECT_EQ(server.serve(7, 0), 7);
  EXPECT_EQ(server.serve(7, 1), 107);
  EXPECT_EQ(server.serve(9, 0), 9);  // does not queue
}

TEST(BandwidthServer, AnSmsShareOfL2IsExactOverALongRun) {
  // 5050 B/clk of 132 SMs, 128 bytes a request: a million requests take 128e6 * 132 / 5050 cycles, rounded up once.
  BandwidthServer server(5'050'000, 132'000);
  Cycle done = 0;
  for (int i = 0; i < 1'000'000; ++i) done = server.serve(0, 128);
  EXPECT_EQ(done, (128'000'000ULL * 132 + 5049) / 5050);
}

RC_GTEST_PROP(BandwidthServer, IsNeverFasterThanItsRateAndNeverIdleWithWork, ()) {
  const auto numerator = *rc::gen::inRange<uint64_t>(1, 10'000);
  const auto denominator = *rc::gen::inRange<uint64_t>(1, 10'000);
  BandwidthServer server(numerator, denominator);
  Cycle now = 0;
  uint64_t busy_until = 0;  // in 1/numerator cycle, by the definition
  for (int i = 0; i < 50; ++i) {
    now += *rc::gen::inRange<uint64_t>(0, 100);
    const auto bytes = *rc::gen::inRange<uint64_t>(1, 1000);
    busy_until = std::max(busy_until, now * numerator) + bytes * denominator;
    const Cycle done = server.serve(now, bytes);
    RC_ASSERT(done * numerator >= busy_until);
    RC_ASSERT((done - 1) * numerator < busy_until);
  }
}

}  // namespace
}  // namespace warpfold::sim
