#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"
#include "workloads/hopper_gemm/hopper_gemm.h"
#include "workloads/hopper_gemm/plan.h"

namespace warpfold::workloads {
namespace {

configs::HopperGemm gemm(uint64_t m, uint64_t n, uint64_t k) {
  configs::HopperGemm shape;
  shape.set_m(m);
  shape.set_n(n);
  shape.set_k(k);
  return shape;
}

// FP8, both warpgroups in turn; the default for 128 rows is cooperative.
configs::HopperGemm pingpong(uint64_t m, uint64_t n, uint64_t k) {
  configs::HopperGemm shape = gemm(m, n, k);
  shape.set_schedule(configs::PINGPONG);
  return shape;
}

configs::HopperGemm bf16(configs::GemmSchedule schedule, uint32_t tile_m, uint32_t tile_n) {
  configs::HopperGemm shape = gemm(4096, 8192, 1024);
  shape.set_type(configs::BF16);
  shape.set_schedule(schedule);
  shape.set_tile_m(tile_m);
  shape.set_tile_n(tile_n);
  return shape;
}

traces::Kernel make(const configs::HopperGemm& shape) { return make_hopper_gemm(shape, gpu("h100_sxm")).value(); }
std::string error_of(const configs::HopperGemm& shape) { return make_hopper_gemm(shape, gpu("h100_sxm")).error().message; }

const traces::Role& role(const traces::Kernel& kernel, const std::string& name) {
  for (const traces::Role& each : kernel.roles) {
    if (each.name == name) return each;
  }
  throw std::out_of_range(name);
}

// The body of the innermost k-block loop: the second node of a tile.
const std::vector<isa::Instruction>& k_block(const traces::Role& role) {
  const auto& tile = std::get<traces::Loop>(role.body[1]);
  return std::get<traces::Block>(std::get<traces::Loop>(tile.body[1]).body.front()).code;
}

std::map<std::string, int> by_pipe(const traces::Kernel& kernel, const std::vector<isa::Instruction>& code) {
  std::map<std::string, int> counts;
  for (const isa::Instruction& instruction : code) {
    const isa::OpcodeInfo& info = architecture_of(kernel).info(instruction);
    const bool integer_fma = instruction.mnemonic.starts_with("IMAD") || instruction.mnemonic == "VIADD";
    const bool uniform = info.pipe == isa::Pipe::kUniform || instruction.mnemonic == "S2UR";
    const bool bulk = instruction.mnemonic.starts_with("UTMA");
    const bool mbarrier = instruction.mnemonic.starts_with("SYNCS");
    const std::string name = integer_fma                       ? "fma_int"
                             : uniform                         ? "uniform"
                             : bulk                            ? "tma"
                             : mbarrier                        ? "mbarrier"
                             : info.pipe == isa::Pipe::kMemory ? "lsu"
                             : info.pipe == isa::Pipe::kWgmma  ? "wgmma"
                             : info.pipe == isa::Pipe::kNone   ? "control"
                                                               : std::string(isa::pipe_name(info.pipe));
    ++counts[name];
  }
  return counts;
}

using Counts = std::map<std::string, int>;

// Per 64-deep k-block and warp, counted in the disassembly of CUTLASS 4.7.0 kernels (fp16, cluster 1x1, CUDA 13.0).
TEST(HopperGemm, KBlocksHaveTheCountedInstructionMix) {
  struct Case {
    configs::GemmSchedule schedule;
    uint32_t tile_m;
    uint32_t tile_n;
    Counts consumer;
    Counts producer;
  };
  const Case cases[] = {
      {configs::COOPERATIVE,
       128,
       128,
       {{"alu", 3}, {"control", 5}, {"fma_int", 1}, {"mbarrier", 3}, {"wgmma", 4}, {"uniform", 32}},
       {{"alu", 7}, {"control", 2}, {"fma_int", 5}, {"lsu", 1}, {"mbarrier", 2}, {"tma", 2}, {"uniform", 16}}},
      {configs::COOPERATIVE,
       128,
       256,
       {{"alu", 3}, {"control", 8}, {"fma_int", 1}, {"mbarrier", 3}, {"wgmma", 4}, {"uniform", 29}},
       {{"alu", 8}, {"control", 2}, {"fma_int", 5}, {"lsu", 1}, {"mbarrier", 2}, {"tma", 2}, {"uniform", 18}}},
      {configs::PINGPONG,
       64,
       128,
       {{"alu", 3}, {"control", 5}, {"fma_int", 1}, {"mbarrier", 3}, {"wgmma", 4}, {"uniform", 29}},
       {{"alu", 7}, {"control", 2}, {"fma_int", 6}, {"lsu", 1}, {"mbarrier", 2}, {"tma", 2}, {"uniform", 18}}},
      {configs::PINGPONG,
       128,
       128,
       {{"alu", 3}, {"control", 5}, {"fma_int", 1}, {"mbarrier", 3}, {"wgmma", 8}, {"uniform", 37}},
       {{"alu", 7}, {"control", 2}, {"fma_int", 5}, {"lsu", 1}, {"mbarrier", 2}, {"tma", 2}, {"uniform", 17}}},
  };
  for (const Case& each : cases) {
    const traces::Kernel kernel = make(bf16(each.schedule, each.tile_m, each.tile_n));
    SCOPED_TRACE(kernel.source);
    EXPECT_EQ(by_pipe(kernel, k_block(role(kernel, "consumer0"))), each.consumer);
    EXPECT_EQ(by_pipe(kernel, k_block(role(kernel, "consumer1"))), each.consumer);
    EXPECT_EQ(by_pipe(kernel, k_block(role(kernel, "producer"))), each.producer);
  }
}

// Bytes, wgmma and flops against the closed forms, on tiles that divide the matrix.
TEST(HopperGemm, MovesAndComputesWhatTheShapeSays) {
  for (const auto& [schedule, tile_m, tile_n] : {std::tuple{configs::COOPERATIVE, 128U, 128U},
                                                 {configs::COOPERATIVE, 256U, 128U},
                                                 {configs::COOPERATIVE, 128U, 256U},
                                                 {configs::PINGPONG, 128U, 128U},
                                                 {configs::PINGPONG, 64U, 128U}}) {
    const traces::Kernel kernel = make(bf16(schedule, tile_m, tile_n));
    SCOPED_TRACE(kernel.source);
    const uint64_t m = 4096, n = 8192, k = 1024;
    const auto bytes = bytes_by_stream(kernel);
    EXPECT_EQ(bytes.at("A"), m * k * 2 * (n / tile_n));
    EXPECT_EQ(bytes.at("B"), n * k * 2 * (m / tile_m));
    EXPECT_EQ(bytes.at("C"), m * n * 2);
    // Each of a warpgroup's four warps issues every wgmma of 64 x tile_n x 16.
    EXPECT_EQ(issued(kernel, "HGMMA"), 4 * (m / 64) * (n / tile_n) * (k / 16));
    EXPECT_EQ(kernel.flops, 2 * m * n * k);
    const uint64_t k_blocks = (m / tile_m) * (n / tile_n) * (k / 64);
    EXPECT_EQ(issued(kernel, "UTMALDG"), 2 * k_blocks);
    // A stage is given back by every warp that read it.
    EXPECT_EQ(issued(kernel, "SYNCS.ARRIVE.TRANS64.RED"), k_blocks * (schedule == configs::PINGPONG ? 4 : 8));
    EXPECT_EQ(kernel.rings[1].arrivals, schedule == configs::PINGPONG ? 4U : 8U);
  }
}

TEST(HopperGemm, Fp8HasOneWgmmaForThirtyTwoDeep) {
  const traces::Kernel kernel = make(gemm(2048, 8192, 2048));
  EXPECT_EQ(issued(kernel, "QGMMA.64x128x32.F32"), 4ULL * (2048 / 64) * (8192 / 128) * (2048 / 32));
  EXPECT_EQ(bytes_by_stream(kernel).at("A"), 2048ULL * 2048 * (8192 / 128));
  EXPECT_EQ(bytes_by_stream(kernel).at("C"), 2048ULL * 8192 * 2);
}

TEST(HopperGemm, Fp8SumsArePromotedAfterEveryKBlock) {
  // 64 x 128 sums of a warpgroup are 64 registers a thread: one FADD each in every one of the 16 k-blocks.
  configs::HopperGemm shape = gemm(2048, 8192, 2048);
  const uint64_t warps = 8 * (2048 / 128) * (8192 / 128);
  EXPECT_EQ(issued(make(shape), "FADD"), warps * 64 * 16);
  shape.set_fp8_accumulation(configs::FAST);
  EXPECT_EQ(issued(make(shape), "FADD"), 0U);
  // Two sets of accumulators of 64 x 256 do not fit the registers.
  shape.clear_fp8_accumulation();
  shape.set_tile_n(256);
  EXPECT_EQ(issued(make(shape), "FADD"), 0U);
  shape.clear_tile_n();
  shape.set_tile_k(64);  // not the depth of a promotion
  EXPECT_EQ(issued(make(shape), "FADD"), 0U);
}

// DeepGEMM's kernel of February 2025 for 128 columns.
configs::HopperGemm block_scaled(uint32_t tile_n) {
  configs::HopperGemm shape = gemm(2048, 7680, 2048);
  shape.set_tile_n(tile_n);
  shape.set_fp8_accumulation(configs::BLOCK_SCALED);
  shape.set_epilogue(configs::WHOLE_TILE);
  shape.set_swizzled_store(false);
  return shape;
}

// Counted in fp8_wgrad_gemm.cuh. A k-block loads two scales of A and, two at a time, those of the thread's columns of B; every sum
// takes one FMUL and one FFMA. TMA brings 128 scales of either operand with each stage. Sums of FP32 are stored as they are.
TEST(HopperGemm, VectorScaledSumsTakeAnFmulAndAnFfmaEach) {
  configs::HopperGemm shape = block_scaled(128);
  shape.set_fp8_accumulation(configs::VECTOR_SCALED);
  shape.set_output_type(configs::FP32);
  const traces::Kernel kernel = make(shape);
  const uint64_t warp_tiles = 8 * (2048 / 128) * (7680 / 128);
  const uint64_t warp_blocks = warp_tiles * (2048 / 128);
  EXPECT_EQ(issued(kernel, "FFMA"), warp_blocks * 64);
  EXPECT_EQ(issued(kernel, "FMUL"), warp_blocks * 64);
  EXPECT_EQ(issued(kernel, "LDS"), warp_blocks * (2 + 16));
  EXPECT_EQ(issued(kernel, "LDS.64"), warp_blocks * 16);
  EXPECT_EQ(issued(kernel, "LDG"), 0U);
  EXPECT_EQ(issued(kernel, "STS.64"), warp_tiles * 32);
  EXPECT_EQ(issued(kernel, "F2FP"), 0U);
  shape.clear_epilogue();
  EXPECT_EQ(error_of(shape), "hopper_gemm: output_type FP32 needs epilogue WHOLE_TILE, and nothing fused");
}

// Counted in fp8_gemm.cuh. A k-block loads one scale of B (two if its columns may need two) and two of A, multiplies each pair, and
// has one FFMA per sum. A tile loads its scales of B once. All sums are cleared before the loop, and added only by these FFMA.
TEST(HopperGemm, BlockScaledSumsTakeOneFfmaEach) {
  for (const auto& [tile_n, scales_of_b] : {std::pair{128U, 1U}, {160U, 2U}}) {
    const traces::Kernel kernel = make(block_scaled(tile_n));
    const uint64_t warp_tiles = 8 * (2048 / 128) * (7680 / tile_n);
    const uint64_t warp_blocks = warp_tiles * (2048 / 128);
    EXPECT_EQ(issued(kernel, "FFMA"), warp_blocks * tile_n / 2);
    EXPECT_EQ(issued(kernel, "FADD"), 0U);
    EXPECT_EQ(issued(kernel, "LDS"), warp_blocks * (2 + scales_of_b));
    EXPECT_EQ(issued(kernel, "FMUL"), warp_blocks * 2 * scales_of_b);
    EXPECT_EQ(issued(kernel, "LDG"), warp_tiles);
    EXPECT_EQ(issued(kernel, "SYNCS.ARRIVE.TRANS64.RED"), warp_blocks);
    // TMA brings 128 scales of A with each stage.
    const uint64_t a_bytes = 2048ULL * 2048 + 4ULL * 2048 * (2048 / 128);
    EXPECT_EQ(bytes_by_stream(kernel).at("A"), a_bytes * (7680 / tile_n));
  }
}

// Eight rows of 16 bytes in a matrix, four matrices an STSM.x4, banks of 128 bytes.
TEST(HopperGemm, UnswizzledStoresMeetInTheBanksOfTheirAddresses) {
  EXPECT_EQ(unswizzled_store_wavefronts(256), 32);  // 128 columns of 16 bits: all rows in the same banks
  EXPECT_EQ(unswizzled_store_wavefronts(128), 32);
  EXPECT_EQ(unswizzled_store_wavefronts(320), 16);  // 160 columns: two places in turn
  EXPECT_EQ(unswizzled_store_wavefronts(64), 16);
  EXPECT_EQ(unswizzled_store_wavefronts(224), 8);  // 112 columns: four places
  EXPECT_EQ(unswizzled_store_wavefronts(272), 4);  // padded by 16 bytes: no conflict
}

TEST(HopperGemm, AWholeTileIsStoredAtOnceAndWaitedFor) {
  const traces::Kernel kernel = make(block_scaled(128));
  const uint64_t warp_tiles = 8 * (2048 / 128) * (7680 / 128);
  EXPECT_EQ(issued(kernel, "STSM"), warp_tiles * 8);  // 64 sums a thread, eight a store
  EXPECT_EQ(issued(kernel, "UTMASTG"), warp_tiles);
  EXPECT_EQ(bytes_by_stream(kernel).at("C"), 2048ULL * 7680 * 2);
  EXPECT_EQ(issued(kernel, "UTMACMDFLUSH"), warp_tiles + 8 * 132 /* CTAs, before they end */);
  for_each_instruction(kernel, [](const isa::Instruction& instruction, uint64_t) {
    if (instruction.mnemonic.starts_with("STSM")) {
      EXPECT_EQ(instruction.effect.wavefronts, 32);
    }
  });
  // 32 KB of result, 64 bytes of scales of B: five stages of 33280 bytes are left, as DeepGEMM's own rule has it.
  EXPECT_NE(kernel.source.find("stages=5"), std::string::npos) << kernel.source;
  configs::HopperGemm swizzled = block_scaled(128);
  swizzled.set_swizzled_store(true);
  for_each_instruction(make(swizzled), [](const isa::Instruction& instruction, uint64_t) {
    if (instruction.mnemonic.starts_with("STSM")) {
      EXPECT_EQ(instruction.effect.wavefronts, 4);
    }
  });
}

TEST(HopperGemm, EveryStageExpectsTheBytesThatItReceives) {
  const traces::Kernel kernel = make(gemm(2048, 8192, 2048));
  uint64_t expected = 0;
  uint64_t received = 0;
  for (const isa::Instruction& instruction : k_block(role(kernel, "producer"))) {
    expected += instruction.effect.tx_bytes;
    received += instruction.effect.bytes;
  }
  EXPECT_EQ(expected, 32768U);
  EXPECT_EQ(received, expected);
}

// CUTLASS's kernels go from 168 to 40 and 232 registers (USETMAXREG in their SASS).
TEST(HopperGemm, RegistersMoveFromTheProducerToTheConsumers) {
  const auto count_of = [](const traces::Kernel& kernel, const std::string& name) {
    for (const isa::Instruction& instruction : std::get<traces::Block>(role(kernel, name).body.front()).code) {
      if (instruction.mnemonic.starts_with("USETMAXREG")) return instruction.effect.count;
    }
    return uint16_t{0};
  };
  configs::HopperGemm shape = gemm(2048, 8192, 2048);
  for (const auto& [launch, producer, consumer] : {std::tuple{168U, 40, 232}, {160U, 32, 224}, {152U, 40, 208}}) {
    shape.set_registers_per_thread(launch);
    const traces::Kernel kernel = make(shape);
    EXPECT_EQ(kernel.registers_per_thread, launch);
    EXPECT_EQ(count_of(kernel, "producer"), producer);
    EXPECT_EQ(count_of(kernel, "producer_idle"), producer);
    EXPECT_EQ(count_of(kernel, "consumer0"), consumer);
    EXPECT_EQ(count_of(kernel, "consumer1"), consumer);
  }
}

TEST(HopperGemm, StagesFillTheSharedMemoryThatIsLeft) {
  // 232448 bytes less 16384 (epilogue) and 1024 (barriers), 32768 a stage: 6.56.
  configs::HopperGemm shape = gemm(2048, 8192, 2048);
  EXPECT_EQ(make(shape).rings[0].depth, 6U);
  EXPECT_EQ(make(shape).shared_memory_bytes, 6U * 32768 + 16384 + 1024);
  shape.set_shared_memory_limit_bytes(5 * 32768 + 16384 + 1024);
  EXPECT_EQ(make(shape).rings[0].depth, 5U);
  shape.set_stages(3);
  EXPECT_EQ(make(shape).rings[0].depth, 3U);
}

TEST(HopperGemm, PersistentClustersTakeTilesInTurn) {
  // 16 x 64 tiles in clusters of 2 x 1 are 512 clusters for the 66 that 132 SMs hold: 50 clusters of 8 tiles, 16 of 7.
  const traces::Kernel kernel = make(pingpong(2048, 8192, 2048));
  EXPECT_EQ(kernel.cluster_ctas, 2U);
  ASSERT_EQ(kernel.grid.size(), 2U);
  EXPECT_EQ(kernel.grid[0].count, 100U);
  EXPECT_EQ(kernel.grid[1].count, 32U);
  EXPECT_EQ(kernel.cta_classes[0].values, (std::vector<uint64_t>{8, 4, 4}));
  EXPECT_EQ(kernel.cta_classes[1].values, (std::vector<uint64_t>{7, 4, 3}));
}

TEST(HopperGemm, PingPongDealsTilesOutToTheWarpgroupsInTurn) {
  // The second warpgroup starts behind the 16 k-blocks of the first one's tile.
  const traces::Kernel kernel = make(pingpong(2048, 8192, 2048));
  ASSERT_EQ(kernel.cursors[2].name, "read1");
  EXPECT_EQ(kernel.cursors[2].start, 16U);
  EXPECT_EQ(kernel.cursors[4].start, 16U);
  // In one tile each warpgroup steps over its own k-blocks and the other's.
  const auto& tile = std::get<traces::Loop>(role(kernel, "consumer1").body[1]);
  std::map<int, uint64_t> steps;
  for_each_instruction(tile.body, kernel.cta_classes[0], 1, [&](const isa::Instruction& instruction, uint64_t times) {
    if (instruction.effect.cursor >= 0) steps[instruction.effect.cursor] += times * instruction.effect.advance;
  });
  EXPECT_EQ(steps, (std::map<int, uint64_t>{{2, 32}, {4, 32}, {5, 1}, {6, 1}}));
}

TEST(HopperGemm, WithoutPersistenceEveryTileIsACta) {
  configs::HopperGemm shape = bf16(configs::COOPERATIVE, 128, 128);
  shape.set_persistent(false);
  const traces::Kernel kernel = make(shape);
  EXPECT_EQ(kernel.ctas(), (4096U / 128) * (8192U / 128));
  EXPECT_TRUE(kernel.parameters.empty());
}

TEST(HopperGemm, RaggedEdgesAreWholeTilesAndClusters) {
  configs::HopperGemm shape = bf16(configs::COOPERATIVE, 128, 128);
  shape.set_m(4097);  // 33 tiles, 17 clusters of two
  EXPECT_EQ(bytes_by_stream(make(shape)).at("C"), 34ULL * 128 * 8192 * 2);
}

TEST(HopperGemm, MulticastIsTheClustersOtherExtent) {
  configs::HopperGemm shape = gemm(2048, 8192, 2048);
  shape.set_cluster_m(4);
  shape.set_cluster_n(2);
  const traces::Kernel kernel = make(shape);
  for (const isa::Instruction& instruction : k_block(role(kernel, "producer"))) {
    if (!instruction.mnemonic.starts_with("UTMALDG")) continue;
    EXPECT_EQ(instruction.effect.multicast, instruction.effect.stream == 0 ? 2 : 4);
  }
}

TEST(HopperGemm, DramReadsEveryOperandAtLeastOnce) {
  const traces::Kernel kernel = make(gemm(8192, 8192, 8192));
  const auto bytes = bytes_by_stream(kernel);
  for (const traces::MemoryStream& stream : kernel.streams) {
    if (stream.write) continue;
    EXPECT_EQ(bytes.at(stream.name) * stream.dram_numerator % stream.dram_denominator, 0U);
    EXPECT_GE(bytes.at(stream.name) * stream.dram_numerator / stream.dram_denominator, 8192ULL * 8192);
    EXPECT_LT(stream.dram_numerator * 4, stream.dram_denominator);
  }
}

TEST(HopperGemm, WhatDoesNotFitFails) {
  configs::HopperGemm shape = gemm(2048, 8192, 2048);
  EXPECT_EQ(make_hopper_gemm(shape, gpu("a100_sxm")).error().message,
            "hopper_gemm needs a GPU of architecture sm_90, this one is sm_80");
  shape.set_tile_n(100);
  EXPECT_EQ(error_of(shape), "hopper_gemm: tile_n 100 is not a wgmma width; expected a multiple of 8 up to 256");
  configs::HopperGemm automatic = gemm(4096, 4096, 4096);
  automatic.set_tile(configs::AUTO);
  EXPECT_EQ(error_of(automatic), "hopper_gemm: tile AUTO has to be taken from a library first");
  shape.set_tile_n(256);
  shape.set_tile_m(256);
  EXPECT_EQ(error_of(shape),
            "hopper_gemm: a consumer thread needs 280 registers for a 128 x 256 accumulator, registers_per_thread 168 leaves 240");
  shape = pingpong(2048, 8192, 2048);
  shape.set_tile_m(96);
  EXPECT_EQ(error_of(shape), "hopper_gemm: tile_m 96 must be a multiple of 64 up to 512 (PINGPONG: 64 rows a wgmma)");
  shape = gemm(2048, 8192, 2048);
  shape.set_tile_k(48);
  EXPECT_EQ(error_of(shape), "hopper_gemm: tile_k 48 must be a multiple of 32, the depth of one wgmma");
  shape = gemm(2048, 8192, 2048);
  shape.set_tile_n(8);
  shape.set_output_type(configs::FP8);
  EXPECT_EQ(error_of(shape), "hopper_gemm: tile_n 8 must be a multiple of 16, the columns of one STSM.x2");
  shape = gemm(2048, 8192, 2048);
  shape.set_cluster_m(16);
  EXPECT_EQ(error_of(shape), "hopper_gemm: a cluster of 16 x 1 CTAs is larger than the 8 CTAs that every GPU can place");
  shape = pingpong(2048, 8192, 2048);
  shape.set_persistent(false);
  EXPECT_EQ(error_of(shape), "hopper_gemm: PINGPONG needs persistent: true, because a CTA alternates between two tiles");
  shape = gemm(2048, 8192, 2048);
  shape.set_stages(7);
  EXPECT_EQ(
      error_of(shape),
      "hopper_gemm: 7 stages of 32768 bytes and 17408 bytes for epilogue and barriers exceed the 232448 bytes of shared memory a "
      "CTA may have");
  shape.clear_stages();
  shape.set_registers_per_thread(170);
  EXPECT_EQ(error_of(shape),
            "hopper_gemm: registers_per_thread 170 must be a multiple of 8 from 32 to 168 (65536 registers for 384 threads)");
  shape = gemm(2048, 8192, 2048);
  shape.set_tile_k(64);
  shape.set_fp8_accumulation(configs::PROMOTED);
  EXPECT_EQ(error_of(shape),
            "hopper_gemm: fp8_accumulation PROMOTED adds partial sums every 128 of k: it needs type FP8 and tile_k 128");
  shape = pingpong(2048, 8192, 2048);
  shape.set_fp8_accumulation(configs::PROMOTED);
  EXPECT_EQ(error_of(shape),
            "hopper_gemm: a consumer thread needs 280 registers for a 128 x 128 accumulator, registers_per_thread 168 leaves 240");
  shape = pingpong(2048, 8192, 2048);
  shape.set_epilogue(configs::WHOLE_TILE);
  EXPECT_EQ(error_of(shape), "hopper_gemm: epilogue WHOLE_TILE needs schedule COOPERATIVE");
  shape.clear_epilogue();
  shape.set_tile_m(64);
  shape.set_fp8_accumulation(configs::BLOCK_SCALED);
  EXPECT_EQ(error_of(shape), "hopper_gemm: fp8_accumulation BLOCK_SCALED needs schedule COOPERATIVE");
  shape = gemm(2048, 8192, uint64_t{1} << 24);
  shape.set_fp8_accumulation(configs::BLOCK_SCALED);
  EXPECT_EQ(error_of(shape), "hopper_gemm: 524288 bytes of scales of B exceed shared memory; use a smaller k");
  shape = gemm(0, 8192, 2048);
  EXPECT_EQ(error_of(shape), "hopper_gemm: m, n and k must be at least 1");
}

}  // namespace
}  // namespace warpfold::workloads
