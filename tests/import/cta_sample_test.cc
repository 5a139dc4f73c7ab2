// Launches whose CTAs take more paths than can be executed: a stratified sample with an interval.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support.h"
#include "traces/import/cta_sample.h"

namespace warpfold::sass {
namespace {

// CTAs whose index has one of the bits of `mask` issue two instructions less. Thread i stores at x[i].
std::string kinds(const std::string& index, const std::string& mask) {
  return "S2R R0, SR_CTAID.X ;\nS2R R5, SR_TID.X ;\nIMAD R5, R0, 0x20, R5 ;\nMOV R6, 0x4 ;\nIMAD.WIDE R2, R5, R6, c[0x0][0x160] "
         ";\n" +
         index + "LOP3.LUT R1, R0, " + mask +
         ", RZ, 0xc0, !PT ;\nISETP.NE.AND P0, PT, R1, RZ, PT ;\n@P0 BRA `(.L_1) ;\nFADD R4, R4, R4 ;\nFADD R4, R4, R4 ;\n.L_1:\n"
         "STG.E [R2.64], R5 ;\nEXIT ;\n";
}

std::string launch(uint32_t ctas) {
  return "architecture: \"sm_80\" grid { x: " + std::to_string(ctas) +
         " } block { x: 32 } array { name: \"x\" bytes: " + std::to_string(ctas * 128) + " } parameter { array: \"x\" }";
}

constexpr uint64_t kFewest = 10;  // instructions of a warp

TEST(CtaSample, RepresentsManyCtasOfTwoKinds) {
  constexpr uint32_t kCtas = 65'536;
  const auto imported = import_lines(kinds("", "0x1"), launch(kCtas));
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_LE(imported->report.followed_ctas, 1100U);
  EXPECT_EQ(imported->kernel.ctas(), kCtas);
  EXPECT_EQ(imported->report.sampled_ctas + imported->report.followed_ctas - imported->report.drawn_ctas, kCtas);
  EXPECT_EQ(imported->kernel.cta_classes.size(), 2U);
  const double exact = kCtas * (static_cast<double>(kFewest) + 1);
  const double off = std::abs(static_cast<double>(traces::issued_instructions(imported->kernel)) / exact - 1);
  EXPECT_GT(imported->report.instructions_error, 0);
  EXPECT_LE(imported->report.instructions_error, 0.02);
  EXPECT_LE(off, imported->report.instructions_error);
  EXPECT_THAT(imported->kernel.source, testing::HasSubstr("CTAs drawn at random represent "));
  // Addresses are linear in the index, and so each CTA of a stratum has its own.
  EXPECT_EQ(imported->report.arrays.at(0).touched, kCtas * 128U);
  EXPECT_TRUE(imported->report.arrays.at(0).linear);
}

TEST(CtaSample, IsNotTakenWhereEveryCtaCanBeExecuted) {
  const auto imported = import_lines(kinds("", "0x1"), launch(2000));
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(imported->report.drawn_ctas, 0U);
  EXPECT_EQ(traces::issued_instructions(imported->kernel), 2000 * (kFewest + 1));
}

TEST(CtaSample, IsNotTakenWhereAllCtasAreWanted) {
  configs::KernelLaunch description;
  ASSERT_TRUE(configs::parse_text("launch", launch(6000), description));
  const auto imported = import_listing("k.sass", " Function : k\n" + kinds("", "0x1"), description, {}, {}, {.all_ctas = true});
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(imported->report.followed_ctas, 6000U);
  EXPECT_EQ(traces::issued_instructions(imported->kernel), 6000 * (kFewest + 1));
}

// Kinds by a bit of the product with an odd number, as a hash has them: the sum that is known lies within the interval.
TEST(CtaSample, HasTheSumInItsInterval) {
  constexpr uint32_t kCtas = 20'000;
  int inside = 0;
  constexpr int kKernels = 40;
  for (uint32_t k = 0; k < kKernels; ++k) {
    const uint32_t factor = 0x9e3779b1U + 2 * k * k;
    const uint32_t mask = 1U << (8 + k % 16);
    uint64_t exact = 0;
    for (uint32_t cta = 0; cta < kCtas; ++cta) exact += kFewest + 1 + ((cta * factor & mask) == 0 ? 2 : 0);
    const auto imported =
        import_lines(kinds("IMAD R0, R0, " + std::to_string(factor) + ", RZ ;\n", std::to_string(mask)), launch(kCtas));
    ASSERT_TRUE(imported) << message_of(imported);
    const double off =
        std::abs(static_cast<double>(traces::issued_instructions(imported->kernel)) / static_cast<double>(exact) - 1);
    inside += off <= imported->report.instructions_error ? 1 : 0;
  }
  EXPECT_GE(inside, kKernels * 9 / 10);
}

TEST(CtaSample, StrataAreBoxesThatCoverTheWhole) {
  const std::vector<Stratum> strata = strata_of({{5, 0, 1}, {100, 7, 2}}, 0b011, 32);
  uint64_t ctas = 0;
  for (const Stratum& stratum : strata) {
    EXPECT_LE(product_of(stratum.extent, 0b011), 32U);
    EXPECT_EQ(stratum.extent[2], 2U);
    const auto place = drawn_place(stratum, 0b011);
    for (size_t d = 0; d < 3; ++d) EXPECT_LT(place[d], stratum.extent[d]);
    EXPECT_EQ(place[2], 0U);
    ctas += product_of(stratum.extent, 0b111);
  }
  EXPECT_EQ(ctas, 1400U);
}

TEST(CtaSample, OneCtaOfEachStratumIsExact) {
  EXPECT_EQ(half_width({{1, 1, 100}, {1, 1, 300}}), 0);
  // 1.96 x sqrt(2 x 10^2 x (20^2 / 2) x 0.9)
  EXPECT_NEAR(half_width({{10, 1, 100}, {10, 1, 120}}), 371.9, 0.1);
}

}  // namespace
}  // namespace warpfold::sass
