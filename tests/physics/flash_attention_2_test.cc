// The cost of dropout in FlashAttention-2. Published throughputs are rows of tests/validation/data.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/physics/support.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

const std::string kAttention = "kernel.attention.flash_attention_2.";

// The cost of dropout, forward, 64 heads of 8192 x 128, compared with the paper (Ma, Liu, Krashinsky, arXiv 2410.07531). The
// paper's attention is another kernel: FP8, tiles of 64 x 128, H100.
class DropoutInAttention : public testing::TestWithParam<std::string> {
 protected:
  static configs::Result simulate_with(const std::string& gpu, const std::string& dropout) {
    return simulate(WARPFOLD_PHYSICS_DATA "flash_attention_2.textproto",
                    {"gpu_file=../../../configs/gpus/" + gpu + ".textproto", kAttention + "shape.heads=64",
                     kAttention + "shape.queries=8192", kAttention + "shape.dropout=" + dropout, kAttention + "pass=FORWARD"});
  }
  static double cycles(const configs::Result& result) { return static_cast<double>(result.kernels(0).cycles()); }
};

TEST_P(DropoutInAttention, DroppingStoredBitsCosts12PercentWithin6Points) {
  const double cost = cycles(simulate_with(GetParam(), "STORED_BITS")) / cycles(simulate_with(GetParam(), "NONE")) - 1;
  std::cout << GetParam() << ": dropping elements costs attention " << 100 * cost << " %, published 12 %\n";
  EXPECT_THAT(cost, AllOf(Ge(0.06), Le(0.18)));
}

// Known gap (docs/validation/flash_attention_2.md): published is about 2, 1.7 to 2.3 required. One Philox call makes 16 elements
// here (8-bit thresholds, as FlashAttention-2 has it), and compiled code hides it beside the exponentials.
TEST_P(DropoutInAttention, KnownGapFusedPhiloxCostsAFifthInsteadOfDoubling) {
  const double ratio = cycles(simulate_with(GetParam(), "FUSED_PHILOX")) / cycles(simulate_with(GetParam(), "NONE"));
  std::cout << GetParam() << ": attention with fused Philox-7 takes " << ratio << " times as long, published about 2\n";
  EXPECT_THAT(ratio, AllOf(Ge(1.1), Le(1.3)));
}

// Known gap: the paper's limiters are register-file reads and issue. Here the tensor pipe or shared memory is busiest, issue and
// register reads behind; the paper's attention multiplies in FP8 with wgmma at four times the rate of mma.sync in 16 bits.
TEST_P(DropoutInAttention, KnownGapMatrixProductsLimitBeforeIssueAndRegisterReads) {
  const configs::Result result = simulate_with(GetParam(), "NONE");
  for (const std::string name : {"tensor", "shared_memory", "register_read_ports", "issue_slot", "xu"}) {
    std::cout << GetParam() << ": " << name << " " << 100 * resource(result, name).utilization() << " %\n";
  }
  EXPECT_THAT(busiest(result).name(), testing::AnyOf("tensor", "shared_memory"));
  EXPECT_GT(resource(result, "register_read_ports").utilization(), resource(result, "issue_slot").utilization());
  EXPECT_GT(resource(result, "issue_slot").utilization(), resource(result, "xu").utilization());
}

INSTANTIATE_TEST_SUITE_P(Gpus, DropoutInAttention, testing::Values("a100_sxm", "h100_sxm"),
                         [](const auto& gpu) { return gpu.param; });

}  // namespace
}  // namespace warpfold::test
