// Features of libraries' GEMMs besides tiles: fused operations, parts of k, groups, few rows.

#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"
#include "workloads/gemm_reduction/gemm_reduction.h"
#include "workloads/hopper_gemm/hopper_gemm.h"
#include "workloads/hopper_gemm/plan.h"

namespace warpfold::workloads {
namespace {

constexpr uint64_t kM = 2048;
constexpr uint64_t kN = 4096;
constexpr uint64_t kK = 1024;

configs::HopperGemm bf16() {
  configs::HopperGemm gemm;
  gemm.set_m(kM);
  gemm.set_n(kN);
  gemm.set_k(kK);
  gemm.set_type(configs::BF16);
  return gemm;
}

traces::Kernel make(const configs::HopperGemm& gemm) {
  auto kernel = make_hopper_gemm(gemm, gpu("h100_sxm"));
  if (!kernel) throw std::logic_error(kernel.error().message);
  return *kernel;
}
std::string error_of(const configs::HopperGemm& gemm) {
  const auto kernel = make_hopper_gemm(gemm, gpu("h100_sxm"));
  return kernel ? "none" : kernel.error().message;
}

// A warp instruction for each sum of a thread: 32 sums of the result.
constexpr uint64_t kSums = kM * kN / 32;

TEST(FusedGemm, ActivationsCostTheirFormulas) {
  struct Case {
    configs::Activation activation;
    uint64_t mufu, fmul, ffma, fadd, fmnmx;  // beyond the plain epilogue's, of each sum
  };
  const traces::Kernel plain = make(bf16());
  EXPECT_EQ(issued(plain, "FMUL"), kSums);  // alpha
  for (const Case& each :
       {Case{configs::RELU, 0, 0, 0, 0, 1}, Case{configs::GELU, 1, 3, 2, 0, 0}, Case{configs::SILU, 2, 2, 0, 1, 0}}) {
    configs::HopperGemm gemm = bf16();
    gemm.mutable_fused()->set_activation(each.activation);
    const traces::Kernel kernel = make(gemm);
    SCOPED_TRACE(kernel.source);
    EXPECT_EQ(issued(kernel, "MUFU"), kSums * each.mufu);
    EXPECT_EQ(issued(kernel, "FMUL"), kSums * (1 + each.fmul));
    EXPECT_EQ(issued(kernel, "FFMA"), kSums * each.ffma);
    EXPECT_EQ(issued(kernel, "FADD"), kSums * each.fadd);
    EXPECT_EQ(issued(kernel, "FMNMX"), kSums * each.fmnmx);
    EXPECT_EQ(bytes_by_stream(kernel).at("C"), kM * kN * 2);
  }
}

TEST(FusedGemm, SwigluMakesOneResultOfTwoColumns) {
  configs::HopperGemm gemm = bf16();
  gemm.mutable_fused()->set_activation(configs::SWIGLU);
  const traces::Kernel kernel = make(gemm);
  EXPECT_EQ(bytes_by_stream(kernel).at("C"), kM * kN / 2 * 2);
  EXPECT_EQ(issued(kernel, "MUFU"), kSums);  // two of every other sum
  EXPECT_EQ(issued(kernel, "F2FP"), kSums / 4);
}

TEST(FusedGemm, VectorsAndResidualsAreLoaded) {
  configs::HopperGemm gemm = bf16();
  gemm.mutable_fused()->set_bias(true);
  gemm.mutable_fused()->set_column_scales(true);
  const uint64_t tiles = kM / 128 * kN / 128;
  const traces::Kernel vectors = make(gemm);
  // Each of the two warpgroups loads its tile's 128 columns: factors of 4 bytes, biases of 2.
  EXPECT_EQ(bytes_by_stream(vectors).at("vectors"), tiles * 2 * 128 * (4 + 2));
  EXPECT_EQ(issued(vectors, "FMUL"), kSums * 2);
  EXPECT_EQ(issued(vectors, "FADD"), kSums);
  gemm.mutable_fused()->Clear();
  gemm.mutable_fused()->set_residual(true);
  for (const configs::GemmSchedule schedule : {configs::COOPERATIVE, configs::PINGPONG}) {
    gemm.set_schedule(schedule);
    const traces::Kernel residual = make(gemm);
    EXPECT_EQ(bytes_by_stream(residual).at("residual"), kM * kN * 2);
    EXPECT_EQ(issued(residual, "FADD"), kSums);
  }
}

TEST(FusedGemm, QuantisedRowsLeaveTheirScales) {
  configs::HopperGemm gemm = bf16();
  gemm.mutable_fused()->set_quantisation(configs::PER_ROW);
  EXPECT_EQ(error_of(gemm), "hopper_gemm: fused.quantisation PER_ROW needs output_type FP8, not BF16");
  gemm.set_output_type(configs::FP8);
  const traces::Kernel kernel = make(gemm);
  EXPECT_EQ(bytes_by_stream(kernel).at("C"), kM * kN);
  // Each row of a tile of 128 columns; a warp's eight rows are a sector of 32 bytes.
  EXPECT_EQ(bytes_by_stream(kernel).at("scales"), kM * (kN / 128) * 4);
  EXPECT_EQ(issued(kernel, "FMUL"), kSums * 2 + kM * kN / 128 / 8);
}

TEST(FusedGemm, WhatHasNoPlaceFails) {
  configs::HopperGemm gemm = bf16();
  gemm.mutable_fused()->set_residual(true);
  gemm.mutable_fused()->set_activation(configs::SWIGLU);
  EXPECT_EQ(error_of(gemm), "hopper_gemm: a residual has no place behind SWIGLU");
  gemm.mutable_fused()->set_activation(configs::RELU);
  gemm.set_epilogue(configs::WHOLE_TILE);
  EXPECT_EQ(error_of(gemm), "hopper_gemm: fused.residual needs epilogue SUB_TILES");
  gemm = bf16();
  gemm.mutable_fused()->set_activation(configs::SWIGLU);
  gemm.set_swap_operands(true);
  EXPECT_EQ(error_of(gemm),
            "hopper_gemm: SWIGLU and quantisation PER_ROW need the result's rows in the tile's: swap_operands has no place here");
}

TEST(SmallTiles, SixtyFourRowsHaveOneConsumerWarpgroup) {
  for (const uint32_t columns : {16, 32, 64, 128, 256}) {
    configs::HopperGemm gemm = bf16();
    gemm.set_tile_m(64);
    gemm.set_tile_n(columns);
    gemm.set_schedule(configs::COOPERATIVE);
    const traces::Kernel kernel = make(gemm);
    SCOPED_TRACE(kernel.source);
    EXPECT_EQ(kernel.warps_per_cta(), 8);
    EXPECT_EQ(issued(kernel, "HGMMA"), 4 * (kM / 64) * (kN / columns) * (kK / 16));
    EXPECT_EQ(bytes_by_stream(kernel).at("C"), kM * kN * 2);
  }
}

TEST(SmallTiles, HalvesOfColumnsAllowHeightsOfAnyMultiple) {
  configs::HopperGemm gemm = bf16();
  gemm.set_m(192 * 10);
  gemm.set_tile_m(192);
  gemm.set_tile_n(128);
  EXPECT_EQ(error_of(gemm),
            "hopper_gemm: tile_m 192 must be a multiple of 128 up to 512 (COOPERATIVE: two warpgroups of 64 rows a wgmma)");
  gemm.set_schedule(configs::COOPERATIVE_COLUMNS);
  const traces::Kernel kernel = make(gemm);
  // Three blocks of 64 rows for each warpgroup, 64 columns wide.
  EXPECT_EQ(issued(kernel, "HGMMA.64x64x16"), 4 * 2 * 3 * 10 * (kN / 128) * (kK / 16));
  EXPECT_EQ(bytes_by_stream(kernel).at("C"), 1920 * kN * 2);
}

// TMA fills rows beyond the matrix with zeros and reads nothing for them.
TEST(SmallTiles, PaddingIsNotLoaded) {
  configs::HopperGemm gemm = bf16();
  gemm.set_m(1);
  gemm.set_tile_m(64);
  gemm.set_cluster_m(1);
  gemm.set_schedule(configs::COOPERATIVE);
  const auto bytes = bytes_by_stream(make(gemm));
  EXPECT_EQ(bytes.at("A"), kK * 2 * (kN / 128));
  EXPECT_EQ(bytes.at("B"), kK * 2 * kN);
  EXPECT_EQ(bytes.at("C"), kN * 2);
}

TEST(SmallTiles, SwappedOperandsPutFewRowsIntoColumns) {
  configs::HopperGemm gemm = bf16();
  gemm.set_m(16);
  gemm.set_swap_operands(true);
  gemm.set_tile_m(64);
  gemm.set_tile_n(16);
  gemm.set_schedule(configs::COOPERATIVE);
  gemm.mutable_fused()->set_row_scales(true);
  const traces::Kernel kernel = make(gemm);
  EXPECT_EQ(kernel.flops, 2 * 16 * kN * kK);
  EXPECT_EQ(issued(kernel, "HGMMA"), 4 * (kN / 64) * (kK / 16));
  EXPECT_EQ(bytes_by_stream(kernel).at("A"), kN * kK * 2);  // the weights
  // A factor of a row of ours is one of a column of the tile: 16 of them, by one warpgroup, a sector a warp.
  EXPECT_EQ(bytes_by_stream(kernel).at("vectors"), (kN / 64) * 4 * 32);
}

configs::HopperGemm in_parts(uint32_t parts, configs::SplitReduction reduction) {
  configs::HopperGemm gemm = bf16();
  gemm.set_m(256);
  gemm.set_n(512);
  gemm.set_persistent(false);
  gemm.set_split_k(parts);
  gemm.set_reduction(reduction);
  return gemm;
}

TEST(SplitK, PartsMakeTheSameProducts) {
  const uint64_t products = issued(make(in_parts(1, configs::SERIAL)), "HGMMA");
  for (const configs::SplitReduction reduction : {configs::SERIAL, configs::PARALLEL}) {
    const traces::Kernel kernel = make(in_parts(4, reduction));
    EXPECT_EQ(issued(kernel, "HGMMA"), products);
    EXPECT_EQ(kernel.ctas(), 4 * 2 * 4);
  }
}

TEST(SplitK, PartsGoThroughMemoryInTurnOrSideBySide) {
  const uint64_t sums = 256 * 512 * 4;
  const auto serial = bytes_by_stream(make(in_parts(4, configs::SERIAL)));
  // Three parts are written and read; the last one ends in the result. A turn's end writes the semaphore: a sector a warp.
  EXPECT_EQ(serial.at("parts_read"), 3 * sums);
  EXPECT_EQ(serial.at("parts_written"), 3 * sums + 3 * 8 * 8 * 32);
  EXPECT_EQ(serial.at("C"), sums / 2);
  const auto parallel = bytes_by_stream(make(in_parts(4, configs::PARALLEL)));
  EXPECT_EQ(parallel.at("C"), 4 * sums);
}

TEST(SplitK, LaterPartsWaitForTheirTurn) {
  const traces::Kernel kernel = make(in_parts(3, configs::SERIAL));
  ASSERT_EQ(kernel.cta_classes.size(), 3);
  const uint64_t turn = kernel.cta_classes[1].values[0];
  EXPECT_GT(turn, 0);
  EXPECT_EQ(kernel.cta_classes[0].values, (std::vector<uint64_t>{0, 0, 1, 0}));
  EXPECT_EQ(kernel.cta_classes[1].values, (std::vector<uint64_t>{turn, 1, 1, 0}));
  EXPECT_EQ(kernel.cta_classes[2].values, (std::vector<uint64_t>{2 * turn, 1, 0, 1}));
  configs::HopperGemm waves = in_parts(3, configs::SERIAL);
  waves.set_m(kM);
  waves.set_n(kN);
  EXPECT_EQ(make(waves).cta_classes[2].values[0], 0);  // the parts before ran in an earlier wave
}

TEST(SplitK, NeedsACtaForEachPart) {
  configs::HopperGemm gemm = in_parts(2, configs::SERIAL);
  gemm.set_persistent(true);
  EXPECT_EQ(error_of(gemm), "hopper_gemm: split_k needs persistent: false, a CTA for each part");
  gemm = in_parts(2, configs::PARALLEL);
  gemm.mutable_fused()->set_bias(true);
  EXPECT_EQ(error_of(gemm),
            "hopper_gemm: with reduction PARALLEL the epilogue is the gemm_reduction kernel's: fused has no place here");
}

// 40 clusters of two tiles for 66 of them: every cluster has 8 k-blocks of 16 x 40 / 66, in one part of a tile or two.
TEST(StreamK, SharesKBlocksEvenly) {
  configs::HopperGemm gemm = bf16();
  gemm.set_m(5 * 256);
  gemm.set_n(8 * 128);
  const traces::Kernel tiles = make(gemm);
  EXPECT_EQ(tiles.ctas(), 80);
  gemm.set_stream_k(true);
  const traces::Kernel kernel = make(gemm);
  EXPECT_EQ(kernel.ctas(), 132);
  EXPECT_EQ(issued(kernel, "HGMMA"), issued(tiles, "HGMMA"));
  EXPECT_EQ(bytes_by_stream(kernel).at("A"), bytes_by_stream(tiles).at("A"));
  EXPECT_EQ(bytes_by_stream(kernel).at("C"), 1280 * 1024 * 2);
  for (const traces::CtaClass& cta_class : kernel.cta_classes) {
    const uint64_t blocks = 16 * cta_class.values[0] + cta_class.values[1] + cta_class.values[2];
    EXPECT_TRUE(blocks == 9 || blocks == 10) << cta_class.name;
  }
  // Sums that one CTA begins and another ends are written once and read once.
  const auto bytes = bytes_by_stream(kernel);
  EXPECT_GT(bytes.at("parts_read"), 0);
  EXPECT_GE(bytes.at("parts_written"), bytes.at("parts_read"));
}

TEST(StreamK, ChangesNothingWhereWavesAreFull) {
  configs::HopperGemm gemm = bf16();
  gemm.set_m(66 * 256);
  gemm.set_n(128);
  const traces::Kernel tiles = make(gemm);
  gemm.set_stream_k(true);
  EXPECT_EQ(make(gemm).cta_classes.front().values.front(), tiles.cta_classes.front().values.front());
  gemm.set_persistent(false);
  EXPECT_EQ(error_of(gemm), "hopper_gemm: stream_k needs persistent: true and schedule COOPERATIVE");
}

TEST(GemmReduction, AddsEveryPartOnce) {
  configs::GemmReduction reduction;
  reduction.set_m(256);
  reduction.set_n(512);
  reduction.set_parts(12);
  const traces::Kernel kernel = make_gemm_reduction(reduction, gpu("h100_sxm")).value();
  EXPECT_EQ(bytes_by_stream(kernel).at("parts"), 256 * 512 * 4 * 12);
  EXPECT_EQ(bytes_by_stream(kernel).at("C"), 256 * 512 * 2);
  EXPECT_EQ(issued(kernel, "FADD"), 256 * 512 * 12 / 32);
  EXPECT_EQ(kernel.streams[0].dram_numerator, 0);  // 6 MB, in L2
  for (const auto& [type, bytes] : {std::pair{configs::FP32, 4U}, {configs::FP16, 2U}, {configs::FP8, 1U}}) {
    reduction.set_output_type(type);
    EXPECT_EQ(bytes_by_stream(make_gemm_reduction(reduction, gpu("h100_sxm")).value()).at("C"), 256 * 512 * bytes);
    EXPECT_EQ(bytes_by_stream(make_gemm_reduction(reduction, gpu("b200")).value()).at("C"), 256 * 512 * bytes);
  }
  reduction.set_m(8192);
  EXPECT_EQ(make_gemm_reduction(reduction, gpu("h100_sxm")).value().streams[0].dram_numerator, 1);
}

TEST(GroupedGemm, EveryGroupHasMatricesOfItsOwn) {
  const auto one = bytes_by_stream(make(bf16()));
  configs::HopperGemm gemm = bf16();
  gemm.mutable_grouped()->set_groups(4);
  gemm.mutable_grouped()->set_layout(configs::BATCHED);
  const traces::Kernel kernel = make(gemm);
  for (const char* stream : {"A", "B", "C"}) EXPECT_EQ(bytes_by_stream(kernel).at(stream), 4 * one.at(stream));
  EXPECT_EQ(kernel.flops, 4 * 2 * kM * kN * kK);
}

TEST(GroupedGemm, ATileIsNeverOfTwoGroups) {
  configs::HopperGemm gemm = bf16();
  gemm.set_m(256);
  gemm.set_cluster_m(1);
  gemm.mutable_grouped()->set_groups(3);
  gemm.mutable_grouped()->set_layout(configs::MASKED);
  for (const uint64_t rows : {1, 129, 0}) gemm.mutable_grouped()->add_rows(rows);
  const traces::Kernel kernel = make(gemm);
  EXPECT_EQ(kernel.flops, 2 * 130 * kN * kK);
  const uint64_t tiles = (1 + 2 + 0) * (kN / 128);
  EXPECT_EQ(issued(kernel, "HGMMA"), 4 * 2 * tiles * (kK / 16));
  // The table is read for every tile by the producer and the eight consumer warps.
  EXPECT_EQ(issued(kernel, "LDG"), tiles * 9);
  gemm.mutable_grouped()->clear_rows();
  gemm.mutable_grouped()->set_layout(configs::CONTIGUOUS);
  EXPECT_EQ(issued(make(gemm), "LDG"), 3 * 2 * (kN / 128));
}

TEST(ScaledGemm, SelectedScalesCostAComparisonAndTwoSelects) {
  configs::HopperGemm gemm = bf16();
  gemm.set_type(configs::FP8);
  gemm.set_n(112 * 32);
  gemm.set_tile_n(112);
  gemm.set_fp8_accumulation(configs::BLOCK_SCALED);
  const uint64_t before = issued(make(gemm), "FSEL");
  gemm.set_select_scales(true);
  const uint64_t k_blocks = kK / 128;
  EXPECT_EQ(before, 0);
  EXPECT_EQ(issued(make(gemm), "FSEL"), kM / 128 * 32 * 8 * k_blocks * 2 * (112 / 8));
}

}  // namespace
}  // namespace warpfold::workloads
