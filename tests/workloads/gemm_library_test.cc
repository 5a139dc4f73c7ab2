#include "configs/gemm_library.h"

#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"
#include "workloads/hopper_gemm/candidates.h"
#include "workloads/hopper_gemm/plan.h"

namespace warpfold::workloads {
namespace {

configs::HopperGemm automatic(uint64_t m, uint64_t n, uint64_t k, configs::ElementType type) {
  configs::HopperGemm gemm;
  gemm.set_m(m);
  gemm.set_n(n);
  gemm.set_k(k);
  gemm.set_type(type);
  gemm.set_tile(configs::AUTO);
  return gemm;
}

std::vector<configs::HopperGemm> candidates(const configs::HopperGemm& gemm, const std::string& library) {
  auto made = gemm_candidates(gemm, *configs::find_gemm_library(library), gpu("h800_sxm"));
  if (!made) throw std::logic_error(made.error().message);
  return *made;
}

TEST(GemmLibraries, AreNamedByWhoMadeARow) {
  const auto name = [](const std::string& implementation) {
    const configs::GemmLibrary* library = configs::gemm_library_of(implementation, "sm_90");
    return library == nullptr ? "none" : library->name();
  };
  EXPECT_EQ(name("DeepGEMM README 2025-02-25 initial (NVCC 12.8)"), "DeepGEMM 2025-02");
  EXPECT_EQ(name("DeepGEMM README 2025-03-25 update (NVCC 12.8)"), "DeepGEMM 2025-03");
  EXPECT_EQ(name("DeepGEMM"), "DeepGEMM 2025-03");
  EXPECT_EQ(name("cuBLAS via torch2.7 cu126"), "cuBLAS");
  EXPECT_EQ(name("torch.mm"), "cuBLAS");
  EXPECT_EQ(name("CUTLASS"), "CUTLASS");
  EXPECT_EQ(name("vLLM CUTLASS fp8 noquant"), "vLLM CUTLASS");
  EXPECT_EQ(name("vLLM fp8 block noquant"), "vLLM block FP8");
  EXPECT_EQ(name("TileLang autotuned (driver 560.35.05)"), "TileLang");
  EXPECT_EQ(name("my kernel"), "none");
}

// The kernels that DeepGEMM's get_best_configs gives at the commits of its READMEs, by hand from its source.
TEST(GemmLibraries, DeepGemmsRuleTakesWhatItsSourceTakes) {
  struct Known {
    const char* library;
    uint64_t m, n, k, groups;
    uint32_t tile_m, tile_n, stages, cluster_m, cluster_n;
  };
  const Known all[] = {
      {"DeepGEMM 2025-02", 64, 24576, 1536, 0, 64, 96, 6, 1, 1},     {"DeepGEMM 2025-02", 64, 32768, 512, 0, 64, 128, 8, 1, 1},
      {"DeepGEMM 2025-02", 64, 7168, 2048, 0, 64, 56, 6, 1, 1},      {"DeepGEMM 2025-02", 128, 2112, 7168, 0, 128, 16, 8, 1, 1},
      {"DeepGEMM 2025-02", 128, 7168, 16384, 0, 128, 56, 6, 1, 1},   {"DeepGEMM 2025-02", 4096, 2112, 7168, 0, 128, 112, 6, 1, 1},
      {"DeepGEMM 2025-02", 4096, 24576, 1536, 0, 128, 128, 5, 1, 2}, {"DeepGEMM 2025-02", 4096, 7168, 16384, 0, 128, 128, 5, 1, 2},
      {"DeepGEMM 2025-02", 8192, 4096, 7168, 4, 128, 128, 5, 1, 2},  {"DeepGEMM 2025-02", 1024, 7168, 2048, 0, 128, 112, 6, 1, 2},
      {"DeepGEMM 2025-03", 4096, 2112, 7168, 0, 128, 144, 5, 2, 1},  {"DeepGEMM 2025-03", 4096, 24576, 1536, 0, 128, 160, 4, 2, 1},
      {"DeepGEMM 2025-03", 4096, 4096, 7168, 0, 128, 160, 4, 2, 1},  {"DeepGEMM 2025-03", 8192, 7168, 2048, 4, 128, 160, 4, 2, 1},
  };
  for (const Known& known : all) {
    configs::HopperGemm gemm = automatic(known.m, known.n, known.k, configs::FP8);
    if (known.groups > 0) {
      gemm.mutable_grouped()->set_groups(known.groups);
      gemm.mutable_grouped()->set_layout(configs::CONTIGUOUS);
    }
    SCOPED_TRACE(std::string(known.library) + " " + gemm.ShortDebugString());
    const auto taken = candidates(gemm, known.library);
    ASSERT_EQ(taken.size(), 1);
    EXPECT_EQ(taken[0].tile_m(), known.tile_m);
    EXPECT_EQ(taken[0].tile_n(), known.tile_n);
    EXPECT_EQ(taken[0].stages(), known.stages);
    EXPECT_EQ(taken[0].cluster_m(), known.cluster_m);
    EXPECT_EQ(taken[0].cluster_n(), known.cluster_n);
  }
}

// Masked groups count for waves and take no multicast; March's kernels may leave SMs idle.
TEST(GemmLibraries, GroupsChangeDeepGemmsChoice) {
  configs::HopperGemm gemm = automatic(1024, 4096, 7168, configs::FP8);
  EXPECT_EQ(candidates(gemm, "DeepGEMM 2025-02")[0].cluster_n(), 2);
  gemm.mutable_grouped()->set_groups(4);
  gemm.mutable_grouped()->set_layout(configs::MASKED);
  EXPECT_EQ(candidates(gemm, "DeepGEMM 2025-02")[0].cluster_n(), 1);
  // 32 x 26 tiles of 160 columns: 7 waves need 119 CTAs; 124 are the fewest allowed.
  EXPECT_EQ(candidates(automatic(4096, 4096, 7168, configs::FP8), "DeepGEMM 2025-03")[0].grid_ctas(), 124);
}

TEST(GemmLibraries, EveryKernelOnOfferCanBeMadeAndKeepsWhatTheScenarioStates) {
  size_t kernels = 0;
  for (const configs::GemmLibrary& library : configs::gemm_libraries()) {
    for (const uint64_t m : {1, 16, 64, 128, 192, 256, 4096}) {
      for (const configs::ElementType type : {configs::BF16, configs::FP8}) {
        configs::HopperGemm gemm = automatic(m, 4096, 2048, type);
        const auto offered = gemm_candidates(gemm, library, gpu("h100_sxm"));
        if (!offered) continue;
        gemm.mutable_fused()->set_row_scales(true);
        const auto fused = gemm_candidates(gemm, library, gpu("h100_sxm"));
        for (const configs::HopperGemm& each : *offered) EXPECT_TRUE(plan_hopper_gemm(each, gpu("h100_sxm"))) << each.DebugString();
        for (const configs::HopperGemm& each : *fused) EXPECT_TRUE(each.fused().row_scales());
        kernels += offered->size();
      }
    }
  }
  EXPECT_GT(kernels, 400);
}

// Two widths of a tile in three clusters; a stated width leaves the clusters.
TEST(GemmLibraries, WhatIsStatedIsOneCandidate) {
  configs::HopperGemm gemm = automatic(4096, 4096, 4096, configs::BF16);
  gemm.set_stages(2);
  EXPECT_EQ(candidates(gemm, "ThunderKittens").size(), 1);
  EXPECT_EQ(candidates(gemm, "Pallas Mosaic GPU").size(), 6);
  gemm.set_tile_n(128);
  EXPECT_EQ(candidates(gemm, "Pallas Mosaic GPU").size(), 3);
}

TEST(GemmLibraries, WhatNoKernelIsForFails) {
  const auto none =
      gemm_candidates(automatic(4096, 4096, 4096, configs::BF16), *configs::find_gemm_library("vLLM CUTLASS"), gpu("h100_sxm"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "hopper_gemm: vLLM CUTLASS has no kernel for 4096 x 4096 of type BF16 that this GPU can run; state tile_m and tile_n, "
            "or another library");
}

}  // namespace
}  // namespace warpfold::workloads
