// The scenarios of the repository, and the fields that make_kernel adds to the generators.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/source_dir.h"
#include "tests/workloads/kernels.h"
#include "traces/trace_file.h"

namespace warpfold::workloads {
namespace {

std::string scenario_path(const std::string& name) {
  return std::string(WARPFOLD_SOURCE_DIR) + "/configs/scenarios/" + name + ".textproto";
}

std::vector<traces::Kernel> kernels_of(const std::string& name, const std::vector<std::string>& settings = {}) {
  const configs::Scenario scenario = configs::load_scenario(scenario_path(name), settings).value();
  std::vector<traces::Kernel> kernels;
  for (const configs::Kernel& kernel : scenario.kernel()) {
    kernels.push_back(make_kernel(kernel, scenario.gpu(), scenario_path(name)).value());
  }
  return kernels;
}

TEST(Scenario, EveryGemmAndMaskIsMade) {
  for (const char* name : {"gemm_h100_bf16_8192", "gemm_h100_fp8_8192"}) {
    EXPECT_EQ(kernels_of(name).front().flops, 2ULL * 8192 * 8192 * 8192) << name;
  }
  EXPECT_EQ(kernels_of("gemm_a100_fp16_4096").front().flops, 2ULL * 4096 * 4096 * 4096);
  EXPECT_EQ(bytes_by_stream(kernels_of("philox_h100").front()).at("mask"), 64ULL * 8192 * 8192 / 8);
}

TEST(Scenario, QkvAndMaskFollowSequenceAndEmbedding) {
  const std::vector<traces::Kernel> kernels = kernels_of("qkv_philox_llama3_70b", {"seq=4096", "embedding=4096"});
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "qkv");
  EXPECT_EQ(kernels[0].flops, 2ULL * 4096 * 3 * 4096 * 4096);
  EXPECT_EQ(bytes_by_stream(kernels[1]).at("mask"), 32ULL * 4096 * 4096 / 8);
}

// One CTA of random numbers beside the GEMM's CTA needs 6 % of the registers and 7 % of shared memory.
TEST(Scenario, MaskFitsBesideTheGemm) {
  for (const char* name : {"qkv_philox_llama3_70b", "qkv_philox_small"}) {
    const std::vector<traces::Kernel> kernels = kernels_of(name);
    const traces::Kernel& gemm = kernels[0];
    const traces::Kernel& rng = kernels[1];
    EXPECT_EQ(gemm.registers_per_thread * 32 * gemm.warps_per_cta() + rng.registers_per_thread * 32 * rng.warps_per_cta(), 65536U);
    EXPECT_LE(gemm.shared_memory_bytes + 1024, 233472U * 93 / 100);
  }
}

TEST(MakeKernel, ReadsTracesRelativeToTheScenario) {
  const auto folder = std::filesystem::temp_directory_path() / "warpfold_make_kernel_test";
  std::filesystem::create_directories(folder);
  std::vector<traces::Kernel> kernels = kernels_of("qkv_philox_small");
  ASSERT_TRUE(traces::write_trace((folder / "pair.wft").string(), kernels));
  const std::string scenario = (folder / "scenario.textproto").string();
  configs::Kernel kernel;
  kernel.set_name("mask");
  kernel.mutable_trace()->set_path("pair.wft");
  kernel.mutable_trace()->set_kernel("rng");
  kernels[1].name = "mask";
  EXPECT_EQ(make_kernel(kernel, gpu("h100_sxm"), scenario).value(), kernels[1]);
  kernel.mutable_trace()->set_kernel("missing");
  EXPECT_EQ(make_kernel(kernel, gpu("h100_sxm"), scenario).error().message,
            "kernel mask: " + (folder / "pair.wft").string() + ": no kernel missing; the file has: qkv, rng");
  kernel.mutable_trace()->clear_kernel();
  EXPECT_EQ(make_kernel(kernel, gpu("h100_sxm"), scenario).error().message,
            "kernel mask: " + (folder / "pair.wft").string() + ": name one of the kernels; the file has: qkv, rng");
  std::filesystem::remove_all(folder);
}

TEST(MakeKernel, SaysWhichKernelIsWrong) {
  configs::Kernel kernel;
  kernel.set_name("mask");
  EXPECT_EQ(
      make_kernel(kernel, gpu("h100_sxm"), "s.textproto").error().text(),
      "s.textproto: kernel mask: no workload; expected one of philox, hopper_gemm, blackwell_gemm, ampere_gemm, flash_attention_2, "
      "flash_attention_3, flash_attention_4, elementwise, gemm_reduction, opaque, trace, listing");
}

}  // namespace
}  // namespace warpfold::workloads
