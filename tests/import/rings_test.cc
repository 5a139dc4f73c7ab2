#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "configs/load.h"
#include "support.h"
#include "workloads/workloads.h"

// Mbarriers, TMA, wgmma and setmaxnreg of SASS kernels: roles and rings.

namespace warpfold::sass {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Expected<Imported> import_gemm(const std::vector<std::string>& settings = {}) {
  return import_files("configs/kernels/hopper_gemm_sm_90a.sass", "configs/kernels/hopper_gemm.textproto", settings);
}

uint64_t issued(const traces::Kernel& kernel, const std::vector<traces::Node>& body, std::string_view mnemonic) {
  uint64_t count = 0;
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      for (const isa::Instruction& instruction : block->code) count += instruction.mnemonic == mnemonic ? 1 : 0;
      continue;
    }
    const auto& loop = std::get<traces::Loop>(node);
    count += issued(kernel, loop.body, mnemonic) * traces::trips(loop.trips, kernel.cta_classes.front());
  }
  return count;
}

TEST(Rings, WarpSpecialisedGemmHasItsRolesAndRings) {
  const auto imported = import_gemm();
  ASSERT_TRUE(imported) << imported.error().text();
  const traces::Kernel& kernel = imported->kernel;
  ASSERT_EQ(kernel.roles.size(), 4U);
  EXPECT_EQ(kernel.roles[0].warps, 1U);
  EXPECT_EQ(kernel.roles[1].warps, 3U);
  EXPECT_EQ(kernel.roles[2].warps, 4U);
  EXPECT_EQ(kernel.roles[3].warps, 4U);
  ASSERT_EQ(kernel.rings.size(), 2U);
  EXPECT_EQ(kernel.rings[0], (traces::Ring{"ring0", 4, 1, false}));
  EXPECT_EQ(kernel.rings[1], (traces::Ring{"ring1", 4, 8, true}));
  EXPECT_EQ(issued(kernel, kernel.roles[0].body, "UTMALDG.2D"), 2 * 128U);
  EXPECT_EQ(issued(kernel, kernel.roles[2].body, "HGMMA.64x256x16.F32.BF16"), 4 * 128U);
  EXPECT_EQ(issued(kernel, kernel.roles[2].body, "UTMASTG.2D"), 8U);
  EXPECT_EQ(imported->report.followed_ctas, 1U);
}

TEST(Rings, StagesAreOneBodyWhateverTheLoopsTripsAre) {
  for (const uint64_t blocks : {128U, 131U, 1000U}) {
    const auto imported = import_gemm({"parameter.k_blocks.value=" + std::to_string(blocks)});
    ASSERT_TRUE(imported) << imported.error().text();
    const traces::Kernel& kernel = imported->kernel;
    // All passes but the last, behind which no cursor moves.
    EXPECT_EQ(std::get<traces::Loop>(kernel.roles[0].body.at(1)).trips.literal, blocks - 1);
    EXPECT_EQ(issued(kernel, kernel.roles[0].body, "UTMALDG.2D"), 2 * blocks);
    EXPECT_EQ(kernel.rings.size(), 2U);
  }
}

// CUDA 13 aligns CUtensorMap to 128 bytes: the first map at 0x280 of constant bank 0, the parameter behind it at 0x300. CUDA 12 has
// them at 0x240 and 0x2c0.
TEST(Rings, TensorMapsLieWhereTheCodeLooksForThem) {
  const auto imported = [](const std::string& offset, const std::string& behind) {
    return import_lines("ULDC.64 UR8, c[0x0][0x198] ;\nUIADD3 UR8, UP0, UR8, " + offset +
                            ", URZ ;\nUIADD3.X UR9, URZ, UR9, URZ, UP0, !UPT ;\nUMOV UR12, 0x800 ;\nUMOV UR13, URZ ;\n"
                            "UMOV UR14, URZ ;\nUTMASTG.2D [UR12], [UR8] ;\nUTMACMDFLUSH ;\nISETP.NE.AND P0, PT, RZ, c[0x0][" +
                            behind + "], PT ;\n@P0 EXIT ;\nNOP ;\nEXIT ;\n",
                        "architecture: \"sm_90\" grid { x: 1 } block { x: 32 } shared_memory_bytes: 4096\n"
                        "array { name: \"x\" bytes: 4096 } parameter { tensor_map { array: \"x\" element_bytes: 1 extent: 64\n"
                        "extent: 64 box: 64 box: 1 } } parameter { value: 5 }");
  };
  const auto before = imported("0x30", "0x2c0");
  ASSERT_TRUE(before) << message_of(before);
  EXPECT_TRUE(before->report.assumed.empty());
  const auto now = imported("0x70", "0x300");
  ASSERT_TRUE(now) << message_of(now);
  EXPECT_FALSE(counts_of(now->kernel).contains("NOP"));
  ASSERT_EQ(now->report.assumed.size(), 1U);
  EXPECT_NE(now->report.assumed.front().find("multiples of 128 bytes"), std::string::npos);
}

TEST(Rings, BoxesOfTensorMapsAreWhatArraysAreAskedFor) {
  const auto imported = import_gemm();
  ASSERT_TRUE(imported);
  constexpr uint64_t kMatrix = 8192ULL * 8192 * 2;
  EXPECT_EQ(imported->report.arrays[0].requested, kMatrix * 32);  // by each of 32 columns of tiles
  EXPECT_EQ(imported->report.arrays[1].requested, kMatrix * 64);
  for (const ArrayReport& array : imported->report.arrays) EXPECT_EQ(array.touched, kMatrix) << array.name;
  EXPECT_TRUE(imported->report.arrays[2].written);
}

TEST(Rings, ImportedGemmIsAsFastAsTheGenerators) {
  const auto imported = import_gemm();
  ASSERT_TRUE(imported);
  configs::Gpu gpu = configs::load_gpu(data_file("configs/gpus/h100_sxm.textproto")).value();
  configs::Kernel described;
  described.set_name("gemm");
  configs::HopperGemm& gemm = *described.mutable_hopper_gemm();
  gemm.set_m(8192);
  gemm.set_n(8192);
  gemm.set_k(8192);
  gemm.set_type(configs::BF16);
  gemm.set_tile_m(128);
  gemm.set_tile_n(256);
  gemm.set_tile_k(64);
  gemm.set_stages(4);
  gemm.set_schedule(configs::COOPERATIVE);
  gemm.set_persistent(false);
  gemm.set_cluster_m(1);
  gemm.set_cluster_n(1);
  // Bound by L2 reads, then by wgmma.
  for (const double l2 : {1.0, 2.0}) {
    gpu.mutable_l2()->set_scale(l2);
    const traces::Kernel generator = workloads::make_kernel(described, gpu, "").value();
    const auto ours = time_of(imported->kernel, gpu);
    const auto theirs = time_of(generator, gpu);
    EXPECT_NEAR(ours / theirs, 1, 0.03) << l2;
  }
}

const std::string kLaunch = "architecture: \"sm_90\" grid { x: 4 } block { x: 64 } shared_memory_bytes: 4096\n";

// Lines 2 to 4: an mbarrier at 0x400 whose phase takes 64 arrivals, (0x100000 - 64) << 1.
const std::string kInitialised = "UMOV UR4, 0x400 ;\nUMOV UR6, 0x1fff80 ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\n";
const std::string kArrives = "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ ;\n";
const std::string kWaits = "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], RZ ;\n@!P0 EXIT ;\n";

TEST(Rings, LanesOfAWarpArriveTogether) {
  const auto imported = import_lines(kInitialised + kArrives + kWaits + "EXIT ;\n", kLaunch);
  ASSERT_TRUE(imported) << imported.error().text();
  ASSERT_EQ(imported->kernel.rings.size(), 1U);
  EXPECT_EQ(imported->kernel.rings[0], (traces::Ring{"ring0", 1, 2, false}));
}

TEST(Rings, ArrivalsThatAreOffNeedNoRing) {
  const std::string second = "S2R R0, SR_TID.X ;\nISETP.LT.AND P1, PT, R0, 0x20, PT ;\n";
  const std::string one_warp = "UMOV UR4, 0x400 ;\nUMOV UR6, 0x1fffc0 ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\n";
  const auto imported = import_lines(one_warp + second + "@P1 " + kArrives + kWaits + "EXIT ;\n", kLaunch);
  ASSERT_TRUE(imported) << imported.error().text();
  ASSERT_EQ(imported->kernel.roles.size(), 2U);
  EXPECT_EQ(imported->kernel.rings, (std::vector<traces::Ring>{{"ring0", 1, 1, false}}));
  const auto& code = std::get<traces::Block>(imported->kernel.roles[1].body[0]).code;
  EXPECT_TRUE(code[5].guard.never());
  EXPECT_EQ(code[5].effect.barrier, -1);
  EXPECT_FALSE(simulated({&imported->kernel}, configs::load_gpu(data_file("configs/gpus/h100_sxm.textproto")).value()).deadlocked);
}

TEST(Rings, FirstWaitForTheOtherParityPasses) {
  const std::string waits = "MOV R4, 0x80000000 ;\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R4 ;\n@!P0 EXIT ;\n";
  const auto imported = import_lines(kInitialised + waits + kArrives + kWaits + "EXIT ;\n", kLaunch);
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_TRUE(imported->kernel.rings[0].starts_free);
  // The second wait is for the phase behind: one step.
  const auto& code = std::get<traces::Block>(imported->kernel.roles[0].body[0]).code;
  EXPECT_EQ(code[4].effect.advance, 1U);
}

TEST(Rings, WaitsWithoutArrivalsKeepTheirRing) {
  const auto imported = import_lines(kInitialised + kWaits + "EXIT ;\n", kLaunch);
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->kernel.rings[0].arrivals, 64U);
  const auto gpu = configs::load_gpu(data_file("configs/gpus/h100_sxm.textproto")).value();
  const sim::Outcome outcome = simulated({&imported->kernel}, gpu);
  EXPECT_TRUE(outcome.deadlocked);
  EXPECT_THAT(outcome.deadlock.report, HasSubstr("waits for ring ring0"));
}

TEST(Rings, WarpsWithAnMbarrierEachStayAtTheirStage) {
  const std::string each =
      "S2R R0, SR_TID.X ;\nSHF.R.U32.HI R0, RZ, 0x5, R0 ;\nR2UR UR8, R0 ;\nUMOV UR4, 0x400 ;\nUMOV UR6, 0x1fffc0 ;\n"
      "ULEA UR4, UR8, UR4, 0x3 ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\nMOV R2, RZ ;\nMOV R3, RZ ;\n.L_1:\n" +
      kArrives + "SHF.L.U32 R4, R3, 0x1f, RZ ;\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R4 ;\n@!P0 EXIT ;\n" +
      "LOP3.LUT R3, R3, 0x1, RZ, 0x3c, !PT ;\nVIADD R2, R2, 0x1 ;\nISETP.LT.AND P1, PT, R2, 0x64, PT ;\n@P1 BRA `(.L_1) ;\nEXIT "
      ";\n";
  const auto imported = import_lines(each, kLaunch);
  ASSERT_TRUE(imported) << imported.error().text();
  const traces::Kernel& kernel = imported->kernel;
  EXPECT_EQ(kernel.rings, (std::vector<traces::Ring>{{"ring0", 2, 1, false}}));
  ASSERT_EQ(kernel.roles.size(), 2U);
  ASSERT_EQ(kernel.cursors.size(), 4U);
  EXPECT_EQ(kernel.cursors[0].start, 0U);
  EXPECT_EQ(kernel.cursors[2].start, 1U);
  const auto& loop = std::get<traces::Loop>(kernel.roles[1].body.at(1));
  EXPECT_EQ(loop.trips.literal, 99U);
  EXPECT_EQ(std::get<traces::Block>(loop.body[0]).code[2].effect.advance, 2U);
  EXPECT_FALSE(simulated({&kernel}, configs::load_gpu(data_file("configs/gpus/h100_sxm.textproto")).value()).deadlocked);
}

TEST(Rings, MbarriersThatAreNotPassedInTurnAreRingsOfTheirOwn) {
  const std::string stays =
      "UMOV UR4, 0x400 ;\nUMOV UR6, 0x1fff80 ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\nSYNCS.EXCH.64 URZ, [UR4+0x8], UR6 ;\n.L_1:\n"
      "MOV R2, RZ ;\n.L_2:\n" +
      kArrives +
      "VIADD R2, R2, 0x1 ;\nISETP.LT.AND P1, PT, R2, 0x64, PT ;\n@P1 BRA `(.L_2) ;\nUIADD3 UR4, UR4, 0x8, URZ ;\n"
      "UISETP.LT.AND UP0, UPT, UR4, 0x410, UPT ;\nPLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0 ;\n@P0 BRA `(.L_1) ;\nEXIT ;\n";
  const auto imported = import_lines(stays, kLaunch);
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->kernel.rings, (std::vector<traces::Ring>{{"ring0", 1, 2, false}, {"ring1", 1, 2, false}}));
}

// As CUTLASS releases a stage: one lane of a warpgroup arrives. The warpgroup's warps multiply together as three roles.
TEST(Rings, OneThreadOfAWarpgroupArrives) {
  const std::string launch = "architecture: \"sm_90\" grid { x: 4 } block { x: 128 } shared_memory_bytes: 4096\n";
  const std::string one = "UMOV UR4, 0x400 ;\nUMOV UR6, 0x1ffffe ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\n";
  const std::string product =
      "S2R R0, SR_TID.X ;\nISETP.NE.AND P2, PT, R0, 0x20, PT ;\nWARPGROUP.ARRIVE ;\n"
      "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24, gsb0 ;\nWARPGROUP.DEPBAR.LE gsb0, 0x0 ;\n";
  const std::string arrives = "@!P2 MOV R3, UR4 ;\n@!P2 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R3+URZ], RZ ;\n";
  const auto imported = import_lines(one + product + arrives + kWaits + "EXIT ;\n", launch);
  ASSERT_TRUE(imported) << imported.error().text();
  const traces::Kernel& kernel = imported->kernel;
  ASSERT_EQ(kernel.roles.size(), 3U);
  EXPECT_EQ(kernel.roles[1].name, "warp1");
  EXPECT_EQ(kernel.rings, (std::vector<traces::Ring>{{"ring0", 1, 1, false}}));
  EXPECT_FALSE(simulated({&kernel}, configs::load_gpu(data_file("configs/gpus/h100_sxm.textproto")).value()).deadlocked);
  // Threads may go another way between products, but not past one.
  const std::string apart = "@P2 BRA `(.L_1) ;\nNOP ;\n.L_1:\n";
  EXPECT_TRUE(import_lines(one + product + apart + arrives + kWaits + "EXIT ;\n", launch));
  const std::string past = "@P2 BRA `(.L_1) ;\nHGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24, gsb0 ;\n.L_1:\n";
  EXPECT_THAT(
      message_of(import_lines(one + product + past + arrives + kWaits + "EXIT ;\n", launch)),
      HasSubstr("role warp1: the four warps of a warpgroup issue the same wgmma instructions in the same order; warp 1 issues "
                "others than warp 0, of role warp0"));
}

// Thread 0 arrives for the bytes that it expects, all lanes of the other warp for themselves.
TEST(Rings, WarpsArriveWithDifferentNumbersOfLanes) {
  const auto mixed = [](const std::string& count) {
    return "UMOV UR4, 0x400 ;\nUMOV UR6, " + count +
           " ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\nS2R R0, SR_TID.X ;\nISETP.GT.AND P2, PT, R0, 0x0, PT ;\n"
           "ISETP.LT.AND P2, PT, R0, 0x20, P2 ;\n@!P2 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ ;\n" +
           kWaits + "EXIT ;\n";
  };
  const auto imported = import_lines(mixed("0x1fffbe"), kLaunch);  // 33
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->kernel.rings, (std::vector<traces::Ring>{{"ring0", 1, 2, false}}));
  EXPECT_THAT(message_of(import_lines(mixed("0x1fffbc"), kLaunch)),
              HasSubstr("with different numbers of lanes, which together are not the 34 arrivals of a phase"));
}

TEST(Rings, WarpgroupsOfTheSameCodeAreRolesOfTheirOwn) {
  const auto imported = import_lines(
      "WARPGROUP.ARRIVE ;\nHGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24, gsb0 ;\nWARPGROUP.DEPBAR.LE gsb0, 0x0 ;\nEXIT ;\n",
      "architecture: \"sm_90\" grid { x: 4 } block { x: 384 } shared_memory_bytes: 4096\n");
  ASSERT_TRUE(imported) << imported.error().text();
  const std::vector<traces::Role>& roles = imported->kernel.roles;
  ASSERT_EQ(roles.size(), 3U);
  EXPECT_EQ(roles[0].name, "warps0-3");
  EXPECT_EQ(roles[2].name, "warps8-11");
  EXPECT_FALSE(simulated({&imported->kernel}, configs::load_gpu(data_file("configs/gpus/h100_sxm.textproto")).value()).deadlocked);
}

TEST(Rings, WhatIsNotExpressedIsNamedWithItsLine) {
  const auto refused = [](const std::string& lines, const std::string& launch = kLaunch) {
    return message_of(import_lines(lines + "EXIT ;\n", launch));
  };
  EXPECT_THAT(refused("UMOV UR4, 0x400 ;\n" + kWaits),
              StartsWith("kernel.sass:3:1: the mbarrier at 1024 in shared memory is initialised by no instruction"));
  EXPECT_THAT(refused(kInitialised + "SYNCS.ARRIVE.TRANS64.A0TR RZ, [UR4], R2 ;\n"),
              StartsWith("kernel.sass:5:1: SYNCS.ARRIVE.TRANS64.A0TR: an arrival of this form"));
  EXPECT_THAT(refused("UMOV UR4, 0x400 ;\nUMOV UR6, 0x1fff82 ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\n" + kArrives),
              StartsWith("kernel.sass:5:1: a phase of the mbarrier at 1024 in shared memory takes 63 arrivals, of which 32"));
  EXPECT_THAT(refused("UMOV UR4, 0x400 ;\nUMOV UR5, 0x400 ;\nUMOV UR6, 0x0 ;\nUMOV UR7, 0x0 ;\nUTMALDG.1D [UR4], [UR6] ;\n"),
              StartsWith("kernel.sass:6:1: UTMALDG.1D: its tensor map is no parameter of the launch description"));
  EXPECT_THAT(refused(kInitialised + "UMOV UR8, UR9 ;\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR8], RZ ;\n"),
              testing::EndsWith("its guard or address hangs on a register that nothing has written"));
  EXPECT_THAT(refused("USETMAXREG.DEALLOC.CTAPOOL 0x28 ;\n"),
              StartsWith("kernel.sass:2:1: USETMAXREG.DEALLOC.CTAPOOL: warps give"));
}

TEST(Rings, BrokenTensorMaps) {
  const auto refused = [](const std::string& map) {
    return message_of(
        import_lines("EXIT ;\n", kLaunch + "array { name: \"x\" bytes: 4096 }\nparameter { tensor_map { " + map + " } }"));
  };
  EXPECT_THAT(refused("array: \"y\""), HasSubstr("no array is called \"y\""));
  EXPECT_THAT(refused("array: \"x\" element_bytes: 2"), HasSubstr("needs extent and box"));
  EXPECT_THAT(refused("array: \"x\" element_bytes: 3 extent: 8 box: 8"), HasSubstr("1, 2, 4 or 8 bytes"));
  EXPECT_THAT(refused("array: \"x\" element_bytes: 2 extent: 8 box: 300"), HasSubstr("1 to 256 elements"));
  EXPECT_THAT(refused("array: \"x\" element_bytes: 2 extent: 64 extent: 64 box: 8 box: 8"), HasSubstr("does not fit into array x"));
  EXPECT_THAT(refused("array: \"x\" element_bytes: 8 extent: 1 extent: 1 extent: 1 box: 256 box: 256 box: 256"),
              HasSubstr("more bytes than shared memory has"));
  EXPECT_THAT(message_of(import_lines("EXIT ;\n",
                                      "architecture: \"sm_80\" grid { x: 4 } block { x: 64 }\n"
                                      "parameter { tensor_map { array: \"x\" } }")),
              HasSubstr("sm_90 alone"));
}

}  // namespace
}  // namespace warpfold::sass
