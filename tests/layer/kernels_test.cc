// Which workload runs an operator.

#include "workloads/layer/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "configs/load.h"
#include "configs/operator_kernels.h"
#include "tests/layer/support.h"
#include "tests/source_dir.h"

namespace warpfold::layer {
namespace {

using testing::HasSubstr;

configs::Gpu gpu(const std::string& name) {
  return configs::load_gpu(std::string(WARPFOLD_SOURCE_DIR "/configs/gpus/") + name + ".textproto").value();
}

LayerWorkload workload(const configs::TransformerModel& model, const std::string& gpu_name, const std::string& kernel_name,
                       Epilogue epilogue = Epilogue::kScale) {
  const configs::OperatorKernels table =
      configs::load_operator_kernels(WARPFOLD_SOURCE_DIR "/configs/kernels/operators.textproto").value();
  const configs::Gpu of = gpu(gpu_name);
  const Graph graph = build_layer(model, {});
  for (const FusedKernel& each : fuse(graph, epilogue)) {
    if (each.name == kernel_name) return workload_of(graph, each, {.gpu = of, .type = configs::BF16, .listings = table}).value();
  }
  throw std::runtime_error("no kernel called " + kernel_name);
}

int64_t parameter_of(const configs::KernelLaunch& launch, const std::string& name) {
  for (const configs::KernelParameter& each : launch.parameter()) {
    if (each.name() == name) return each.value();
  }
  throw std::runtime_error("no parameter called " + name);
}

TEST(LayerKernels, ProductsGoToTheGenerationsGenerator) {
  const configs::HopperGemm hopper = workload(llama(), "h100_sxm", "linear 2").kernels.front().hopper_gemm();
  EXPECT_EQ(hopper.m(), 512U);
  EXPECT_EQ(hopper.n(), 512U);
  EXPECT_EQ(hopper.k(), 1024U);
  EXPECT_EQ(hopper.tile(), configs::AUTO);
  EXPECT_TRUE(workload(llama(), "a100_sxm", "linear 2").kernels.front().has_ampere_gemm());
  EXPECT_TRUE(workload(llama(), "b200", "linear 2").kernels.front().has_blackwell_gemm());
}

// Listings for every tile of cuBLAS, which work on whole tiles: 512 x 512 x 1024.
TEST(LayerKernels, ProductsOfAV100AreCandidates) {
  const LayerWorkload products = workload(llama(), "v100_16gb", "linear 2");
  ASSERT_EQ(products.kernels.size(), 1U) << products.reason_not_simulated;
  EXPECT_EQ(products.kernels.front().listing().description().function(), "volta_gemm_128x128");
  ASSERT_EQ(products.candidates.size(), 4U);
  const configs::KernelLaunch& launch = products.candidates.front().listing().description();
  EXPECT_EQ(launch.function(), "volta_gemm_256x128");
  EXPECT_EQ(parameter_of(launch, "rows"), 512);
  EXPECT_EQ(parameter_of(launch, "columns"), 512);
  EXPECT_EQ(parameter_of(launch, "depth"), 1024);
}

// A factor behind a product is a parameter of it; a batch is the grid's third dimension.
TEST(LayerKernels, AV100HasBatchesOfProducts) {
  configs::TransformerModel model = gpt();
  model.set_attention(configs::MATERIALISED);
  const LayerWorkload scores = workload(model, "v100_16gb", "QK^T + scale Q");
  ASSERT_EQ(scores.kernels.size(), 1U) << scores.reason_not_simulated;
  const configs::KernelLaunch& launch = scores.kernels.front().listing().description();
  EXPECT_EQ(parameter_of(launch, "batch"), static_cast<int64_t>(model.batch() * model.heads()));
}

// The listings of arXiv 2007.00072 are compiled for BERT-large, batch 8 of 512 tokens: rows of 512 scores.
TEST(LayerKernels, ARowMayBeForSomeSizesAlone) {
  configs::TransformerModel model = gpt();
  model.set_attention(configs::MATERIALISED);
  model.set_causal(false);
  EXPECT_EQ(workload(model, "v100_16gb", "SM").reason_not_simulated, "no kernel for the operators as one");
  model.set_sequence(512);
  EXPECT_EQ(workload(model, "v100_16gb", "SM").kernels.front().listing().description().function(), "sm");
}

// A layer normalisation's gradient in an eager framework is three launches, each with the operator's sizes.
TEST(LayerKernels, ARowMayBeSeveralLaunches) {
  const configs::OperatorKernels table =
      configs::load_operator_kernels(WARPFOLD_SOURCE_DIR "/configs/kernels/eager_v100.textproto").value();
  const configs::Gpu v100 = gpu("v100_16gb");
  const Graph graph = build_layer(gpt(), {});
  for (const FusedKernel& each : unfused(graph)) {
    if (graph.operators[static_cast<size_t>(each.operators.front())].work != Work::kLayerNormGradient) continue;
    const LayerWorkload made = workload_of(graph, each, {.gpu = v100, .type = configs::FP16, .listings = table}).value();
    ASSERT_EQ(made.kernels.size(), 3U) << made.reason_not_simulated;
    EXPECT_EQ(made.kernels[1].listing().description().function(), "eager_gradient_factors");
    const configs::KernelLaunch& last = made.kernels[2].listing().description();
    EXPECT_EQ(parameter_of(last, "rows"), static_cast<int64_t>(gpt().batch() * gpt().sequence()));
    EXPECT_EQ(parameter_of(last, "columns"), static_cast<int64_t>(gpt().hidden()));
    return;
  }
  FAIL() << "no gradient of a layer normalisation";
}

TEST(LayerKernels, EpiloguesAreFusedWhereTheGeneratorHasThem) {
  const LayerWorkload fused = workload(gpt(), "h100_sxm", "linear 1 + bias 1", Epilogue::kOne);
  EXPECT_TRUE(fused.kernels.front().hopper_gemm().fused().bias());
  EXPECT_THAT(workload(gpt(), "a100_sxm", "linear 1 + bias 1", Epilogue::kOne).reason_not_simulated, HasSubstr("bias behind it"));
}

TEST(LayerKernels, AttentionsBackwardPassIsThreeKernels) {
  const LayerWorkload backward = workload(llama(), "h100_sxm", "attention dX");
  ASSERT_EQ(backward.kernels.size(), 3U);
  EXPECT_EQ(backward.kernels[1].flash_attention_3().pass(), configs::BACKWARD);
  EXPECT_EQ(backward.kernels[1].flash_attention_3().shape().kv_heads(), 2U);
  EXPECT_TRUE(backward.kernels[1].flash_attention_3().shape().causal());
  const LayerWorkload blackwell = workload(llama(), "b200", "attention dX");
  ASSERT_EQ(blackwell.kernels.size(), 3U);
  EXPECT_EQ(blackwell.kernels[1].flash_attention_4().pass(), configs::BACKWARD);
}

TEST(LayerKernels, SayWhyNoneRunsAnOperator) {
  EXPECT_EQ(workload(adaptive(), "h100_sxm", "LNA").reason_not_simulated, "no kernel for the operators as one");
}

// For every GPU: the table's launch says how rows of so many columns are dealt to threads.
TEST(LayerKernels, NormsAreCompiledKernels) {
  const LayerWorkload norm = workload(llama(), "h100_sxm", "RN");
  ASSERT_EQ(norm.kernels.size(), 1U) << norm.reason_not_simulated;
  const auto& listing = norm.kernels.front().listing();
  EXPECT_TRUE(listing.path().ends_with("operators/norm_sm_80.sass"));
  EXPECT_EQ(listing.description().runs_on(), "sm_90");
  EXPECT_TRUE(std::ranges::any_of(listing.description().parameter(), [](const auto& each) {
    return each.name() == "columns" && each.value() == static_cast<int64_t>(llama().hidden());
  }));
}

// Training keeps SiLU's result: of two kernels the one that stores it.
TEST(LayerKernels, AFusedKernelStoresAllThatTheBackwardPassReads) {
  const auto function_of = [](bool backward) {
    const configs::OperatorKernels table =
        configs::load_operator_kernels(WARPFOLD_SOURCE_DIR "/configs/kernels/operators.textproto").value();
    const configs::Gpu h100 = gpu("h100_sxm");
    const Graph graph = build_layer(llama(), {.backward = backward});
    for (const FusedKernel& each : fuse(graph, Epilogue::kScale)) {
      if (each.name != "SIM") continue;
      const LayerWorkload made = workload_of(graph, each, {.gpu = h100, .type = configs::BF16, .listings = table}).value();
      return made.kernels.front().listing().description().function();
    }
    return std::string("no kernel");
  };
  EXPECT_EQ(function_of(false), "swiglu_bf16");
  EXPECT_EQ(function_of(true), "swiglu_stored_bf16");
}

// The biases of Q, K and V in one launch, by the kernels of all three.
TEST(LayerKernels, SiblingsRunOneBehindTheOther) {
  configs::TransformerModel model = gpt();
  model.set_dropout(false);
  const configs::Gpu h100 = gpu("h100_sxm");
  const Graph graph = build_layer(model, {.backward = false, .stacked = false});
  for (const FusedKernel& each : fuse(graph, Epilogue::kScale)) {
    if (each.name != "AIB") continue;
    EXPECT_EQ(workload_of(graph, each, {.gpu = h100, .type = configs::BF16, .listings = {}}).value().kernels.size(), 3U);
    return;
  }
  FAIL() << "the biases of Q, K and V are not fused";
}

// From the table: 4 elements a thread, 1024 a CTA.
TEST(LayerKernels, ListingsRunOperatorsOfTheirArchitecture) {
  configs::TransformerModel model = llama();
  model.set_optimiser(configs::SGD);
  const LayerWorkload step = workload(model, "a100_sxm", "sgd");
  const configs::KernelLaunch& launch = step.kernels.front().listing().description();
  EXPECT_EQ(launch.function(), "scale_add");
  const Graph graph = build_layer(model, {});
  const uint64_t weights = volume(graph.operators.back().independent);
  EXPECT_EQ(launch.grid().x(), (weights + 1023) / 1024);
  EXPECT_EQ(launch.array(0).bytes(), 4 * weights);
  EXPECT_EQ(workload(model, "h100_sxm", "sgd").kernels.front().elementwise().operation(), configs::TRIAD);
}

}  // namespace
}  // namespace warpfold::layer
