#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"
#include "workloads/ampere_gemm/ampere_gemm.h"

namespace warpfold::workloads {
namespace {

configs::AmpereGemm fp32(uint64_t m, uint64_t n, uint64_t k) {
  configs::AmpereGemm shape;
  shape.set_type(configs::FP32);
  shape.set_m(m);
  shape.set_n(n);
  shape.set_k(k);
  return shape;
}

struct Tile {
  uint32_t m, n, slices, threads;
};
// cuBLAS's kernels by name and block (sitar-lab/NeuSight @6945927).
constexpr Tile kTiles[] = {{128, 128, 1, 256}, {128, 64, 1, 128}, {64, 64, 1, 64},  {128, 32, 1, 256}, {32, 128, 1, 256},
                           {128, 32, 4, 256},  {64, 32, 4, 256},  {32, 32, 4, 128}, {256, 128, 1, 256}};

// Every product once, each operand as often as tiles need it, whatever the tile and the architecture.
TEST(SimtGemm, MovesAndComputesWhatTheShapeSays) {
  for (const char* name : {"v100_16gb", "t4", "a100_sxm", "rtx_4090", "h100_sxm", "b200"}) {
    for (const Tile& tile : kTiles) {
      const uint64_t m = 512, n = 256, k = 1024;
      configs::AmpereGemm shape = fp32(m, n, k);
      shape.set_tile_m(tile.m);
      shape.set_tile_n(tile.n);
      shape.set_k_slices(tile.slices);
      const auto made = make_ampere_gemm(shape, gpu(name));
      ASSERT_TRUE(made) << made.error().message;
      const traces::Kernel& kernel = *made;
      SCOPED_TRACE(kernel.source);
      EXPECT_EQ(kernel.warps_per_cta() * 32, tile.threads);
      EXPECT_EQ(issued(kernel, "FFMA"), m * n * k / 32);
      const auto bytes = bytes_by_stream(kernel);
      EXPECT_EQ(bytes.at("A"), m * k * 4 * (n / tile.n));
      EXPECT_EQ(bytes.at("B"), n * k * 4 * (m / tile.m));
      EXPECT_EQ(bytes.at("C"), m * n * 4);
      EXPECT_EQ(kernel.flops, 2 * m * n * k);
      EXPECT_EQ(kernel.ctas(), (m / tile.m) * (n / tile.n));
    }
  }
}

// maxas: for each column of k 64 FFMA and four LDS.128 of a thread with 8 x 8 sums, a barrier for eight of them.
TEST(SimtGemm, AKTileIsMaxass) {
  const traces::Kernel kernel = make_ampere_gemm(fp32(1024, 1024, 1024), gpu("a100_sxm")).value();
  const auto& loop = std::get<traces::Loop>(kernel.roles.front().body[1]);
  EXPECT_EQ(loop.trips.literal, 1024U / 8 - 3);
  std::map<std::string, uint32_t> counts;
  for (const isa::Instruction& instruction : std::get<traces::Block>(loop.body.front()).code) {
    ++counts[instruction.mnemonic.substr(0, instruction.mnemonic.find('.'))];
  }
  EXPECT_EQ(counts["FFMA"], 512U);
  EXPECT_EQ(counts["LDS"], 32U);
  EXPECT_EQ(counts["LDGSTS"], 8U);
  EXPECT_EQ(counts["BAR"], 1U);
}

// cuBLAS's 64 x 64 by 128 threads executes 376,480,768 warp instructions for 2048^3 in three parts of k (Nsight Compute,
// nideyongbao/CUDA_GEMM @9ce3c05).
TEST(SimtGemm, ExecutesAsManyInstructionsAsCublas) {
  configs::AmpereGemm shape = fp32(2048, 2048, 2048);
  shape.set_tile_m(64);
  shape.set_tile_n(64);
  shape.set_threads(128);
  shape.set_stages(3);
  shape.set_split_k(3);
  const traces::Kernel kernel = make_ampere_gemm(shape, gpu("h20")).value();
  EXPECT_EQ(kernel.ctas(), 32U * 32 * 3);
  EXPECT_NEAR(static_cast<double>(issued(kernel, "")), 376480768.0, 0.02 * 376480768.0);
  EXPECT_EQ(bytes_by_stream(kernel).at("C"), 3 * 2048ULL * 2048 * 4);
}

// Before sm_80 copies pass through registers.
TEST(SimtGemm, WithoutAsynchronousCopies) {
  const traces::Kernel kernel = make_ampere_gemm(fp32(1024, 1024, 1024), gpu("v100_16gb")).value();
  EXPECT_EQ(issued(kernel, "LDGSTS"), 0U);
  EXPECT_EQ(kernel.shared_memory_bytes, 2 * (128 + 128) * 8 * 4U);
  EXPECT_LE(kernel.registers_per_thread, 128U);  // two CTAs an SM, as of cuBLAS's
}

// Elements beyond the matrix are multiplied as zeros, and neither loaded nor stored.
TEST(SimtGemm, RaggedTilesMoveTheMatrixAlone) {
  configs::AmpereGemm shape = fp32(64, 196, 196);
  shape.mutable_grouped()->set_groups(160);
  shape.mutable_grouped()->set_layout(configs::BATCHED);
  const traces::Kernel kernel = make_ampere_gemm(shape, gpu("l4")).value();
  EXPECT_EQ(kernel.ctas(), 2U * 160);
  EXPECT_EQ(issued(kernel, "FFMA"), 160 * 128 * 256 * 200 / 32U);
  const auto bytes = bytes_by_stream(kernel);
  EXPECT_NEAR(static_cast<double>(bytes.at("A")), 2 * 160 * 64 * 196 * 4.0, 0.01 * 2 * 160 * 64 * 196 * 4);
  EXPECT_NEAR(static_cast<double>(bytes.at("C")), 160 * 64 * 196 * 4.0, 0.01 * 160 * 64 * 196 * 4);
}

// A single k-tile, shorter than the ring.
TEST(SimtGemm, ShortProducts) {
  const traces::Kernel kernel = make_ampere_gemm(fp32(100, 20, 3), gpu("h100_sxm")).value();
  EXPECT_EQ(kernel.ctas(), 1U);
  EXPECT_EQ(issued(kernel, "FFMA"), 128 * 128 * 8 / 32U);
}

}  // namespace
}  // namespace warpfold::workloads
