#include <gtest/gtest.h>

#include "tools/silicon/carve_out.h"
#include "tools/silicon/rates.h"
#include "tools/silicon/statistics.h"

namespace silicon {
namespace {

// CUDA C++ Programming Guide, compute capability 9.0.
constexpr SmLimits kHopper{65536, 233472, 64, 32, 1024};

TEST(Spreads, OfMeasurements) {
  const Spread is = spread_of({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(is.median, 2.5);
  EXPECT_DOUBLE_EQ(is.least, 1);
  EXPECT_DOUBLE_EQ(is.p90, 4);
  EXPECT_DOUBLE_EQ(spread_of({7}).p90, 7);
  EXPECT_THROW(spread_of({}), std::invalid_argument);
}

TEST(Percentiles, NearestRank) {
  EXPECT_DOUBLE_EQ(percentile_of({40, 10, 30, 20}, 25), 10);
  EXPECT_DOUBLE_EQ(percentile_of({40, 10, 30, 20}, 50), 20);
  EXPECT_DOUBLE_EQ(percentile_of({40, 10, 30, 20}, 51), 30);
  EXPECT_DOUBLE_EQ(percentile_of({40, 10, 30, 20}, 0), 10);
  EXPECT_DOUBLE_EQ(percentile_of({40, 10, 30, 20}, 100), 40);
  EXPECT_THROW(percentile_of({}, 50), std::invalid_argument);
}

TEST(Orders, BatchAfterBatchOrInTurn) {
  EXPECT_EQ(changes_between({1, 2, 3}, {4, 5, 6}), 1);
  EXPECT_EQ(changes_between({4, 5, 6}, {1, 2, 3}), 1);
  EXPECT_EQ(changes_between({1, 3, 5}, {2, 4, 6}), 5);
  EXPECT_EQ(changes_between({1, 2}, {}), 0);
}

TEST(Orders, OfWhatRecurs) {
  EXPECT_DOUBLE_EQ(phase_of(0, 100), 0);
  EXPECT_DOUBLE_EQ(phase_of(50, 100), 0.5);
  EXPECT_DOUBLE_EQ(phase_of(-75, 100), 0.25);
  EXPECT_DOUBLE_EQ(phase_of(310, 100), 0.1);
}

TEST(Rates, FromCyclesAndTimes) {
  EXPECT_DOUBLE_EQ(us_of_cycles(1755, 1755), 1);
  EXPECT_DOUBLE_EQ(mhz_of(175500, 100000), 1755);
  EXPECT_DOUBLE_EQ(gb_per_s(3.35e9, 1000), 3350);
  EXPECT_DOUBLE_EQ(tflops(gemm_operations(8192, 8192, 8192), 1000), 2 * 8192.0 * 8192 * 8192 / 1e9);
  EXPECT_DOUBLE_EQ(cycles_each(8192, 4, 1024), 2);
  EXPECT_DOUBLE_EQ(bytes_per_clk(12800, 100), 128);
  EXPECT_DOUBLE_EQ(slowdown(3, 2), 1.5);
}

TEST(CarveOut, CountsWhatAnSmHolds) {
  const CtaNeeds gemm{384, 168, 196608};
  EXPECT_EQ(registers_of({128, 168, 0}), 21504);
  EXPECT_EQ(registers_of({96, 33, 0}), 4 * 1280);  // three warps take the registers of four; 33 x 32 = 1056 take 1280
  EXPECT_EQ(ctas_per_sm(gemm, kHopper), 1);
  const SmLimits left = left_by(1, gemm, kHopper);
  EXPECT_EQ(left.registers, 65536 - 64512);
  EXPECT_EQ(left.shared_memory, 233472 - 197632);
  EXPECT_EQ(left.warps, 52);
  EXPECT_EQ(left.ctas, 31);
  EXPECT_EQ(ctas_per_sm({128, 32, 0}, left), 0);  // 4096 registers do not fit into 1024
  EXPECT_EQ(ctas_per_sm({128, 32, 0}, kHopper), 16);
}

TEST(CarveOut, PaddingKeepsAnSmFromHoldingMore) {
  for (const std::uint32_t count : {1U, 2U, 3U, 7U}) {
    const CtaNeeds padded{32, 16, padding_for(count, kHopper)};
    EXPECT_EQ(ctas_per_sm(padded, kHopper), count);
    EXPECT_EQ(ctas_per_sm({32, 16, padded.shared_memory + 128}, kHopper), count - 1);
  }
  EXPECT_EQ(padding_for(1, kHopper), 232448);  // the maximum of one CTA
}

}  // namespace
}  // namespace silicon
