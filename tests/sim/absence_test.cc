// Absent warps: warps that are not resident because another kernel holds their room, by resource and by kernel.

#include <gtest/gtest.h>

#include <ostream>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::Contended;

constexpr uint64_t kLength = 100 * 15;  // cycles of a CTA without its EXIT

traces::Kernel sleeper(const std::string& name, uint64_t ctas, uint32_t warps, const std::string& options, uint64_t length = 100) {
  return KernelText(name, "sm_90")
      .options(options)
      .ctas(ctas)
      .role("warps", warps, loop(length, {op("NOP", {.stall = 15})}))
      .kernel();
}

// Returns the warp-cycles that launch `victim` misses because of `culprit`, all of them for one resource.
uint64_t missed(const Replay& run, size_t victim, size_t culprit, Contended resource) {
  const sim::Losses& absent = run.outcome.kernels[victim].absent[culprit];
  uint64_t others = 0;
  for (size_t r = 0; r < absent.size(); ++r) others += r == static_cast<size_t>(resource) ? 0 : absent[r];
  EXPECT_EQ(others, 0) << "on other resources";
  return absent[static_cast<size_t>(resource)];
}

struct Capacity {
  std::string what;
  Contended resource;
  std::string holder;  // options of a kernel that leaves room for some of the victim's CTAs
  uint32_t holder_warps;
  uint64_t holder_ctas;
  std::string victim;  // options of a kernel with as many CTAs as fit when it is alone
  uint32_t victim_warps;
  uint32_t alone;
  uint32_t beside;
};

std::ostream& operator<<(std::ostream& stream, const Capacity& capacity) { return stream << capacity.what; }

class Absence : public testing::TestWithParam<Capacity> {};

// The holder's CTAs begin first. The CTAs that the victim misses begin when the holder has ended.
TEST_P(Absence, TheMissingWarpsAreChargedToTheHolder) {
  const Capacity& capacity = GetParam();
  const traces::Kernel holder = sleeper("holder", capacity.holder_ctas, capacity.holder_warps, capacity.holder);
  const traces::Kernel victim = sleeper("victim", capacity.alone, capacity.victim_warps, capacity.victim, 300);
  const Replay run = replay_together(one_sm("h100_sxm"), {holder, victim});
  const uint64_t until = run.outcome.kernels[0].end_cycle;
  EXPECT_GE(until, kLength);
  const uint64_t most = uint64_t{capacity.alone - capacity.beside} * capacity.victim_warps * until;
  const uint64_t least = capacity.holder_ctas == 1 ? most : most * 98 / 100;  // several CTAs end in different cycles
  const uint64_t missing = missed(run, 1, 0, capacity.resource);
  EXPECT_LE(missing, most);
  EXPECT_GE(missing, least);
  EXPECT_EQ(missed(run, 0, 1, capacity.resource), 0) << "the holder misses nothing";
}

// An SM of an H100 has 65536 registers, 228 KiB of shared memory (the system takes 1 KiB for each CTA), 4 x 16 warp
// slots and 32 CTA slots.
INSTANTIATE_TEST_SUITE_P(
    Resources, Absence,
    testing::Values(Capacity{"registers", Contended::kRegisters, "registers=96", 16, 1, "registers=255", 2, 4, 1},
                    Capacity{"shared_memory", Contended::kSharedMemoryCapacity, "shared_memory=116000", 2, 1, "shared_memory=57344",
                             2, 4, 1},
                    Capacity{"warp_slots", Contended::kWarpSlots, "registers=16", 32, 1, "registers=16", 2, 32, 16},
                    Capacity{"cta_slots", Contended::kCtaSlots, "registers=16", 1, 30, "registers=16", 1, 32, 2}),
    testing::PrintToStringParamName());

// A launch that has CTAs left holds back later launches. The later launch's absence is charged to the first launch and
// to the resource that the first launch lacks.
TEST(Absence, ALaunchThatIsHeldBackMissesAllItsWarps) {
  const traces::Kernel first = sleeper("first", 3, 8, "registers=200");   // one CTA at a time
  const traces::Kernel second = sleeper("second", 2, 2, "registers=16");  // would fit beside it
  const Replay run = replay_together(one_sm("h100_sxm"), {first, second});
  const uint64_t held_back = run.outcome.kernels[1].start_cycle;
  EXPECT_GT(held_back, kLength);
  EXPECT_EQ(missed(run, 1, 0, Contended::kRegisters), 4 * held_back);
}

// A reservation that its owner does not use is charged to the owner.
TEST(Absence, AReservationIsChargedToItsOwner) {
  const traces::Kernel owner = sleeper("owner", 2, 2, "registers=32");
  const traces::Kernel victim = sleeper("victim", 8, 8, "registers=64", 300);  // 16384 registers a CTA: four alone
  std::vector<sim::Launch> launches = {launch(owner, 0), launch(victim, 1)};
  launches[0].reserved = true;
  launches[0].reserved_registers = 30000;  // leaves room for two CTAs of the victim
  launches[0].reserved_warps = 4;
  launches[0].reserved_shared_memory = 4096;
  const Replay run = replay(one_sm("h100_sxm"), launches);
  EXPECT_EQ(missed(run, 1, 0, Contended::kRegisters), 2 * 8 * run.outcome.kernels[0].end_cycle);
}

// While the other launch has CTAs, the owner is limited to its reservation.
TEST(Absence, AndItBoundsItsOwner) {
  const traces::Kernel owner = sleeper("owner", 64, 2, "registers=32");
  const traces::Kernel other = sleeper("other", 1, 8, "registers=64", 50);
  std::vector<sim::Launch> launches = {launch(owner, 0), launch(other, 1)};
  launches[0].reserved = true;
  launches[0].reserved_registers = 2048;  // one CTA
  const Replay run = replay(one_sm("h100_sxm"), launches);
  EXPECT_EQ(missed(run, 0, 1, Contended::kRegisters), 31 * 2 * run.outcome.kernels[1].end_cycle);
}

TEST(Absence, AQuotaIsChargedToTheOthers) {
  const traces::Kernel bounded = sleeper("bounded", 64, 2, "registers=32");
  const traces::Kernel other = sleeper("other", 1, 8, "registers=64", 50);
  std::vector<sim::Launch> launches = {launch(bounded, 0), launch(other, 1)};
  launches[0].quota.warps = 12;
  const Replay run = replay(one_sm("h100_sxm"), launches);
  EXPECT_EQ(missed(run, 0, 1, Contended::kWarpSlots), (32 - 6) * 2 * run.outcome.kernels[1].end_cycle);
}

// A launch with fewer CTAs than fit, or with no CTA left to place, misses nothing.
TEST(Absence, IsNoneWhereEverybodyIsThere) {
  const traces::Kernel one = sleeper("one", 2, 8, "registers=64");
  const traces::Kernel other = sleeper("other", 2, 8, "registers=64");
  const Replay run = replay_together(one_sm("h100_sxm"), {one, other});
  for (const sim::KernelCounters& kernel : run.outcome.kernels) EXPECT_EQ(kernel.absent, std::vector<sim::Losses>(2));
}

// Both are on the SM until the shorter one ends: all of the shorter one's time, and half of the longer one's.
TEST(Company, IsTheTimeInWhichBothAreOnTheSm) {
  const traces::Kernel one = sleeper("one", 1, 8, "registers=64", 100);
  const traces::Kernel other = sleeper("other", 1, 4, "registers=64", 200);
  const Replay run = replay_together(one_sm("h100_sxm"), {one, other});
  const auto& kernels = run.outcome.kernels;
  const uint64_t meet = kernels[0].end_cycle - kernels[1].start_cycle;
  EXPECT_NEAR(static_cast<double>(kernels[0].beside[1]), static_cast<double>(8 * meet), 100);
  EXPECT_NEAR(static_cast<double>(kernels[1].beside[0]), static_cast<double>(4 * meet), 100);
  EXPECT_LE(kernels[0].beside[1], kernels[0].resident_warp_cycles);
  EXPECT_EQ(kernels[0].beside[0], 0);
  EXPECT_EQ(kernels[1].beside[1], 0);
}

// A kernel that fills the SM alone waits only for its own CTAs, which is no loss.
TEST(Absence, IsNoneAlone) {
  const Replay run = replay(one_sm("h100_sxm"), sleeper("k", 20, 8, "registers=64"));
  EXPECT_EQ(run.outcome.kernels[0].absent, std::vector<sim::Losses>(1));
}

}  // namespace
}  // namespace warpfold::test
