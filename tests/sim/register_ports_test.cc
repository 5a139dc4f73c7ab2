#include "sim/sm/register_ports.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "sim/engine/time.h"
#include "sim/sm/program.h"
#include "sim/sm/spec.h"

namespace warpfold::test {
namespace {

sim::Spec random_spec() {
  sim::Spec spec;
  spec.half_read_ports_per_bank = *rc::gen::element<uint32_t>(1, 2, 2, 4);
  spec.half_write_ports_per_bank = *rc::gen::element<uint32_t>(1, 2, 2, 4);
  spec.read_window = *rc::gen::inRange<uint32_t>(1, 17);
  return spec;
}

// The masks may be shifted lazily, when they have no room left, or in every cycle: the results are the same.
RC_GTEST_PROP(RegisterPorts, MayStayBehind, ()) {
  const sim::Spec spec = random_spec();
  sim::RegisterPorts lazy(spec);
  sim::RegisterPorts eager(spec);
  sim::Cycle now = 0;
  sim::Cycle allocated = 0;
  sim::RegisterPorts::Totals wanted;
  for (int i = 0; i < 200; ++i) {
    now = std::max(now + *rc::gen::weightedElement<sim::Cycle>({{20, 1}, {5, 3}, {1, 30}, {1, 100}}), allocated);
    eager.advance(now);
    if (*rc::gen::inRange(0, 8) == 0) {
      const auto slots = *rc::gen::inRange<uint32_t>(0, 40);
      wanted = eager.demand(now, slots, slots / 2);
      const auto same = lazy.demand(now, slots, slots / 2);
      RC_ASSERT(same.reads == wanted.reads);
    }
    const sim::RegisterPorts::PerBank reads = {*rc::gen::inRange<uint32_t>(0, 9), *rc::gen::inRange<uint32_t>(0, 9)};
    const auto latency = *rc::gen::weightedElement<uint32_t>({{20, 4}, {4, 0}, {2, 23}, {1, 60}});
    sim::MicroOp op;
    op.writes = {*rc::gen::inRange<uint8_t>(0, 3), *rc::gen::inRange<uint8_t>(0, 3)};
    for (int bank = 0; bank < 2; ++bank) op.write_slots[bank] = sim::slots_of(op.writes[bank]);
    lazy.make_room(now, latency);
    allocated = eager.allocate(now + 2, reads);
    RC_ASSERT(lazy.allocate(now + 2, reads) == allocated);
    eager.write(now + latency, op);
    lazy.write(now + latency, op);
    if (*rc::gen::inRange(0, 8) == 0) RC_ASSERT(lazy.missing(now, wanted) == eager.missing(now, wanted));
  }
}

// With two dispatch ports, each has an allocate stage of its own. An instruction's reads wait for the reads of both.
TEST(RegisterPorts, HaveRoomForTheReadsOfTwoDispatchPorts) {
  sim::Spec spec;
  spec.half_read_ports_per_bank = 2;
  spec.half_write_ports_per_bank = 2;
  spec.read_window = 3;
  spec.issue_width = 2;
  std::mt19937 engine(1);
  const auto random = [&engine](uint32_t below) { return static_cast<uint32_t>(engine() % below); };
  for (int run = 0; run < 50; ++run) {
    sim::RegisterPorts ports(spec);
    std::array<sim::Cycle, 2> allocated{};
    std::array<sim::Cycle, 2> control_free{};
    for (sim::Cycle now = 1; now < 4000; ++now) {
      for (size_t port = 0; port < 2; ++port) {
        if (control_free[port] > now) continue;
        ports.make_room(now, 4);
        control_free[port] = std::max(now + 1, allocated[port]);
        const uint32_t most = random(4) == 0 ? 5 : 2;  // HMMA reads five registers of each bank
        allocated[port] = ports.allocate(control_free[port] + 1, {most, random(most + 1)});
        ASSERT_LT(allocated[port], now + 40);
      }
    }
  }
}

// A result needs one cycle of its bank's port for each cycle that its pipe is held. While pairs of accumulators are
// written back, every second cycle, counted back from their end, is free.
TEST(RegisterPorts, ResultsFindEverySecondCycleFreeBesidePairs) {
  sim::Spec spec;
  spec.half_read_ports_per_bank = 2;
  spec.half_write_ports_per_bank = 2;
  spec.read_window = 3;
  constexpr sim::Cycle kBegin = 1000;
  for (sim::Cycle pairs = 0; pairs < 12; ++pairs) {
    sim::RegisterPorts ports(spec);
    ports.begin_write_back(kBegin, pairs);
    for (sim::Cycle enters = kBegin; enters < kBegin + 14; ++enters) {
      uint32_t free = 0;
      for (sim::Cycle at = enters; free < 9; ++at) {
        const bool taken = at < kBegin + pairs && (kBegin + pairs - at) % 2 == 0;
        if (taken) continue;
        ++free;
        EXPECT_EQ(free + ports.result_wait(enters, free), at + 1 - enters) << pairs << " pairs, enters at " << enters;
      }
    }
  }
}

// A wide result needs four consecutive cycles, between pairs or after them. Eight pairs are written in cycles 1000 to
// 1015.
TEST(RegisterPorts, AWideResultWaitsForSomePairsAndThenTheyWaitForIt) {
  sim::Spec spec;
  spec.half_read_ports_per_bank = 2;
  spec.half_write_ports_per_bank = 2;
  sim::RegisterPorts ports(spec);
  ports.begin_write_back(1000, 16);
  EXPECT_EQ(ports.enter_wide_result(1002, 4, 3), 6U);  // waits for three pairs: written 1008 to 1011
  EXPECT_EQ(ports.pair_wait_cycles(), 4U);
  EXPECT_TRUE(ports.wide_waits(1007));
  EXPECT_FALSE(ports.wide_waits(1008));
  EXPECT_TRUE(ports.writes_back(1019));
  EXPECT_FALSE(ports.writes_back(1020));
  EXPECT_EQ(ports.enter_wide_result(1016, 4, 3), 4U);  // the pairs end first
  EXPECT_EQ(ports.pair_wait_cycles(), 4U);
  ports.begin_write_back(1021, 16);  // the pairs wait for it until 1024
  EXPECT_EQ(ports.pair_wait_cycles(), 7U);
  EXPECT_TRUE(ports.writes_back(1039));
  EXPECT_FALSE(ports.writes_back(1040));
}

}  // namespace
}  // namespace warpfold::test
