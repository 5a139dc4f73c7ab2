// Rates of SM classes that ask L2 and DRAM for more than they have, each by itself.

#include "sim/sampling/bandwidth_estimate.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpfold::test {
namespace {

using sim::MemoryDemand;
using sim::MemoryRates;

constexpr uint64_t kDram = 100'000;

sim::MemorySpec memory() {
  sim::MemorySpec spec;
  spec.l2_read_milli_bytes_per_clk = 10 * kDram;
  spec.l2_write_milli_bytes_per_clk = 10 * kDram;
  spec.dram_milli_bytes_per_clk = kDram;
  return spec;
}

// One SM that reads from DRAM, and what it was served at.
MemoryDemand reader(uint64_t bytes, uint64_t served) { return {.sms = 1, .dram_read = bytes, .served = {.dram = served}}; }

uint64_t dram_of(const std::vector<MemoryRates>& rates, size_t first, size_t last) {
  uint64_t sum = 0;
  for (size_t c = first; c < last; ++c) sum += rates[c].dram;
  return sum;
}

TEST(BandwidthEstimate, GivesAClassWhatTheOthersLeave) {
  const auto rates = sim::rates_beside(memory(), {reader(20'000, 0), reader(30'000, 0)});
  EXPECT_EQ(rates[0].dram, 70'000U);
  EXPECT_EQ(rates[1].dram, 80'000U);
}

// Half of the SMs take all that an even part gives, half nearly nothing. Each given what the others leave, the first half would
// take 26 times what DRAM has.
TEST(BandwidthEstimate, DividesWhatIsLeftAmongThoseThatTakeAll) {
  std::vector<MemoryDemand> demands;
  for (uint64_t sm = 0; sm < 50; ++sm) demands.push_back(reader(1'000 - sm, 1'000));
  for (uint64_t sm = 0; sm < 50; ++sm) demands.push_back(reader(20 + sm / 10, 1'000));
  const auto rates = sim::rates_beside(memory(), demands);
  EXPECT_LE(dram_of(rates, 0, 50), kDram * 105 / 100);
  EXPECT_GE(dram_of(rates, 0, 50), kDram * 95 / 100);
  EXPECT_GE(rates[99].dram, rates[0].dram * 8 / 10);
}

TEST(BandwidthEstimate, TakesBackWhatWasGivenTwice) {
  std::vector<MemoryDemand> demands;
  for (uint64_t sm = 0; sm < 10; ++sm) demands.push_back(reader(20'000 + sm, 50'000));
  EXPECT_TRUE(sim::oversubscribed(memory(), demands));
  const auto rates = sim::rates_beside(memory(), demands);
  // 0.4 of the time waiting at 50: 10 of 100 each are reached at 12 to 15.
  EXPECT_GE(rates[0].dram, 12'000U);
  EXPECT_LE(rates[0].dram, 15'000U);
}

TEST(BandwidthEstimate, LeavesAMomentsDemandWithinTheChip) {
  EXPECT_FALSE(sim::oversubscribed(memory(), {reader(50'000, 60'000), reader(51'000, 60'000)}));
  EXPECT_TRUE(sim::oversubscribed(memory(), {reader(50'000, 60'000), reader(60'000, 60'000)}));
}

}  // namespace
}  // namespace warpfold::test
