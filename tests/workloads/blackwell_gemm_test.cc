#include <gtest/gtest.h>

#include "configs/gemm_library.h"
#include "tests/workloads/kernels.h"
#include "workloads/blackwell_gemm/blackwell_gemm.h"
#include "workloads/blackwell_gemm/candidates.h"
#include "workloads/blackwell_gemm/plan.h"

namespace warpfold::workloads {
namespace {

configs::BlackwellGemm gemm(uint64_t m, uint64_t n, uint64_t k, configs::ElementType type = configs::BF16) {
  configs::BlackwellGemm shape;
  shape.set_m(m);
  shape.set_n(n);
  shape.set_k(k);
  shape.set_type(type);
  return shape;
}

traces::Kernel make(const configs::BlackwellGemm& shape) { return make_blackwell_gemm(shape, gpu("b200")).value(); }
std::string error_of(const configs::BlackwellGemm& shape) { return make_blackwell_gemm(shape, gpu("b200")).error().message; }

// Two bulk loads and four products of 32 bytes of k in a k-block of 64; each CTA of a pair loads half of B.
TEST(BlackwellGemm, MovesAndComputesWhatTheShapeSays) {
  const uint64_t m = 4096, n = 8192, k = 1024;
  for (const uint32_t group : {1U, 2U}) {
    configs::BlackwellGemm shape = gemm(m, n, k);
    shape.set_cta_group(group);
    const traces::Kernel kernel = make(shape);
    const auto bytes = bytes_by_stream(kernel);
    EXPECT_EQ(bytes.at("A"), m * k * 2 * (n / 256));
    EXPECT_EQ(bytes.at("B"), n * k * 2 * (m / 128) / group);
    EXPECT_EQ(bytes.at("C"), m * n * 2);
    EXPECT_EQ(issued(kernel, "UTCHMMA"), (m / 128) * (n / 256) * (k / 16));
    EXPECT_EQ(kernel.flops, 2 * m * n * k);
    EXPECT_EQ(kernel.tensor_memory_columns, 512U);
  }
}

// Every warp meets the others once, after one warp has initialised two barriers of each stage and each accumulator.
TEST(BlackwellGemm, WarpsMeetBeforeTheirRolesPart) {
  for (const uint32_t group : {1U, 2U}) {
    configs::BlackwellGemm shape = gemm(1024, 1024, 256);
    shape.set_tile_n(128);
    shape.set_stages(4);
    shape.set_cta_group(group);
    const traces::Kernel kernel = make(shape);
    const uint64_t ctas = kernel.ctas();
    EXPECT_EQ(issued(kernel, "UCGABAR_ARV"), group == 2 ? 8 * ctas : 0);
    EXPECT_EQ(issued(kernel, "UCGABAR_WAIT"), group == 2 ? 8 * ctas : 0);
    EXPECT_EQ(issued(kernel, "SYNCS.EXCH"), 2 * (4 + 2) * ctas);
  }
}

// 32 bytes of k are 32 elements of 8 bits and 64 of 4.
TEST(BlackwellGemm, NarrowTypesHaveFewerProducts) {
  EXPECT_EQ(issued(make(gemm(2048, 2048, 2048, configs::FP8)), "UTCQMMA"), 16U * 8 * 2048 / 32);
  configs::BlackwellGemm fp4 = gemm(2048, 2048, 2048, configs::FP4);
  fp4.set_tile_n(128);
  EXPECT_EQ(issued(make(fp4), "UTCOMMA"), 16U * 16 * 2048 / 64);
}

// One copy for A's scales and one for B's, though a short block fills none of them.
TEST(BlackwellGemm, CopiesScalesOfBothOperandsInEveryBlock) {
  for (const uint32_t tile_k : {32U, 64U, 96U, 128U}) {
    configs::BlackwellGemm shape = gemm(2048, 2048, 768, configs::FP8);
    shape.set_scales(configs::MX);
    shape.set_tile_n(128);
    shape.set_tile_k(tile_k);
    EXPECT_EQ(issued(make(shape), "UTCCP"), 16U * 16 * (768 / tile_k) * 2) << tile_k;
  }
}

TEST(BlackwellGemm, SaysWhatDoesNotFit) {
  configs::BlackwellGemm automatic = gemm(4096, 4096, 4096);
  automatic.set_tile(configs::AUTO);
  EXPECT_EQ(error_of(automatic), "blackwell_gemm: tile AUTO has to be taken from a library first");
  configs::BlackwellGemm shape = gemm(4096, 4096, 4096);
  shape.set_tile_n(40);
  EXPECT_EQ(error_of(shape), "blackwell_gemm: tile_n 40 must be a multiple of 16 up to 256, the widest tcgen05.mma");
  shape.set_tile_n(256);
  shape.set_stages(7);
  EXPECT_EQ(error_of(shape),
            "blackwell_gemm: 7 stages of 32768 bytes and 33792 bytes for epilogue and barriers exceed the 232448 bytes of shared "
            "memory a CTA may have");
  EXPECT_EQ(make_blackwell_gemm(gemm(128, 128, 128), gpu("h100_sxm")).error().message,
            "blackwell_gemm: needs a GPU with tcgen05 (sm_100, sm_103), this one is sm_90");
}

// Four CTAs lie in one GPC: 18 SMs hold four such clusters, 20 hold five, and pairs lose none.
TEST(BlackwellGemm, ClustersLieInOneGpc) {
  const auto running = [](uint32_t cluster_m, uint32_t cluster_n) {
    configs::BlackwellGemm shape = gemm(16384, 16384, 1024);
    shape.set_cluster_m(cluster_m);
    shape.set_cluster_n(cluster_n);
    return plan_blackwell_gemm(shape, gpu("b200")).value().concurrent_ctas;
  };
  EXPECT_EQ(running(2, 1), 148U);
  EXPECT_EQ(running(4, 1), 136U);
  EXPECT_EQ(running(4, 4), 128U);
}

// DeepGEMM's choice by hand from its source (csrc/jit_kernels/heuristics/sm100.hpp).
TEST(BlackwellGemm, DeepGemmTakesItsOwnTile) {
  struct Known {
    uint64_t m, n;
    bool swapped;
    uint32_t tile_n, pair;
  };
  const Known all[] = {
      {4096, 4096, true, 240, 2},  // 4 waves of 18 x 32 tiles, 132 of them in the last; 16 x 32 leave 68
      {64, 4096, true, 16, 2},     // a single wave of 4 x 32
      {128, 7168, true, 64, 2},    // of 2 x 56: so have 80 to 112 columns
      {4096, 128, false, 32, 2},   // of 32 x 4; operands that are swapped leave 1 x 32 rows of tiles, of which no two make a pair
  };
  for (const Known& known : all) {
    SCOPED_TRACE(std::to_string(known.m) + " x " + std::to_string(known.n));
    const auto taken =
        blackwell_candidates(gemm(known.m, known.n, 7168), *configs::find_gemm_library("DeepGEMM 2026"), gpu("b200"));
    ASSERT_TRUE(taken);
    ASSERT_EQ(taken->size(), 1U);
    EXPECT_EQ(taken->front().swap_operands(), known.swapped);
    EXPECT_EQ(taken->front().tile_n(), known.tile_n);
    EXPECT_EQ(taken->front().cta_group(), known.pair);
  }
}

}  // namespace
}  // namespace warpfold::workloads
