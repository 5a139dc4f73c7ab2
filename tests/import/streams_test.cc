// Streams of imported kernels: their arrays and kinds of access, and the properties that the machine gets.

#include <gtest/gtest.h>

#include "support.h"
#include "workloads/common/raster_reuse.h"

namespace warpfold::sass {
namespace {

constexpr uint64_t kKib = 1024;
constexpr uint64_t kMib = 1024 * kKib;

access::CachesFor caches(uint64_t l1, uint64_t l2, uint32_t sms, uint32_t ctas_per_sm) {
  return [=](uint32_t, uint32_t, uint32_t) { return access::CacheSpec{l1, l2, sms, ctas_per_sm}; };
}

const traces::MemoryStream& stream(const traces::Kernel& kernel, const std::string& name) {
  return *std::ranges::find(kernel.streams, name, &traces::MemoryStream::name);
}

double dram(const traces::MemoryStream& stream) {
  return static_cast<double>(stream.dram_numerator) / static_cast<double>(stream.dram_denominator);
}

// Lane l of each warp loads or stores word l of line 4 x CTA + warp of the array at c[0x0][0x160].
const std::string kAddress =
    "  S2R R0, SR_TID.X ;\n"
    "  S2R R1, SR_CTAID.X ;\n"
    "  IMAD R0, R1, 0x80, R0 ;\n"
    "  MOV R2, 0x4 ;\n"
    "  IMAD.WIDE R2, R0, R2, c[0x0][0x160] ;\n";
const std::string kLaunch =
    "architecture: \"sm_80\" grid { x: 4096 } block { x: 128 } array { name: \"y\" bytes: 2097152 } parameter { array: \"y\" }";

Expected<Imported> import_with(const std::string& lines, const std::string& launch, const access::CachesFor& caches) {
  configs::KernelLaunch description;
  if (auto parsed = configs::parse_text("launch", launch, description); !parsed) return std::unexpected(parsed.error());
  return import_listing("kernel.sass", ".text.kernel:\n" + lines, description, {}, caches);
}

TEST(ImportedStreams, WhatIsLoadedAndStoredInPlaceIsTwo) {
  const std::string lines = kAddress + "  LDG.E R4, [R2.64] ;\n  STG.E [R2.64], R4 ;\n  EXIT ;\n";
  for (const access::CachesFor& each : {access::CachesFor(), caches(64 * kKib, 256 * kKib, 4, 2)}) {
    const auto imported = import_with(lines, kLaunch, each);
    ASSERT_TRUE(imported) << imported.error().text();
    ASSERT_EQ(imported->kernel.streams.size(), 2U);
    EXPECT_FALSE(stream(imported->kernel, "y.loads").write);
    EXPECT_DOUBLE_EQ(dram(stream(imported->kernel, "y.loads")), 1);
    EXPECT_TRUE(stream(imported->kernel, "y.stores").write);
    EXPECT_DOUBLE_EQ(dram(stream(imported->kernel, "y.stores")), 1);
    EXPECT_EQ(imported->report.arrays.at(0).touched, 2 * kMib);
    EXPECT_EQ(imported->report.arrays.at(0).dram, 4 * kMib);
  }
}

TEST(ImportedStreams, WhatIsLoadedTwiceHitsInL1) {
  const std::string lines = kAddress + "  LDG.E R4, [R2.64] ;\n  LDG.E R5, [R2.64] ;\n  EXIT ;\n";
  const auto imported = import_with(lines, kLaunch, caches(64 * kKib, 256 * kKib, 4, 2));
  ASSERT_TRUE(imported) << imported.error().text();
  const traces::MemoryStream& y = stream(imported->kernel, "y");
  EXPECT_EQ(y.l1_numerator, 1U);
  EXPECT_EQ(y.l1_denominator, 2U);
  EXPECT_DOUBLE_EQ(dram(y), 1);  // of the requests that go on to L2
  EXPECT_EQ(imported->report.arrays.at(0).in_l1, 2 * kMib);
  EXPECT_EQ(imported->report.arrays.at(0).dram, 2 * kMib);
}

// Half a warp loads y[x[i]] into the registers of the address, which the other half keeps.
const std::string kHalfGathers =
    "  S2R R0, SR_TID.X ;\n  S2R R1, SR_CTAID.X ;\n  MOV R5, 0x4 ;\n  IMAD R6, R1, 0x20, R0 ;\n"
    "  IMAD.WIDE R2, R6, R5, c[0x0][0x160] ;\n  ISETP.GE.AND P0, PT, R0, 0x10, PT ;\n  @P0 BRA `(.L_2) ;\n  MOV R7, RZ ;\n"
    ".L_1:\n  LDG.E R4, [R2.64] ;\n  IADD3 R2, P1, R2, 0x40, RZ ;\n  IADD3.X R3, RZ, R3, RZ, P1, !PT ;\n"
    "  IMAD.WIDE R4, R4, R5, c[0x0][0x168] ;\n  LDG.E R4, [R4.64] ;\n  MOV R5, 0x4 ;\n  IADD3 R7, R7, 0x1, RZ ;\n"
    "  ISETP.LT.AND P2, PT, R7, 0x40, PT ;\n  @P2 BRA `(.L_1) ;\n.L_2:\n  EXIT ;\n";

TEST(ImportedStreams, HalfAWarpsGatherIsOfItsArray) {
  const auto imported =
      import_lines(kHalfGathers,
                   "architecture: \"sm_80\" grid { x: 4096 } block { x: 32 } array { name: \"x\" bytes: 1048576 }\n"
                   "array { name: \"y\" bytes: 4194304 } parameter { array: \"x\" } parameter { array: \"y\" }\n"
                   "answer { line: 15 sectors: 16 }");
  ASSERT_TRUE(imported) << imported.error().text();
  const std::vector<ArrayReport>& arrays = imported->report.arrays;
  EXPECT_EQ(arrays.at(0).requested, 4096U * 64 * 64);
  EXPECT_EQ(arrays.at(1).requested, 4096U * 64 * 16 * 32);
  EXPECT_TRUE(arrays.at(0).linear);
  EXPECT_EQ(imported->report.followed_ctas, 1U);
  EXPECT_LT(imported->report.executed, 500U);  // of 576 that the warp issues
}

// sm_70 writes a register pair as [R2]. Arrays whose low words are the same are not the same lines.
TEST(ImportedStreams, ExtendedAddressesArePairsAlsoWithoutSayingSo) {
  const std::string lines = kAddress +
                            "  MOV R6, 0x4 ;\n  IMAD.WIDE R6, R0, R6, c[0x0][0x168] ;\n"
                            "  LDG.E.SYS R4, [R2] ;\n  LDG.E.SYS R5, [R6] ;\n  EXIT ;\n";
  const auto imported = import_with(lines, kLaunch + " array { name: \"z\" bytes: 2097152 } parameter { array: \"z\" }",
                                    caches(64 * kKib, 256 * kKib, 4, 2));
  ASSERT_TRUE(imported) << imported.error().text();
  ASSERT_EQ(imported->report.arrays.size(), 2U);
  for (const ArrayReport& array : imported->report.arrays) {
    EXPECT_EQ(array.in_l1, 0U) << array.name;
    EXPECT_EQ(array.dram, 2 * kMib) << array.name;
  }
}

// Atomics and .STRONG see the writes of other SMs.
TEST(ImportedStreams, LoadsPastL1AreTheirOwn) {
  const std::string lines = kAddress + "  LDG.E R4, [R2.64] ;\n  LDG.E.STRONG.GPU R5, [R2.64] ;\n  EXIT ;\n";
  const auto imported = import_with(lines, kLaunch, caches(64 * kKib, 256 * kKib, 4, 2));
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(stream(imported->kernel, "y.loads").l1_numerator, 0U);
  EXPECT_EQ(stream(imported->kernel, "y.loads_past_l1").l1_numerator, 0U);
  EXPECT_EQ(stream(imported->kernel, "y.loads_past_l1").dram_numerator, 0U);
}

// All lanes but the first leave; the address that it goes on with is as linear as before.
TEST(ImportedStreams, LanesThatHaveEndedDoNotMakeAnAddressVary) {
  const std::string lines =
      "  S2R R0, SR_TID.X ;\n"
      "  S2R R1, SR_CTAID.X ;\n"
      "  IMAD R4, R1, 0x3, R0 ;\n"
      "  ISETP.NE.AND P0, PT, R0, RZ, PT ;\n"
      "  @P0 EXIT ;\n"
      "  MOV R4, R1 ;\n"
      "  MOV R2, 0x4 ;\n"
      "  IMAD.WIDE R2, R4, R2, c[0x0][0x160] ;\n"
      "  STG.E [R2.64], R4 ;\n"
      "  EXIT ;\n";
  const auto imported = import_with(lines, kLaunch, {});
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_LE(imported->report.arrays.at(0).touched, 4096U * 4 + 32);  // else a sector in each CTA
}

// CTA x reads word x xor 5. Each byte comes once, as without a GPU.
TEST(ImportedStreams, AreNotFollowedWhereAddressesAreNotLinear) {
  const std::string lines =
      "  S2R R1, SR_CTAID.X ;\n"
      "  LOP3.LUT R4, R1, 0x5, RZ, 0x3c, !PT ;\n"
      "  MOV R2, 0x4 ;\n"
      "  IMAD.WIDE R2, R4, R2, c[0x0][0x160] ;\n"
      "  LDG.E R4, [R2.64] ;\n"
      "  EXIT ;\n";
  const auto imported = import_with(lines, kLaunch, caches(64 * kKib, 8 * kKib, 4, 2));
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_FALSE(imported->report.arrays.at(0).linear);
  EXPECT_EQ(imported->report.arrays.at(0).dram, imported->report.arrays.at(0).touched);
  EXPECT_EQ(imported->kernel.streams.at(0).l1_numerator, 0U);
}

TEST(ImportedStreams, OfWhatFitsIntoL2ComeOnce) {
  const std::string lines = kAddress + "  LDG.E R4, [R2.64] ;\n  LDG.E R5, [R2.64] ;\n  EXIT ;\n";
  const auto imported = import_with(lines, kLaunch, caches(0, 2 * kMib, 4, 2));
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->report.l2.why, Followed::Why::kFits);
  EXPECT_DOUBLE_EQ(dram(stream(imported->kernel, "y")), 0.5);
}

// The generators' walk over waves of tiles is another model of the same reuse. 132 CTAs at a time, 32 along N before the next M.
TEST(ImportedStreams, OfAGemmComeFromDramAsTheGeneratorsWavesSay) {
  const auto imported = import_files("configs/kernels/hopper_gemm_sm_90a.sass", "configs/kernels/hopper_gemm.textproto", {},
                                     caches(0, 50 * kMib, 132, 1));
  ASSERT_TRUE(imported) << imported.error().text();
  const auto waves = workloads::raster_traffic({.clusters_m = 64,
                                                .clusters_n = 32,
                                                .along_m = true,
                                                .band_clusters = 32,
                                                .concurrent_clusters = 132,
                                                .a_panel_bytes = 2 * kMib,
                                                .b_panel_bytes = 4 * kMib,
                                                .l2_bytes = 50 * kMib});
  EXPECT_NEAR(static_cast<double>(imported->report.arrays.at(0).dram), static_cast<double>(waves->a.dram),
              0.01 * static_cast<double>(waves->a.dram));
  EXPECT_NEAR(static_cast<double>(imported->report.arrays.at(1).dram), static_cast<double>(waves->b.dram),
              0.01 * static_cast<double>(waves->b.dram));
}

}  // namespace
}  // namespace warpfold::sass
