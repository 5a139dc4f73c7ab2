// Loops of strided passes, as TensorIterator orders and joins them.

#include "tools/profile/strided.h"

#include <gmock/gmock.h>

namespace warpfold::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Lists = std::vector<std::vector<uint64_t>>;

std::optional<StridedPass> pass(const std::string& name, const Lists& extents, const Lists& strides, size_t arguments) {
  return strided_pass_of({.name = name, .inputs = extents, .types = {}, .strides = strides}, arguments);
}

// The result of a copy is its first tensor. Heads and tokens change places: no two loops join.
TEST(StridedPass, ACopyHasItsResultFirst) {
  const auto copy =
      pass("aten::copy_", {{16, 16, 559, 64}, {16, 16, 559, 64}, {}}, {{572416, 35776, 64, 1}, {572416, 64, 1024, 1}, {}}, 1);
  ASSERT_TRUE(copy);
  EXPECT_THAT(copy->extents, ElementsAre(64, 559, 16, 16));
  EXPECT_THAT(copy->strides, ElementsAre(ElementsAre(1, 64, 35776, 572416), ElementsAre(1, 1024, 64, 572416)));
}

// Batch and head are 1 or dense in both tensors.
TEST(StridedPass, LoopsJoinWhereEveryTensorIsDense) {
  const auto copy = pass("aten::copy_", {{1, 8, 4, 64}, {1, 8, 4, 64}}, {{2048, 256, 64, 1}, {9999, 768, 64, 1}}, 1);
  ASSERT_TRUE(copy);
  EXPECT_THAT(copy->extents, ElementsAre(256, 8));
  EXPECT_THAT(copy->strides, ElementsAre(ElementsAre(1, 256), ElementsAre(1, 768)));
  const auto dense = pass("aten::neg", {{4, 8}}, {{8, 1}}, 1);
  ASSERT_TRUE(dense);
  EXPECT_THAT(dense->extents, ElementsAre(32));
}

// A new result is dense in the order of its argument's strides: both are passed in memory's order, as one loop or with gaps.
TEST(StridedPass, ANewResultHasTheOrderOfItsArgument) {
  const auto neg = pass("aten::neg", {{16, 16, 559, 32}}, {{572416, 64, 1024, 1}}, 1);
  ASSERT_TRUE(neg);
  EXPECT_THAT(neg->extents, ElementsAre(32, 16 * 559 * 16));
  EXPECT_THAT(neg->strides, ElementsAre(ElementsAre(1, 32), ElementsAre(1, 64)));
}

// A broadcast argument has strides of 0, also if the operator's other argument is a scalar.
TEST(StridedPass, Broadcasts) {
  const auto scale = pass("aten::mul", {{16, 559, 1024}, {16, 559, 1}}, {{572416, 1024, 1}, {559, 1, 1}}, 2);
  ASSERT_TRUE(scale);
  EXPECT_THAT(scale->extents, ElementsAre(1024, 16 * 559));
  EXPECT_THAT(scale->strides, ElementsAre(ElementsAre(1, 1024), ElementsAre(1, 1024), ElementsAre(0, 1)));
  const auto row = pass("aten::mul", {{1024}, {16, 1024}}, {{1}, {1024, 1}}, 2);
  ASSERT_TRUE(row);
  EXPECT_THAT(row->strides, ElementsAre(ElementsAre(1, 1024), ElementsAre(1, 0), ElementsAre(1, 1024)));
  const auto scalar = pass("aten::add", {{8, 8}, {}}, {{1, 8}, {}}, 2);
  ASSERT_TRUE(scalar);
  EXPECT_THAT(scalar->strides, ElementsAre(ElementsAre(1), ElementsAre(1), ElementsAre(0)));
}

// In place, the first tensor is the result and an argument, and its strides come first in the order.
TEST(StridedPass, InPlace) {
  const auto add = pass("aten::add_", {{4, 8}, {4, 8}}, {{8, 1}, {1, 4}}, 2);
  ASSERT_TRUE(add);
  EXPECT_THAT(add->extents, ElementsAre(8, 4));
  EXPECT_THAT(add->strides, ElementsAre(ElementsAre(1, 8), ElementsAre(1, 8), ElementsAre(4, 1)));
}

TEST(StridedPass, NoneWithoutStridesOrAShape) {
  EXPECT_FALSE(pass("aten::neg", {{4, 8}}, {}, 1));
  EXPECT_FALSE(pass("aten::neg", {{4, 8}}, {{1}}, 1));
  EXPECT_FALSE(pass("aten::copy_", {{4, 8}}, {{8, 1}}, 1));
  EXPECT_FALSE(pass("aten::add", {{4, 8}, {3, 8}}, {{8, 1}, {8, 1}}, 2));
  EXPECT_FALSE(pass("aten::neg", {{0, 8}}, {{8, 1}}, 1));
  EXPECT_FALSE(pass("aten::neg", {{1u << 20, 1u << 20}}, {{1u << 20, 1}}, 1));
  EXPECT_FALSE(pass("aten::neg", {}, {}, 1));
  const auto one = pass("aten::neg", {{1, 1}}, {{1, 1}}, 1);
  ASSERT_TRUE(one);
  EXPECT_THAT(one->extents, IsEmpty());
}

}  // namespace
}  // namespace warpfold::profile
