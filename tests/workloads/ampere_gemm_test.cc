#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"
#include "workloads/ampere_gemm/ampere_gemm.h"

namespace warpfold::workloads {
namespace {

configs::AmpereGemm gemm(uint64_t size, uint32_t tile_k, uint32_t stages) {
  configs::AmpereGemm shape;
  shape.set_m(size);
  shape.set_n(size);
  shape.set_k(size);
  shape.set_tile_k(tile_k);
  shape.set_stages(stages);
  return shape;
}

// Instructions of a pass as recorded: 137 / 134 for a 32-deep tile on sm_80 / sm_90, 358 / 336 for a 64-deep one.
TEST(AmpereGemm, MainLoopIsTheRecordedOne) {
  for (const auto& [name, tile_k, count] :
       {std::tuple{"a100_sxm", 32U, 137U}, {"h100_sxm", 32U, 134U}, {"a100_sxm", 64U, 358U}, {"h100_sxm", 64U, 336U}}) {
    const traces::Kernel kernel = make_ampere_gemm(gemm(1024, tile_k, 3), gpu(name)).value();
    const auto& loop = std::get<traces::Loop>(kernel.roles.front().body[1]);
    EXPECT_EQ(std::get<traces::Block>(loop.body.front()).code.size(), count);
  }
}

TEST(AmpereGemm, MovesAndComputesWhatTheShapeSays) {
  for (const auto& [tile_k, stages] : {std::pair{32U, 3U}, {32U, 4U}, {64U, 3U}}) {
    const uint64_t size = 1024;
    const traces::Kernel kernel = make_ampere_gemm(gemm(size, tile_k, stages), gpu("a100_sxm")).value();
    SCOPED_TRACE(kernel.source);
    const auto bytes = bytes_by_stream(kernel);
    EXPECT_EQ(bytes.at("A"), size * size * 2 * (size / 128));
    EXPECT_EQ(bytes.at("B"), size * size * 2 * (size / 128));
    EXPECT_EQ(bytes.at("C"), size * size * 2);
    EXPECT_EQ(issued(kernel, "HMMA.16816.F32"), (size / 16) * (size / 8) * (size / 16));
    EXPECT_EQ(issued(kernel, "LDGDEPBAR"), (size / tile_k + stages - 1) * 4 * kernel.ctas());
    EXPECT_EQ(kernel.flops, 2 * size * size * size);
    EXPECT_EQ(kernel.shared_memory_bytes, stages * 2 * 128 * tile_k * 2);
    EXPECT_EQ(kernel.ctas(), (size / 128) * (size / 128));
  }
}

// Tiles of other sizes than 128 x 128, of CUTLASS's list: every product once, each operand as often as tiles need it.
TEST(AmpereGemm, OtherTilesMoveAndComputeTheSameShape) {
  struct Tile {
    uint32_t m, n, k, stages, warps, most_registers, instructions;
  };
  for (const Tile& tile : {Tile{128, 256, 32, 3, 8, 224, 121}, Tile{128, 256, 64, 3, 8, 232, 232}, Tile{128, 64, 32, 6, 4, 152, 94},
                           Tile{64, 64, 32, 10, 4, 96, 69}, Tile{256, 64, 32, 4, 4, 232, 125}}) {
    const uint64_t size = 1024;
    configs::AmpereGemm shape = gemm(size, tile.k, 0);
    shape.set_tile_m(tile.m);
    shape.set_tile_n(tile.n);
    const traces::Kernel kernel = make_ampere_gemm(shape, gpu("a100_sxm")).value();
    SCOPED_TRACE(kernel.source);
    const auto& loop = std::get<traces::Loop>(kernel.roles.front().body[1]);
    EXPECT_EQ(std::get<traces::Block>(loop.body.front()).code.size(), tile.instructions);
    EXPECT_EQ(kernel.warps_per_cta(), tile.warps);
    EXPECT_LE(kernel.registers_per_thread, tile.most_registers);  // as compiled
    const auto bytes = bytes_by_stream(kernel);
    EXPECT_EQ(bytes.at("A"), size * size * 2 * (size / tile.n));
    EXPECT_EQ(bytes.at("B"), size * size * 2 * (size / tile.m));
    EXPECT_EQ(bytes.at("C"), size * size * 2);
    EXPECT_EQ(issued(kernel, "HMMA.16816.F32"), (size / 16) * (size / 8) * (size / 16));
    EXPECT_EQ(kernel.shared_memory_bytes, tile.stages * (tile.m + tile.n) * tile.k * 2);
    EXPECT_EQ(kernel.ctas(), (size / tile.m) * (size / tile.n));
    // The same tile's loop was recorded for sm_90.
    EXPECT_TRUE(make_ampere_gemm(shape, gpu("h100_sxm")));
  }
}

TEST(AmpereGemm, LeavesAllButOneStageInFlight) {
  for (const uint32_t stages : {3U, 4U}) {
    const traces::Kernel kernel = make_ampere_gemm(gemm(1024, 32, stages), gpu("h100_sxm")).value();
    for_each_instruction(kernel, [&](const isa::Instruction& instruction, uint64_t) {
      if (!instruction.mnemonic.starts_with("DEPBAR")) return;
      EXPECT_EQ(instruction.effect.count, stages - 2);
    });
  }
}

TEST(AmpereGemm, TheLastPassesCopyNothing) {
  const traces::Kernel kernel = make_ampere_gemm(gemm(1024, 32, 4), gpu("a100_sxm")).value();
  const auto& last = std::get<traces::Loop>(kernel.roles.front().body[2]);
  EXPECT_EQ(last.trips.literal, 3U);
  for (const isa::Instruction& instruction : std::get<traces::Block>(last.body.front()).code) {
    if (!instruction.mnemonic.starts_with("LDGSTS")) continue;
    EXPECT_TRUE(instruction.guard.negated && instruction.guard.predicate == isa::kTruePredicate);
    EXPECT_EQ(instruction.effect.bytes, 0U);
  }
}

// The recorded loop on operands of other types: as many instructions and bytes, of another depth.
TEST(AmpereGemm, OtherTypesRunTheSameLoop) {
  struct Type {
    configs::ElementType type;
    const char* gpu;
    const char* name;
    uint32_t depth, bytes, result_bytes;
  };
  for (const Type& each : {Type{configs::TF32, "a100_sxm", "HMMA.1688.F32.TF32", 8, 4, 4},
                           Type{configs::INT8, "rtx_4090", "IMMA.16832.S8.S8", 32, 1, 4},
                           Type{configs::FP8, "rtx_4090", "QMMA.16832.F32.E4M3.E4M3", 32, 1, 2}}) {
    const uint64_t size = 1024;
    configs::AmpereGemm shape = gemm(size, 2 * each.depth, 3);
    shape.set_type(each.type);
    const traces::Kernel kernel = make_ampere_gemm(shape, gpu(each.gpu)).value();
    SCOPED_TRACE(kernel.source);
    EXPECT_EQ(issued(kernel, each.name), (size / 16) * (size / 8) * (size / each.depth));
    EXPECT_EQ(issued(kernel, "HMMA.16816"), 0U);
    const auto bytes = bytes_by_stream(kernel);
    EXPECT_EQ(bytes.at("A"), size * size * each.bytes * (size / 128));
    EXPECT_EQ(bytes.at("C"), size * size * each.result_bytes);
    EXPECT_EQ(kernel.flops, 2 * size * size * size);
  }
}

// Copies of fewer than 16 bytes: as many sectors, each asked for once, by as many more copies with a test of a mask each. The stall
// cycles of products hide them.
TEST(AmpereGemm, NarrowCopiesHaveTestsOfTheirOwn) {
  configs::AmpereGemm shape = gemm(1024, 32, 3);
  const traces::Kernel wide = make_ampere_gemm(shape, gpu("a100_sxm")).value();
  const auto pass = [](const traces::Kernel& kernel) -> const std::vector<isa::Instruction>& {
    return std::get<traces::Block>(std::get<traces::Loop>(kernel.roles.front().body[1]).body.front()).code;
  };
  const auto stalls = [&](const traces::Kernel& kernel) {
    uint32_t sum = 0;
    for (const isa::Instruction& instruction : pass(kernel)) sum += instruction.control.stall;
    return sum;
  };
  for (const auto& [bytes, accesses, more] : {std::tuple{8U, 2U, 0U}, {4U, 4U, 1U}}) {
    shape.set_copy_bytes(bytes);
    const traces::Kernel kernel = make_ampere_gemm(shape, gpu("a100_sxm")).value();
    SCOPED_TRACE(kernel.source);
    EXPECT_EQ(bytes_by_stream(kernel), bytes_by_stream(wide));
    EXPECT_EQ(issued(kernel, "LDGSTS"), accesses * issued(wide, "LDGSTS"));
    EXPECT_EQ(pass(kernel).size(), 137 + 8 * (accesses - 1 + 3 * accesses + more));  // compiled: 184 and 255
    EXPECT_LE(stalls(kernel), 1.05 * stalls(wide));
    uint32_t hits = 0, before_commit = 0;
    bool committed = false;
    for (const isa::Instruction& instruction : pass(kernel)) {
      if (instruction.mnemonic == "LDGDEPBAR") committed = true;
      if (!instruction.mnemonic.starts_with("LDGSTS")) continue;
      EXPECT_EQ(instruction.effect.wavefronts, 4);
      hits += instruction.effect.l1_hit ? 1 : 0;
      before_commit += committed ? 0 : 1;
    }
    EXPECT_EQ(hits, 8 * (accesses - 1));
    EXPECT_EQ(before_commit, 8 * accesses);
  }
}

// A convolution's product reads an activation once for each position of its filter: L2 delivers as many bytes, DRAM fewer.
TEST(AmpereGemm, RepeatedElementsComeFromDramOnce) {
  configs::AmpereGemm shape = gemm(1024, 32, 3);
  const traces::Kernel once = make_ampere_gemm(shape, gpu("a100_sxm")).value();
  shape.set_a_repeats(9);
  const traces::Kernel repeated = make_ampere_gemm(shape, gpu("a100_sxm")).value();
  EXPECT_EQ(bytes_by_stream(repeated), bytes_by_stream(once));
  const auto dram = [](const traces::Kernel& kernel, size_t stream) {
    return static_cast<double>(kernel.streams[stream].dram_numerator) /
           static_cast<double>(kernel.streams[stream].dram_denominator);
  };
  EXPECT_NEAR(dram(repeated, 0), dram(once, 0) / 9, 1e-4);
  EXPECT_EQ(dram(repeated, 1), dram(once, 1));
  EXPECT_EQ(repeated.streams[0].footprint, once.streams[0].footprint / 9);
}

// Products of a batch: each has CTAs of its own, and rows beyond its last are computed but not copied.
TEST(AmpereGemm, ABatchHasTheTilesOfEachProduct) {
  configs::AmpereGemm shape = gemm(1024, 32, 3);
  shape.set_m(96);
  shape.mutable_grouped()->set_groups(4);
  shape.mutable_grouped()->set_layout(configs::BATCHED);
  const traces::Kernel kernel = make_ampere_gemm(shape, gpu("a100_sxm")).value();
  EXPECT_EQ(kernel.ctas(), 4 * 8);
  const auto bytes = bytes_by_stream(kernel);
  EXPECT_EQ(bytes.at("A"), 4 * 8 * 96 * 1024 * 2);
  EXPECT_EQ(bytes.at("B"), 4 * 1024 * 1024 * 2);
  EXPECT_EQ(bytes.at("C"), 4 * 96 * 1024 * 2);
  EXPECT_EQ(issued(kernel, "HMMA.16816.F32"), 4 * (128 / 16) * (1024 / 8) * (1024 / 16));
  EXPECT_EQ(kernel.flops, 4 * 2 * 96 * 1024 * 1024);
}

TEST(AmpereGemm, WhatIsNotThereFails) {
  EXPECT_EQ(make_ampere_gemm(gemm(1024, 64, 4), gpu("a100_sxm")).error().message,
            "ampere_gemm: a tile of 128 x 128 x 64 with 4 stages was not recorded; expected one of 128 x 128 x 32 with 3 stages, "
            "128 x 128 x 32 with 4 stages, 128 x 128 x 64 with 3 stages, 128 x 256 x 32 with 3 stages, "
            "128 x 256 x 64 with 3 stages, 256 x 64 x 32 with 4 stages, 128 x 64 x 32 with 6 stages, 64 x 64 x 32 with 10 stages");
  configs::AmpereGemm automatic = gemm(1024, 32, 3);
  automatic.set_tile(configs::AUTO);
  EXPECT_EQ(make_ampere_gemm(automatic, gpu("a100_sxm")).error().message,
            "ampere_gemm: tile AUTO has to be taken from a library first");
  EXPECT_EQ(make_ampere_gemm(gemm(64, 32, 3), gpu("a100_sxm")).error().message,
            "ampere_gemm: k 64 is shorter than the ring of 3 x 32");
  configs::AmpereGemm shape = gemm(1024, 32, 3);
  shape.set_tile_k(64);
  shape.set_type(configs::FP8);
  EXPECT_EQ(make_ampere_gemm(shape, gpu("a100_sxm")).error().message, "ampere_gemm: type FP8 has no mma.sync on sm_80");
  shape.set_type(configs::FP4);
  EXPECT_EQ(make_ampere_gemm(shape, gpu("a100_sxm")).error().message,
            "ampere_gemm: type FP4 has no loop; expected BF16, FP16, TF32, INT8, FP8 or FP32");
  EXPECT_EQ(make_ampere_gemm(gemm(0, 32, 3), gpu("a100_sxm")).error().message, "ampere_gemm: m, n and k must be at least 1");
}

}  // namespace
}  // namespace warpfold::workloads
