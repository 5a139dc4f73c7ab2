#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "workloads/workloads.h"

// Kernels launched in thread-block clusters: arrivals at other CTAs, multicast, the cluster's barrier.

namespace warpfold::sass {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

configs::Gpu h100() { return configs::load_gpu(data_file("configs/gpus/h100_sxm.textproto")).value(); }

// The GEMM whose CTAs share B in pairs: each loads half of it for both, or the first of them all of it.
Expected<Imported> import_pairs(bool leader) {
  return leader ? import_files("hopper_gemm_leader_sm_90a.sass", "hopper_gemm_leader.textproto")
                : import_files("configs/kernels/hopper_gemm_pairs_sm_90a.sass", "configs/kernels/hopper_gemm_pairs.textproto");
}

traces::Kernel generated_pairs(const configs::Gpu& gpu) {
  configs::Kernel described;
  const std::string workload =
      "name: \"gemm\" hopper_gemm { m: 8192 n: 8192 k: 8192 type: BF16 tile_m: 128 tile_n: 256 tile_k: 64 stages: 4 "
      "schedule: COOPERATIVE persistent: false cluster_m: 2 cluster_n: 1 }";
  EXPECT_TRUE(configs::parse_text("kernel", workload, described));
  return workloads::make_kernel(described, gpu, "").value();
}

std::vector<isa::Effect> loads_of(const std::vector<traces::Node>& body) {
  std::vector<isa::Effect> loads;
  for (const traces::Node& node : body) {
    if (const auto* block = std::get_if<traces::Block>(&node)) {
      for (const isa::Instruction& instruction : block->code) {
        if (instruction.mnemonic.starts_with("UTMALDG")) loads.push_back(instruction.effect);
      }
      continue;
    }
    const std::vector<isa::Effect> inner = loads_of(std::get<traces::Loop>(node).body);
    loads.insert(loads.end(), inner.begin(), inner.end());
  }
  return loads;
}

TEST(Clusters, PairsOfCtasAreOneProgramWithRingsOfItsOwn) {
  const auto imported = import_pairs(false);
  ASSERT_TRUE(imported) << imported.error().text();
  const traces::Kernel& kernel = imported->kernel;
  EXPECT_EQ(kernel.cluster_ctas, 2U);
  EXPECT_EQ(imported->report.followed_ctas, 2U);  // one at each place of a cluster
  EXPECT_EQ(kernel.cta_classes.size(), 1U);
  EXPECT_EQ(kernel.roles.size(), 4U);
  // Full, empty (16 arrivals, of which a warp's two lanes bring two) and the cluster's barrier.
  EXPECT_EQ(kernel.rings, (std::vector<traces::Ring>{{"ring0", 4, 1, false}, {"ring1", 4, 8, true}, {"ring2", 1, 12, false}}));
}

TEST(Clusters, MulticastBoxesCountForTheirReceivers) {
  const auto imported = import_pairs(false);
  ASSERT_TRUE(imported) << imported.error().text();
  const std::vector<isa::Effect> loads = loads_of(imported->kernel.roles[0].body);
  ASSERT_GE(loads.size(), 2U);
  for (size_t i = 0; i < loads.size(); i += 2) {
    EXPECT_EQ(loads[i].bytes, 128U * 64 * 2);
    EXPECT_EQ(loads[i].multicast, 1U);
    EXPECT_EQ(loads[i + 1].bytes, 2U * 128 * 64 * 2);  // half of the tile from each CTA, to both
    EXPECT_EQ(loads[i + 1].multicast, 2U);
  }
  EXPECT_EQ(imported->report.arrays[1].requested, 8192ULL * 8192 * 2 * 64);
  EXPECT_EQ(imported->report.arrays[1].touched, 8192ULL * 8192 * 2);
}

TEST(Clusters, CtasThatReceiveOnlyIssueTheLoadThemselves) {
  const auto imported = import_pairs(true);
  ASSERT_TRUE(imported) << imported.error().text();
  const traces::Kernel& kernel = imported->kernel;
  ASSERT_EQ(kernel.cta_classes.size(), 2U);
  ASSERT_EQ(kernel.grid.size(), 2048U);  // in turn
  EXPECT_EQ(kernel.grid[0], (traces::CtaRun{0, 1}));
  EXPECT_EQ(kernel.grid[1], (traces::CtaRun{1, 1}));
  for (const traces::CtaClass& cta_class : kernel.cta_classes) {
    const auto counts = counts_of(kernel.roles[0].body, cta_class);
    EXPECT_EQ(counts.at("UTMALDG.2D"), 128U) << cta_class.name;
    EXPECT_EQ(counts.at("UTMALDG.2D.MULTICAST"), 128U) << cta_class.name;
  }
  for (const isa::Effect& load : loads_of(kernel.roles[0].body)) EXPECT_EQ(load.bytes, load.multicast == 2 ? 32768U : 16384U);
}

TEST(Clusters, TheyTakeTheGeneratorsTime) {
  configs::Gpu gpu = h100();
  for (const bool leader : {false, true}) {
    const auto imported = import_pairs(leader);
    ASSERT_TRUE(imported) << imported.error().text();
    // As it is, and bound by L2 reads.
    for (const double l2 : {1.0, 0.5}) {
      gpu.mutable_l2()->set_scale(l2);
      EXPECT_NEAR(time_of(imported->kernel, gpu) / time_of(generated_pairs(gpu), gpu), 1, 0.03) << leader << " " << l2;
    }
  }
}

const std::string kLaunch = "architecture: \"sm_90\" grid { x: 4 } block { x: 64 } cluster { x: 2 } shared_memory_bytes: 4096\n";

// Lines 2 to 6: an mbarrier at 0x400 of the CTA's memory, of so many arrivals.
std::string initialised(int arrivals) {
  return "S2UR UR4, SR_CgaCtaId ;\nUMOV UR5, 0x400 ;\nULEA UR4, UR4, UR5, 0x18 ;\nUMOV UR6, " +
         std::to_string(2 * (0x100000 - arrivals)) + " ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\n";
}
// R3: the same mbarrier of the CTA whose rank is in `rank`.
std::string arrives_at(const std::string& rank) {
  return "MOV R3, UR4 ;\nPRMT R3, " + rank + ", 0x654, R3 ;\nSYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R3+URZ], RZ ;\n";
}
const std::string kWaits = "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], RZ ;\n@!P0 EXIT ;\n";

TEST(Clusters, ArrivalsAtThePeerComeInAsTheyGoOut) {
  const auto imported = import_lines(
      initialised(64) + "S2R R2, SR_CgaCtaId ;\nLOP3.LUT R2, R2, 0x1, RZ, 0x3c, !PT ;\n" + arrives_at("R2") + kWaits + "EXIT ;\n",
      kLaunch);
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->kernel.rings, (std::vector<traces::Ring>{{"ring0", 1, 2, false}}));
  EXPECT_EQ(imported->kernel.cta_classes.size(), 1U);
  EXPECT_FALSE(simulated({&imported->kernel}, h100()).deadlocked);
}

TEST(Clusters, BarrierOfTheClusterIsPassedInPhases) {
  const std::string barrier = "UCGABAR_ARV ;\nUCGABAR_WAIT ;\n";
  const auto imported = import_lines(barrier + barrier + "EXIT ;\n", kLaunch);
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->kernel.rings, (std::vector<traces::Ring>{{"ring0", 1, 2, false}}));
  const auto& code = std::get<traces::Block>(imported->kernel.roles[0].body[0]).code;
  EXPECT_EQ(code[1].effect.advance, 1U);  // the second wait is for the second phase
  EXPECT_FALSE(simulated({&imported->kernel}, h100()).deadlocked);
}

// %cluster_ctaid.y, as compilers compute it: the index, less the cluster's extent times the index divided by it.
TEST(Clusters, PlaceInTheClusterIsNoMatterOfTheCtaItself) {
  const std::string lines =
      "S2R R0, SR_CTAID.Y ;\nULDC UR4, c[0x0][0x154] ;\nI2FP.F32.U32 R2, R0 ;\nFMUL R2, R2, UR4 ;\nF2I.U32.TRUNC.NTZ R3, R2 ;\n"
      "IADD3 R3, -R3, RZ, RZ ;\nLDC R4, c[0x0][0x148] ;\nIMAD R0, R4, R3, R0 ;\nISETP.NE.AND P0, PT, R0, RZ, PT ;\n"
      "@P0 EXIT ;\nNOP ;\nEXIT ;\n";
  const auto imported = import_lines(lines, "architecture: \"sm_90\" grid { x: 4 y: 600 } block { x: 32 } cluster { x: 2 y: 3 }\n");
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->report.followed_ctas, 6U);
  EXPECT_EQ(traces::ctas_by_class(imported->kernel), (std::vector<uint64_t>{800, 1600}));
  // Cluster by cluster: two CTAs of the first row, four of the others.
  EXPECT_EQ(imported->kernel.grid[0], (traces::CtaRun{0, 2}));
  EXPECT_EQ(imported->kernel.grid[1], (traces::CtaRun{1, 4}));
}

TEST(Clusters, WhatIsNotExpressedIsNamedWithItsLine) {
  const auto refused = [](const std::string& lines) { return message_of(import_lines(lines + "EXIT ;\n", kLaunch)); };
  // All arrive at the first CTA of the cluster.
  EXPECT_THAT(refused(initialised(128) + arrives_at("RZ")),
              StartsWith("kernel.sass:9:1: SYNCS.ARRIVE.TRANS64.RED.A1T0: the CTAs of a cluster arrive at each other's mbarriers"));
  EXPECT_THAT(refused(initialised(64) + "MOV R2, 0x5 ;\n" + arrives_at("R2")),
              StartsWith("kernel.sass:10:1: SYNCS.ARRIVE.TRANS64.RED.A1T0: it is at CTA 5 of a cluster of 2"));
  EXPECT_THAT(
      refused(initialised(64) + "S2R R2, SR_TID.X ;\nISETP.LT.AND P1, PT, R2, 0x3, PT ;\nLOP3.LUT R2, R2, 0x1, RZ, 0xc0, !PT ;\n" +
              "MOV R3, UR4 ;\nPRMT R3, R2, 0x654, R3 ;\n@P1 SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R3+URZ], RZ ;\n"),
      HasSubstr("kernel.sass:12:1: SYNCS.ARRIVE.TRANS64.RED.A1T0: more of its lanes arrive at one CTA"));
  EXPECT_THAT(refused("UMOV UR4, 0x1000400 ;\nS2UR UR5, SR_CgaCtaId ;\nUMOV UR6, 0x1fff80 ;\nSYNCS.EXCH.64 URZ, [UR4], UR6 ;\n"),
              HasSubstr("kernel.sass:5:1: SYNCS.EXCH.64: it is at an mbarrier of another CTA of the cluster"));
  EXPECT_THAT(
      refused("S2R R5, SR_SWINHI ;\nMOV R4, 0x1000400 ;\nLD.E R9, [R4.64+0x80] ;\n"),
      HasSubstr("kernel.sass:4:1: LD.E: its guard or address hangs on S2R in line 2, which the listing does not know: it is in "
                "shared memory of the cluster"));
  EXPECT_THAT(message_of(import_files("configs/kernels/hopper_gemm_pairs_sm_90a.sass",
                                      "configs/kernels/hopper_gemm_pairs.textproto", {"cluster.y=1"})),
              HasSubstr("UTMALDG.2D.MULTICAST: its CTA mask is 3 in a cluster of 1; state the launch's, as cluster { x: 2 }"));
  EXPECT_THAT(message_of(import_lines("EXIT ;\n", "architecture: \"sm_90\" grid { x: 64 } block { x: 64 } cluster { x: 32 }")),
              HasSubstr("a cluster has 1 to 16 CTAs"));
}

}  // namespace
}  // namespace warpfold::sass
