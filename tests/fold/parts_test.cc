// Every byte of the small parts is in the state, or is named here with the reason why not. The bytes of a new member
// show up among the unnoticed ones. Layouts are those of the Itanium C++ ABI on 64-bit machines, which g++ and clang
// share.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <type_traits>

#include "sim/account/hold_history.h"
#include "sim/engine/bandwidth_server.h"
#include "sim/memory/dram_server.h"
#include "sim/memory/held_dram.h"
#include "sim/memory/held_server.h"
#include "sim/memory/memory_share.h"
#include "sim/sm/pipe_port.h"
#include "sim/sm/register_ports.h"
#include "sim/sm/spec.h"
#include "sim/sm/timer_wheel.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

constexpr sim::Cycle kNow = 1'000'000;

template <typename Part, typename Visit>
sim::Snapshot state_of(Part part, Visit visit, sim::Cycle now = kNow) {
  sim::Snapshot state;
  sim::StateVisitor visitor(state, now);
  visit(part, visitor);
  return state;
}

bool same(const sim::Snapshot& one, const sim::Snapshot& other) {
  return one.key == other.key && one.counts == other.counts && one.moments == other.moments;
}

// Returns the bytes from `first` up to, but without, `last` whose lowest bit may change unnoticed: "0-7 20-23".
template <typename Part, typename Visit>
std::string unnoticed(const Part& part, Visit visit, size_t first = 0, size_t last = sizeof(Part)) {
  static_assert(std::is_trivially_copyable_v<Part>);
  const sim::Snapshot before = state_of(part, visit);
  std::string bytes;
  size_t begin = sizeof(Part);
  for (size_t i = first; i <= last; ++i) {
    bool noticed = true;
    if (i < last) {
      Part changed = part;
      auto* const raw = reinterpret_cast<unsigned char*>(&changed);
      raw[i] ^= 1;
      noticed = !same(before, state_of(changed, visit));
    }
    if (!noticed) {
      begin = std::min(begin, i);
    } else if (begin < i) {
      bytes += text({bytes.empty() ? "" : " ", std::to_string(begin), "-", std::to_string(i - 1)});
      begin = sizeof(Part);
    }
  }
  return bytes;
}

// Expects the part, moved on by a skip without counts, to be in the same state that many cycles later.
template <typename Part, typename Visit>
void expect_same_after_skip(Part part, Visit visit) {
  constexpr sim::Cycle kCycles = 4999;  // an arbitrary prime
  const sim::Snapshot before = state_of(part, visit);
  sim::FastForward skip;
  skip.cycles = kCycles;
  skip.counted.assign(before.counts.size(), 0);
  skip.risen.assign(before.levels.size(), 0);
  sim::StateVisitor mover(skip);
  visit(part, mover);
  EXPECT_EQ(state_of(part, visit, kNow + kCycles).key, before.key);
}

constexpr auto kVisit = [](auto& part, sim::StateVisitor& visitor) { part.visit(visitor); };

TEST(Parts, BandwidthServer) {
  sim::BandwidthServer server(5050, 132);
  server.serve(kNow, 4097);
  EXPECT_EQ(unnoticed(server, kVisit), "0-15");  // the rate: cost_, shift_ and padding
  expect_same_after_skip(server, kVisit);
}

TEST(Parts, DramServer) {
  sim::DramServer server(5050, 132, {1000, 100, 100}, 150);
  server.write(kNow, 2000);
  // Unnoticed: the rate, which is first in the inner server; room_, turnaround_ and dirty_ (a level). After them come
  // evicted_, written_back_ and written_bytes_.
  EXPECT_EQ(unnoticed(server, kVisit), "0-15 40-79");
  expect_same_after_skip(server, kVisit);
}

// The time for which DRAM has been idle is not in the key: it has no effect on later writes.
TEST(Parts, DramServersThatHaveBeenIdleForDifferentTimes) {
  sim::DramServer one(1, 1, {1000, 100, 100}, 0);
  sim::DramServer other = one;
  other.read(kNow - 10, 5);
  for (sim::DramServer* server : {&one, &other}) server->write(kNow - 3, 200);
  EXPECT_EQ(state_of(one, kVisit).key, state_of(other, kVisit).key);
}

// Expects the holder of a server to be in the key as long as a request would wait for it.
template <typename Server, typename Take>
void expect_holder_in_key_while_busy(const Server& idle, Take take) {
  Server one = idle;
  Server other = idle;
  take(one, 0);
  take(other, 1);
  EXPECT_NE(state_of(one, kVisit).key, state_of(other, kVisit).key);
  EXPECT_EQ(state_of(one, kVisit, kNow + 1000).key, state_of(other, kVisit, kNow + 1000).key);
  expect_same_after_skip(one, kVisit);
}

TEST(Parts, HeldServer) {
  expect_holder_in_key_while_busy(sim::HeldServer(1, 1, sim::Contended::kL2Read),
                                  [](sim::HeldServer& server, int launch) { server.serve(kNow, 100, launch); });
}

TEST(Parts, HeldDram) {
  expect_holder_in_key_while_busy(sim::HeldDram(1, 1, {1000, 100, 100}, 0),
                                  [](sim::HeldDram& server, int launch) { server.read(kNow, 100, launch); });
}

TEST(Parts, SpreadShare) {
  sim::SpreadShare share(1, 3);
  share.take(100);
  const auto visit = [](auto& part, sim::StateVisitor& visitor) { part.visit(visitor, "share"); };
  EXPECT_EQ(unnoticed(share, visit), "0-7");  // numerator_
}

TEST(Parts, TimerWheel) {
  sim::TimerWheel wheel;
  for (sim::Cycle ahead = 0; ahead < 64; ++ahead) wheel.set(static_cast<int>(ahead % 16), kNow + ahead);
  EXPECT_EQ(unnoticed(wheel, kVisit), "");
  expect_same_after_skip(wheel, kVisit);
}

TEST(Parts, PipePortWithoutPlaces) {
  sim::PipePort port;
  port.occupy(kNow, 4, 1, 0);
  // Unnoticed: last_, issued_ and the history, with padding. They are not used without entries in front of the latch.
  const auto visit = [](sim::PipePort& each, sim::StateVisitor& visitor) { each.visit(visitor, 0); };
  EXPECT_EQ(unnoticed(port, visit), "20-191");
  expect_same_after_skip(port, visit);
}

// The instructions issued last wait in front of the latch: the key holds their times, and the launch ahead of each.
TEST(Parts, PipePortWithPlaces) {
  sim::PipePort port;
  for (int i = 0; i < 16; ++i) port.occupy(kNow, 4, i, 14);
  const auto visit = [](sim::PipePort& each, sim::StateVisitor& visitor) { each.visit(visitor, 14); };
  EXPECT_EQ(unnoticed(port, visit),
            "23-39 "     // padding, and the two oldest instructions, for which no issue waits
            "152-191");  // padding
  expect_same_after_skip(port, visit);
}

// If a state has been moved to an earlier time, an instruction may have entered the latch before cycle 0: it counts as
// past.
TEST(Parts, PipePortAtAnEarlierTime) {
  sim::PipePort port;
  sim::FastForward skip;
  skip.cycles = sim::Cycle{0} - 5;
  sim::StateVisitor mover(skip);
  port.visit(mover, 12);
  port.occupy(10, 4, 0, 12);
  EXPECT_LE(port.admits_at(), 10);
}

TEST(Parts, RegisterPorts) {
  sim::Spec spec;
  spec.half_read_ports_per_bank = 8;
  spec.half_write_ports_per_bank = 4;
  spec.read_window = 3;
  spec.register_file_cache = true;
  sim::RegisterPorts ports(spec);
  ports.advance(kNow);
  ports.demand(kNow, 100, 100);
  ports.begin_write_back(kNow, 32);
  ports.enter_wide_result(kNow, 4, 8);
  // The bytes after base_, which a visit brings to now, and the constants. Only differences of demanded_ and served_
  // count; pending_ says whether there are any. cached_places_ says which entries of the register-file cache are in
  // use. odd_ matters only with half a port, and shows in the closed cycles.
  const auto visit = [](sim::RegisterPorts& each, sim::StateVisitor& visitor) { each.visit(visitor); };
  EXPECT_EQ(unnoticed(ports, visit, 40),
            "136-137 "   // odd_ and padding
            "150-151 "   // cached_places_ and padding
            "176-183 "   // pending_ and padding
            "208-215");  // pair_wait_cycles_, of which commands use differences only, and padding
  expect_same_after_skip(ports, visit);
}

TEST(Parts, HoldHistory) {
  sim::HoldHistory history;
  for (sim::Cycle ago = 40; ago > 0; --ago) history.hold(kNow - 10 * ago, static_cast<int>(ago % 2));
  const auto visit = [](sim::HoldHistory& each, sim::StateVisitor& visitor) { each.visit(visitor, kNow - 1000); };
  // Padding of each segment, and the start of the oldest one: the ninth place, since 40 have gone through a ring of 32.
  std::string expected;
  for (int i = 0; i < 32; ++i)
    expected += text({std::to_string(16 * i + 12), "-", std::to_string(16 * i + (i == 7 ? 23 : 15)), " "});
  // Bytes of head_ that count multiples of the ring's size. Looks up to the lowest byte of size_, since higher bytes
  // would make the size invalid.
  EXPECT_EQ(unnoticed(history, visit, 0, 517), expected + "513-515");
  expect_same_after_skip(history, visit);
}

}  // namespace
}  // namespace warpfold::test
