#include <gtest/gtest.h>

#include "isa/architecture.h"
#include "support.h"
#include "workloads/common/gpu_caches.h"

// Our own kernels from their listings, against the results of their sources.

namespace warpfold::sass {
namespace {

TEST(Import, PhiloxGoesRoundAsItsSourceDoes) {
  const auto imported = import_files("philox_sm_80.sass", "philox_7.textproto");
  ASSERT_TRUE(imported) << imported.error().text();
  const traces::Kernel& kernel = imported->kernel;
  constexpr uint64_t kWords = 2097152;
  constexpr uint64_t kThreads = 1728 * 128;
  uint64_t passes = 0;  // of warps: the words of a warp's first thread decide
  for (uint64_t warp = 0; warp < kThreads / 32; ++warp) passes += (kWords - warp * 32 + kThreads - 1) / kThreads;
  const auto counts = counts_of(kernel);
  EXPECT_EQ(counts.at("STG.E"), passes);
  EXPECT_EQ(counts.at("IMAD.WIDE.U32"), passes * 26);  // 14 a call, of which the two calls share two
  EXPECT_EQ(imported->report.arrays.at(0).touched, kWords * 4);
  EXPECT_EQ(imported->report.arrays.at(0).requested, kWords * 4);
  EXPECT_EQ(kernel.cta_classes.size(), 2U);
  EXPECT_EQ(imported->report.followed_ctas, 2U);
  EXPECT_TRUE(imported->report.control_codes);
}

TEST(Import, GemmHasTheProductsAndCopiesOfItsShape) {
  const auto imported = import_files("gemm_sm_80.sass", "gemm.textproto");
  ASSERT_TRUE(imported) << imported.error().text();
  const auto counts = counts_of(imported->kernel);
  constexpr uint64_t kSide = 4096;
  EXPECT_EQ(counts.at("HMMA.16816.F32"), kSide / 16 * (kSide / 8) * (kSide / 16));
  EXPECT_EQ(counts.at("LDGSTS.E.BYPASS.LTC128B.128"), 2 * (kSide / 128) * (kSide / 128) * (kSide / 32) * 4 * 4);
  for (const size_t operand : {0U, 1U}) {
    EXPECT_EQ(imported->report.arrays.at(operand).touched, kSide * kSide * 2);
    EXPECT_EQ(imported->report.arrays.at(operand).requested, kSide * kSide * 2 * (kSide / 128));
  }
  EXPECT_EQ(imported->report.arrays.at(2).touched, kSide * kSide * 2);
  EXPECT_EQ(imported->report.followed_ctas, 1U);
  ASSERT_EQ(imported->kernel.roles.size(), 1U);
  // The last two passes have nothing left to fetch.
  EXPECT_EQ(std::get<traces::Loop>(imported->kernel.roles[0].body.at(1)).trips.literal, 126U);
}

const std::string kGemm = "ampere_gemm { m: 4096 n: 4096 k: 4096 }";

TEST(Import, GemmMultipliesAndCopiesAsTheGeneratorDoes) {
  const auto imported = import_files("gemm_sm_80.sass", "gemm.textproto");
  ASSERT_TRUE(imported);
  const auto ours = counts_of(imported->kernel);
  const auto theirs = counts_of(generated(kGemm));
  for (const char* name : {"HMMA.16816.F32", "LDGSTS.E.BYPASS.LTC128B.128"}) {
    EXPECT_EQ(ours.at(name), theirs.at(name)) << name;
  }
}

// Other compiled code of the same tile: 64 x 64 per warp, three stages, as many products and copies, fewer instructions around
// them. The two times agree to 5 %; they differ because the two CTAs of an SM meet in other phases.
TEST(Import, GemmTakesTheTimeOfTheGenerators) {
  const configs::Gpu gpu = a100();
  const auto imported = import_files("gemm_sm_80.sass", "gemm.textproto", {}, workloads::caches_of(gpu));
  ASSERT_TRUE(imported);
  const traces::Kernel recorded = generated(kGemm);
  const double time = time_of(imported->kernel, a100()) / time_of(recorded, a100());
  EXPECT_LT(traces::issued_instructions(imported->kernel), traces::issued_instructions(recorded));
  EXPECT_NEAR(time, 1, 0.05);
}

TEST(Import, TriadTakesTheTimeOfTheGenerators) {
  const configs::Gpu gpu = a100();
  const auto imported =
      import_files("configs/kernels/elementwise_sm_80.sass", "configs/kernels/scale_add.textproto", {}, workloads::caches_of(gpu));
  ASSERT_TRUE(imported);
  const traces::Kernel triad = generated("elementwise { operation: TRIAD elements: 16777216 }");
  EXPECT_NEAR(time_of(imported->kernel, a100()) / time_of(triad, a100()), 1, 0.01);
}

TEST(Import, RaggedEndsAreClassesOfTheirOwn) {
  // 10,000 rows, four a CTA: the last of 2,501 CTAs leaves at once.
  const auto imported = import_files("configs/kernels/elementwise_sm_80.sass", "configs/kernels/row_sums.textproto");
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(traces::ctas_by_class(imported->kernel), (std::vector<uint64_t>{2500, 1}));
  const auto counts = counts_of(imported->kernel);
  EXPECT_EQ(counts.at("LDG.E"), 10000U * 125);  // 4,000 columns
  EXPECT_EQ(counts.at("STG.E"), 10000U);
  EXPECT_EQ(counts.at("SHFL.BFLY"), 10000U * 5);
  EXPECT_EQ(imported->report.arrays.at(0).touched, 160'000'000U);
}

TEST(Import, LanesLeaveLoopsOneAfterTheOther) {
  // 4,010 columns: ten lanes go round once more.
  const auto imported = import_files("configs/kernels/elementwise_sm_80.sass", "configs/kernels/row_sums.textproto",
                                     {"parameter.columns.value=4010"});
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(counts_of(imported->kernel).at("LDG.E"), 10000U * 126);
}

TEST(Import, TenTimesTheTripsCostNoMore) {
  const auto executed = [](const std::string& columns) {
    return import_files("configs/kernels/elementwise_sm_80.sass", "configs/kernels/row_sums.textproto",
                        {"parameter.columns.value=" + columns})
        ->report.executed;
  };
  EXPECT_LE(executed("320000"), executed("32000") * 12 / 10);
  const auto gemm = [](const std::string& k) {
    return import_files("gemm_sm_80.sass", "gemm.textproto", {"parameter.k.value=" + k})->report.executed;
  };
  EXPECT_LE(gemm("40960"), gemm("4096") * 12 / 10);
}

TEST(Import, ManyCtasCostNoMore) {
  const auto imported = import_files("configs/kernels/elementwise_sm_80.sass", "configs/kernels/scale_add.textproto",
                                     {"grid.x=1000000", "parameter.n.value=256000000", "array.x.bytes=4096000000",
                                      "array.y.bytes=4096000000", "array.out.bytes=4096000000"});
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->report.followed_ctas, 1U);
  EXPECT_EQ(imported->kernel.ctas(), 1'000'000U);
}

TEST(Import, WrittenTextReadsBack) {
  const auto imported = import_files("gemm_sm_80.sass", "gemm.textproto");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->kernel.streams.size(), 3U);
  EXPECT_TRUE(imported->kernel.streams[2].write);
  EXPECT_EQ(imported->kernel.streams[0].dram_denominator, 32U);  // each tile of A is read by 32 CTAs
}

// Each call has its own copy of the called function, at every depth.
TEST(Import, FunctionsCallFunctionsThatCallFunctions) {
  const std::string ret = "RET.REL.NODEC R8 `(kernel) ;\n";
  const auto calls = [](const std::string& label) { return "CALL.REL.NOINC `(" + label + ") ;\n"; };
  const std::string inner = ".L_2:\n" + calls(".L_3") + calls(".L_3") + ret + ".L_3:\nIADD3 R1, R1, 0x1, RZ ;\n" + ret;
  const auto imported =
      import_lines(calls(".L_1") + calls(".L_2") + "EXIT ;\n.L_1:\n" + calls(".L_2") + calls(".L_2") + ret + inner,
                   "architecture: \"sm_80\" grid { x: 1 } block { x: 32 }\n");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(counts_of(imported->kernel).at("IADD3"), 6U);
}

// A result of the last pass is missing behind the loop: the loop's last instructions stall longer, and nothing is added.
TEST(Import, ListingsWithoutEncodingsKeepTheirInstructions) {
  std::string lines = "CS2R R2, SRZ ;\nMOV R0, RZ ;\n.L_1:\nIADD3 R0, R0, 0x1, RZ ;\n";
  for (int i = 10; i < 40; ++i) lines += "MOV R" + std::to_string(i) + ", RZ ;\n";
  lines +=
      "ISETP.NE.AND P1, PT, R0, 0x64, PT ;\nMOV R40, RZ ;\nMOV R41, RZ ;\nMOV R42, RZ ;\nMOV R43, RZ ;\nMOV R44, RZ ;\nMOV R45, RZ "
      ";\n"
      "DFMA R4, R2, R2, R2 ;\n@P1 BRA `(.L_1) ;\nDSETP.NEU.AND P0, PT, R4, R2, PT ;\nEXIT ;\n";
  const auto imported = import_lines(lines, "architecture: \"sm_70\" grid { x: 1 } block { x: 32 }");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(traces::issued_instructions(imported->kernel), 2U + 100 * 40 + 2);
  EXPECT_FALSE(counts_of(imported->kernel).contains("NOP"));
}

}  // namespace
}  // namespace warpfold::sass
