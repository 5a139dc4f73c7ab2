#include "traces/kernel.h"

#include <gtest/gtest.h>

#include <limits>

#include "samples.h"

namespace warpfold::traces {
namespace {

constexpr uint64_t kMaximum = std::numeric_limits<uint64_t>::max();

TEST(IssuedInstructions, CountsNestedLoopsByClass) {
  const Kernel kernel = sample();
  const Role& producer = kernel.roles[0];
  const Role& consumer = kernel.roles[1];
  // USETMAXREG, EXIT and tiles x (IADD3 + steps x 3)
  EXPECT_EQ(issued_instructions(kernel, producer, kernel.cta_classes[0]), 2 + 2 * (1 + 16 * 3));
  EXPECT_EQ(issued_instructions(kernel, producer, kernel.cta_classes[1]), 2 + 1 * (1 + 3 * 3));
  // LDS, EXIT and tiles x (2 x 5 + 3)
  EXPECT_EQ(issued_instructions(kernel, consumer, kernel.cta_classes[0]), 2 + 2 * 13);
  EXPECT_EQ(issued_instructions(kernel, consumer, kernel.cta_classes[1]), 2 + 1 * 13);
}

TEST(IssuedInstructions, SumsOverWarpsAndCtas) {
  // Eight full and two edge CTAs, four warps a role.
  EXPECT_EQ(issued_instructions(sample()), 8 * 4 * (100 + 28) + 2 * 4 * (12 + 15));
}

TEST(IssuedInstructions, DoesNotOverflowWhereTripCountsAreHuge) {
  Kernel kernel = sample();
  kernel.cta_classes[0].values = {uint64_t{1} << 40U, uint64_t{1} << 40U};
  EXPECT_EQ(issued_instructions(kernel), kMaximum);
  // 2^40 x (1 + 3 x 2^10) + 2 instructions of one warp still fit.
  kernel.cta_classes[0].values = {uint64_t{1} << 40U, uint64_t{1} << 10U};
  EXPECT_EQ(issued_instructions(kernel, kernel.roles[0], kernel.cta_classes[0]), (uint64_t{1} << 40U) * 3073 + 2);
}

TEST(IssuedInstructions, IgnoresClassesThatNoCtaHas) {
  Kernel kernel = sample();
  kernel.cta_classes.push_back({"unused", {kMaximum, kMaximum}});
  EXPECT_EQ(issued_instructions(kernel), issued_instructions(sample()));
}

TEST(Kernel, CountsWarpsAndCtas) {
  const Kernel kernel = sample();
  EXPECT_EQ(kernel.warps_per_cta(), 8);
  EXPECT_EQ(kernel.ctas(), 10);
  EXPECT_EQ(ctas_by_class(kernel), (std::vector<uint64_t>{8, 2}));
}

TEST(Kernel, TripsComeFromTheClassWhereAParameterIsNamed) {
  const CtaClass cta_class{"edge", {7, 9}};
  EXPECT_EQ(trips({.literal = 3}, cta_class), 3);
  EXPECT_EQ(trips({.parameter = 1}, cta_class), 9);
}

}  // namespace
}  // namespace warpfold::traces
