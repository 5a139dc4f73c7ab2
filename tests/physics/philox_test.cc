// Philox alone on an H100: bound by the port or the issue slot that its compiled loop uses most.
// Sources: data/philox_sass_counts.csv (disassembly); Ma, Liu and Krashinsky, arXiv 2410.07531 (silicon: Philox-5 and Philox-3
// take 81 % and 67 % of the time of Philox-7, sequence 16K; the threshold width is not stated).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "tests/physics/support.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

// data/philox.textproto: 64 CTAs an SM, each with one warp on every sub-core, 128 calls a thread.
constexpr double kCallsOfSubCore = 64 * 128;

struct Measured {
  double cycles_per_call;  // of a warp, on its sub-core
  std::string bound;
};

Measured measure(uint64_t bits, uint64_t rounds) {
  const uint64_t keys = 128 * 4 * 32 / bits;
  const configs::Result result =
      simulate(WARPFOLD_PHYSICS_DATA "philox.textproto",
               {"kernel.rng.philox.threshold_bits=" + std::to_string(bits), "kernel.rng.philox.rounds=" + std::to_string(rounds),
                "kernel.rng.philox.keys=" + std::to_string(keys)});
  return {static_cast<double>(result.total_cycles()) / kCallsOfSubCore, busiest(result).name()};
}

class PhiloxAlone : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const Row& row : read_rows("philox_sass_counts.csv")) {
      const uint64_t bits = row.count("threshold_bits");
      const uint64_t rounds = row.count("rounds");
      measured[bits][rounds] = measure(bits, rounds);
    }
  }

  static inline std::map<uint64_t, std::map<uint64_t, Measured>> measured;  // [threshold_bits][rounds]
};

TEST_F(PhiloxAlone, TakesWhatItsBusiestPortTakes) {
  std::cout << "| bits | rounds | counted: issue | ALU | FMA | simulated | over the bound | bound |\n";
  for (const Row& row : read_rows("philox_sass_counts.csv")) {
    std::string name;
    double counted = 0;
    for (const auto& [column, resource] : {std::pair("issue", "issue_slot"), {"alu", "alu"}, {"fma_heavy", "fma_heavy"}}) {
      if (row.number(column) <= counted) continue;
      counted = row.number(column);
      name = resource;
    }
    const Measured& is = measured[row.count("threshold_bits")][row.count("rounds")];
    std::cout << "| " << row.text("threshold_bits") << " | " << row.text("rounds") << " | " << row.text("issue") << " | "
              << row.text("alu") << " | " << row.text("fma_heavy") << " | " << is.cycles_per_call << " | "
              << 100 * (is.cycles_per_call / counted - 1) << " % | " << is.bound << " |\n";
    EXPECT_THAT(is.cycles_per_call, AllOf(Ge(counted), Le(1.03 * counted))) << row.text("threshold_bits") << " bits";
    EXPECT_EQ(is.bound, name) << row.text("threshold_bits") << " bits, " << row.text("rounds") << " rounds";
  }
}

TEST_F(PhiloxAlone, ThresholdWidthsBracketTheRatiosOfSilicon) {
  for (const auto& [rounds, silicon] : {std::pair<uint64_t, double>(5, 0.81), {3, 0.67}}) {
    std::vector<double> ratios;
    for (const auto& [bits, by_rounds] : measured) {
      ratios.push_back(by_rounds.at(rounds).cycles_per_call / by_rounds.at(7).cycles_per_call);
      std::cout << "| " << rounds << " rounds over 7 | " << bits << " bits | " << ratios.back() << " | silicon " << silicon
                << " |\n";
    }
    EXPECT_LE(*std::min_element(ratios.begin(), ratios.end()), silicon);
    EXPECT_GE(*std::max_element(ratios.begin(), ratios.end()), silicon);
  }
}

}  // namespace
}  // namespace warpfold::test
