// Published board power and clocks against gpu.clock: POWER, as `warpfold validate tests/validation/power/power.csv` does it. Rows
// that a constant of configs/gpus is fitted to are not judged (docs/validation/power.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/validation/whole/validated.h"

namespace warpfold::cli {
namespace {

class PowerRows : public testing::Test {
 protected:
  static void SetUpTestSuite() { validation = validated({"tests/validation/power/power.csv"}); }

  // Mean size of the errors of judged rows.
  static double mean(const std::string& family, const std::string& gpu = "") {
    double sum = 0;
    int count = 0;
    for (const configs::ValidatedRow& row : validation.rows()) {
      if (!row.judged() || row.family() != family || (!gpu.empty() && row.gpu() != gpu)) continue;
      sum += std::abs(row.error());
      ++count;
    }
    if (count == 0) throw std::logic_error("no row of " + family + " " + gpu);
    return sum / count;
  }

  static inline configs::Validation validation;
};

TEST_F(PowerRows, AllHaveASimulation) {
  EXPECT_EQ(validation.unmapped_size(), 0);
  EXPECT_GE(validation.rows_size(), 70);
}

TEST_F(PowerRows, ThatNothingIsFittedToHaveClocksWithinSixPercentInTheMean) {
  EXPECT_LE(mean("sustained clock"), 0.06);
  EXPECT_LE(mean("sustained clock", "A100 SXM4 40GB"), 0.06);
  EXPECT_LE(mean("sustained clock", "H100 SXM5 80GB"), 0.06);
}

TEST_F(PowerRows, ThatNothingIsFittedToHaveWattsWithinTwelvePercentInTheMean) {
  for (const char* gpu : {"", "A100 SXM4 40GB", "H100 SXM5 80GB", "B200 180GB"}) EXPECT_LE(mean("board power", gpu), 0.12) << gpu;
}

// Rows to which the energies of the tensor cores were fitted.
TEST_F(PowerRows, OfTheFitsAreMet) {
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (row.id() != "X0656" && row.id() != "X0642") continue;
    EXPECT_NEAR(row.error(), 0, 0.03) << row.id();
  }
}

}  // namespace
}  // namespace warpfold::cli
