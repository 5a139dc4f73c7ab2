// Shares of the issue slot between two CTAs of an SM whose warps are always ready.
// Source: docs/validation/h100_kit.csv, K30 to K81 (tools/silicon/issue_order.cu): rounds of 64 instructions in eight
// chains, and a read of the clock.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

struct Row {
  std::string number;
  std::string mnemonic;
  std::string sources;      // operands after the register that is both source and destination
  double second_cta;        // second CTA's share of the sub-core's instructions, beside an older CTA
  double beside_a_younger;  // the same beside a third, younger CTA in the slots of the first
};

std::ostream& operator<<(std::ostream& stream, const Row& row) { return stream << row.number << "_" << test_name(row.mnemonic); }

traces::Kernel always_ready(const Row& row, const std::string& name, uint32_t warps_per_sub_core, uint64_t rounds) {
  Lines round;
  for (int i = 0; i < 64; ++i) {
    const std::string chain = "R" + std::to_string(8 + 2 * (i % 8));
    round.push_back(op(text({row.mnemonic, " ", chain, ", ", chain, row.sources})));
  }
  const Lines look = {op("CS2R R4, SR_CLOCKLO", {.stall = 14}), op("ISETP.NE.AND P0, PT, R4, RZ, PT", {.stall = 13}),
                      op("BRA `(.L_1)", {.stall = 5})};
  return on_all_sub_cores("sm_90", 4 * warps_per_sub_core, loop(rounds, join(round, look)), name);
}

// Returns the instructions that the launch's warps issued in cycles [from, to).
double issued(const Replay& run, size_t launch, uint64_t from, uint64_t to) {
  double all = 0;
  for (const std::vector<uint64_t>& warp : run.issues.at(launch))
    all += static_cast<double>(std::ranges::count_if(warp, [&](uint64_t at) { return at >= from && at < to; }));
  return all;
}

constexpr double kOfSlots = 0.07;  // most by which simulated and measured shares may differ

class Turns : public testing::TestWithParam<Row> {};

// Each CTA has two warps on a sub-core.
TEST_P(Turns, TheOlderCtaHasTheSlotWherePipesAreHeld) {
  const Replay run =
      replay_together(one_sm("h100_sxm"), {always_ready(GetParam(), "first", 2, 400), always_ready(GetParam(), "second", 2, 400)});
  const double first = issued(run, 0, 4000, 16000);
  const double second = issued(run, 1, 4000, 16000);
  std::cout << GetParam() << ": " << second / (first + second) << ", measured " << GetParam().second_cta << "\n";
  EXPECT_NEAR(second / (first + second), GetParam().second_cta, kOfSlots);
}

TEST_P(Turns, AgeDecidesAndNotTheSlot) {
  const traces::Kernel first = always_ready(GetParam(), "first", 2, 20);
  const traces::Kernel second = always_ready(GetParam(), "second", 2, 1200);
  const traces::Kernel third = always_ready(GetParam(), "third", 2, 400);
  const Replay run = replay(one_sm("h100_sxm"), {launch(first, 0), launch(second, 1), launch(third, 0)});
  uint64_t begin = 0;  // begin of the third launch, which may not issue at once
  for (const std::vector<uint64_t>& warp : run.issues.at(0)) begin = std::max(begin, warp.back());
  ASSERT_GT(run.issues.at(1).front().back(), begin + 16000);
  const double older = issued(run, 1, begin + 4000, begin + 16000);
  const double younger = issued(run, 2, begin + 4000, begin + 16000);
  EXPECT_NEAR(older / (older + younger), GetParam().beside_a_younger, kOfSlots);
}

INSTANTIATE_TEST_SUITE_P(Kit, Turns,
                         testing::Values(Row{"K41", "LOP3.LUT", ", R2, RZ, 0x3c, !PT", 0.001, 0.999},
                                         Row{"K67", "IMAD", ", R2, R3", 0.035, 0.966}, Row{"K80", "MUFU.EX2", "", 0.001, 0.999},
                                         Row{"K54", "FFMA", ", R2.reuse, R3.reuse", 0.473, 0.527}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace warpfold::test
