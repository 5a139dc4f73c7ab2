#include "tools/warpfold/run/tile_tuner.h"

#include <gmock/gmock.h>

#include "configs/load.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;

configs::Scenario scenario(const std::string& gemm, const std::string& workload = "hopper_gemm",
                           const std::string& gpu = "h100_sxm") {
  configs::Scenario made;
  const std::string kernels = "kernel { name: \"g\" " + workload + " { " + gemm + " } } kernel { name: \"h\" after: \"g\" }";
  EXPECT_TRUE(configs::parse_text("test", kernels, made));
  *made.mutable_gpu() = configs::load_gpu(std::string(WARPFOLD_SOURCE_DIR) + "/configs/gpus/" + gpu + ".textproto").value();
  return made;
}

TEST(TileTuner, TakesTheFastestAndSaysByHowMuchTheOthersLose) {
  configs::Scenario tuned = scenario("m: 1024 n: 4096 k: 4096 type: FP16 tile: AUTO library: \"Pallas Mosaic GPU\"");
  TileTuner tuner;
  const auto choices = tuner.tune(tuned);
  ASSERT_TRUE(choices) << choices.error().message;
  ASSERT_EQ(choices->choice_size(), 1);
  const configs::TileChoice& choice = choices->choice(0);
  EXPECT_EQ(choice.kernel(), "g");
  EXPECT_EQ(choice.rule(), "FASTEST");
  EXPECT_EQ(choice.candidates_size(), 6);
  EXPECT_EQ(choice.taken(), choice.candidates(0).kernel());
  EXPECT_EQ(tuned.kernel(0).hopper_gemm().tile(), configs::STATED);
  EXPECT_EQ(tuned.kernel(0).hopper_gemm().tile_n(), 256);
  for (const configs::TileCandidate& candidate : choice.candidates()) {
    EXPECT_GE(candidate.slower(), candidate.cycles() > 0 ? 0 : -0.01);
    if (candidate.cycles() == 0) continue;
    EXPECT_GE(static_cast<double>(candidate.cycles()), candidate.lower_bound_cycles());
  }
  // A candidate that is not simulated cannot be faster by more than the tolerance.
  const double fastest = static_cast<double>(choice.candidates(0).cycles());
  for (const configs::TileCandidate& candidate : choice.candidates()) {
    if (candidate.cycles() > 0) continue;
    EXPECT_GE(candidate.lower_bound_cycles() * 1.01, fastest);
  }
}

TEST(TileTuner, TakesAPairOfCtasOnBlackwell) {
  configs::Scenario tuned = scenario("m: 4096 n: 4096 k: 1024 type: BF16 tile: AUTO library: \"cuBLAS\"", "blackwell_gemm", "b200");
  const auto choices = TileTuner().tune(tuned);
  ASSERT_TRUE(choices) << choices.error().message;
  ASSERT_EQ(choices->choice_size(), 1);
  EXPECT_GT(choices->choice(0).candidates_size(), 1);
  EXPECT_EQ(tuned.kernel(0).name(), "g");
  EXPECT_EQ(tuned.kernel(0).blackwell_gemm().tile(), configs::STATED);
  EXPECT_EQ(tuned.kernel(0).blackwell_gemm().cta_group(), 2);
}

// 64 tiles of 128 x 128 leave two thirds of an RTX 5090's SMs idle.
TEST(TileTuner, TakesSmallTilesForSmallProductsOfMmaSync) {
  const auto taken = [](uint64_t size) {
    const std::string shape = std::to_string(size);
    configs::Scenario tuned = scenario(
        "m: " + shape + " n: " + shape + " k: " + shape + " type: FP16 tile: AUTO library: \"cuBLAS\"", "ampere_gemm", "rtx_5090");
    const auto choices = TileTuner().tune(tuned);
    EXPECT_TRUE(choices) << choices.error().message;
    EXPECT_EQ(choices->choice(0).candidates_size(), 6);
    EXPECT_EQ(tuned.kernel(0).ampere_gemm().tile(), configs::STATED);
    return tuned.kernel(0).ampere_gemm();
  };
  EXPECT_EQ(taken(1024).tile_n(), 64);
  configs::Scenario other =
      scenario("m: 1024 n: 1024 k: 1024 type: FP16 tile: AUTO library: \"TileLang\"", "ampere_gemm", "a100_sxm");
  EXPECT_THAT(TileTuner().tune(other).error().message, HasSubstr("TileLang has no kernel for 1024 x 1024 of type FP16"));
}

TEST(TileTuner, LeavesStatedTilesAlone) {
  configs::Scenario stated = scenario("m: 4096 n: 4096 k: 4096 type: FP16");
  const std::string before = stated.SerializeAsString();
  const auto choices = TileTuner().tune(stated);
  ASSERT_TRUE(choices);
  EXPECT_EQ(choices->choice_size(), 0);
  EXPECT_EQ(stated.SerializeAsString(), before);
}

TEST(TileTuner, PartsAreAddedByAKernelThatOthersWaitFor) {
  configs::Kernel kernel;
  kernel.set_name("g");
  kernel.set_stream(2);
  kernel.mutable_hopper_gemm()->set_m(16);
  kernel.mutable_hopper_gemm()->set_n(4096);
  kernel.mutable_hopper_gemm()->set_split_k(4);
  EXPECT_EQ(kernels_of_gemm(kernel).size(), 1);
  kernel.mutable_hopper_gemm()->set_reduction(configs::PARALLEL);
  const auto kernels = kernels_of_gemm(kernel);
  ASSERT_EQ(kernels.size(), 2);
  EXPECT_EQ(kernels[1].name(), "g_reduction");
  EXPECT_EQ(kernels[1].stream(), 2);
  EXPECT_EQ(kernels[1].after(0), "g");
  EXPECT_EQ(kernels[1].gemm_reduction().parts(), 4);
  EXPECT_EQ(kernels[1].gemm_reduction().output_type(), configs::BF16);
  kernel.mutable_hopper_gemm()->set_output_type(configs::FP16);
  EXPECT_EQ(kernels_of_gemm(kernel)[1].gemm_reduction().output_type(), configs::FP16);
  configs::Kernel blackwell;
  blackwell.mutable_blackwell_gemm()->set_split_k(4);
  blackwell.mutable_blackwell_gemm()->set_type(configs::BF16);
  blackwell.mutable_blackwell_gemm()->set_output_type(configs::FP32);
  EXPECT_EQ(kernels_of_gemm(blackwell)[1].gemm_reduction().output_type(), configs::FP32);
  // One row and much of k for few SMs: cuBLAS's kernel in parts is the fastest here, and "h" waits for both.
  configs::Scenario tuned = scenario("m: 1 n: 512 k: 65536 type: BF16 tile: AUTO library: \"cuBLAS\"");
  ASSERT_TRUE(TileTuner().tune(tuned));
  ASSERT_EQ(tuned.kernel_size(), 3);
  EXPECT_EQ(tuned.kernel(1).name(), "g_reduction");
  EXPECT_EQ(tuned.kernel(2).after(0), "g_reduction");
}

TEST(TileTuner, UnknownLibrariesAndShapesFailAtTheirPlace) {
  configs::Scenario none = scenario("m: 4096 n: 4096 k: 4096 type: BF16 tile: AUTO library: \"vLLM CUTLASS\"");
  const auto choices = TileTuner().tune(none);
  ASSERT_FALSE(choices);
  EXPECT_EQ(choices.error().path, "kernel[0].hopper_gemm");
  EXPECT_THAT(choices.error().message, HasSubstr("has no kernel for"));
}

}  // namespace
}  // namespace warpfold::cli
