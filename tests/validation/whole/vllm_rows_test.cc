// Kernels between a decoder layer's products as profiles of vLLM and Sarathi have them, and attention as LLMServingSim timed it:
// `warpfold validate tests/validation/operators/vllm.csv tests/validation/other/varlen_attention.csv`
// (docs/validation/operators.md, docs/validation/decode.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tests/validation/whole/validated.h"

namespace warpfold::cli {
namespace {

class VllmRows : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const configs::Validation made =
        validated({"tests/validation/operators/vllm.csv", "tests/validation/other/varlen_attention.csv"});
    for (const configs::ValidatedRow& row : made.rows()) rows.emplace(row.id(), row);
  }

  // Simulated over measured time, less 1, in percent.
  static double error(const std::string& id) { return 100 * (rows.at(id).simulated() / rows.at(id).measured() - 1); }

  // The mean of the absolute errors of rows whose kernel is called so and that take so long, in percent.
  static double mean(const std::string& kernel, double least_us) {
    double sum = 0;
    int count = 0;
    for (const auto& [id, row] : rows) {
      if (!row.kernel().starts_with(kernel) || row.measured() < least_us) continue;
      sum += std::abs(error(id));
      ++count;
    }
    return count == 0 ? 1000 : sum / count;
  }

  static inline std::map<std::string, configs::ValidatedRow> rows;
};

TEST_F(VllmRows, AllHaveASimulation) { EXPECT_EQ(rows.size(), 303U); }

// Errors of single rows in percent, each within a point of the last recorded error.
TEST_F(VllmRows, AreAsNearAsTheyWere) {
  const std::map<std::string, double> were{
      {"TW00073", 2.8},   // residual and RMSNorm, 32,768 tokens on an H100
      {"TW00033", -6.5},  // 1,024 tokens
      {"VD00406", -4.3},  // Sarathi's RMSNorm, 1,024 tokens on an A100
      {"VD02871", 2.7},   // addition, an argument in L2
      {"LS50156", 11.0},  // residual and RMSNorm on an RTX PRO 6000, x in L2
      {"LS50012", 10.1},  // SiLU and product, x in part in L2
      {"LS51030", -4.1},  // attention: 16 CTAs of 64 blocks of keys
      {"LS51136", -3.6},
  };
  for (const auto& [id, was] : were) EXPECT_NEAR(error(id), was, 1) << id;
}

TEST_F(VllmRows, WithoutAFitAreWithin) {
  EXPECT_LT(mean("RMSNorm over", 8), 8);                // 7.0
  EXPECT_LT(mean("RMSNorm / LayerNorm", 8), 15);        // 13.5
  EXPECT_LT(mean("residual add", 8), 9);                // 8.1
  EXPECT_LT(mean("flash_attention_2, varlen", 8), 12);  // 10.7
}

}  // namespace
}  // namespace warpfold::cli
