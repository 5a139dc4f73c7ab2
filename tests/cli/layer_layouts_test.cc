// The shortest path through the layouts of a forward pass.

#include "tools/warpfold/figures/layer_layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpfold::cli {
namespace {

using testing::ElementsAre;

// input -> a -> b -> c, which reads the input as well.
class Chain : public testing::Test {
 protected:
  Chain() {
    for (const char* name : {"input", "of a", "of b", "of c"}) graph_.tensors.push_back({.name = name});
    for (int k = 0; k < 3; ++k) {
      graph_.tensors[static_cast<size_t>(k) + 1].producer = k;
      kernels_.push_back({std::string(1, static_cast<char>('a' + k)), {k}, {k}, {k + 1}});
      version_.add_kernels()->set_kind("elementwise");
    }
    kernels_[2].inputs.push_back(0);
  }

  configs::LayerLayouts path(const std::vector<LayoutTimes>& times) const {
    return layer_layouts(graph_, kernels_, version_, times, {{0, 3}, {1, 1}, {2, 2}, {3, 4}}).value();
  }

  layer::Graph graph_;
  std::vector<layer::FusedKernel> kernels_;
  configs::LayerVersion version_;
};

TEST_F(Chain, StaysWhereNothingIsGained) {
  const configs::LayerLayouts made = path({{{5, 5}}, {{5, 4.5}}, {{5, 5}}});
  EXPECT_DOUBLE_EQ(made.path_us(), 15);  // 0.5 us do not pay for turning
  EXPECT_DOUBLE_EQ(made.best_us(), 14.5);
  EXPECT_NEAR(made.excess_percent(), 100 * (15 / 14.5 - 1), 1e-9);
}

// b gains 9 us by tokens innermost: its input is transposed before it, its result after it.
TEST_F(Chain, TurnsTensorsWhereThatPays) {
  const configs::LayerLayouts made = path({{{5, 9}}, {{10, 1}}, {{5, {}}}});
  EXPECT_DOUBLE_EQ(made.path_us(), 5 + 1 + 1 + 2 + 5);
  EXPECT_EQ(made.kernels(1).reads(), "tokens");
  EXPECT_THAT(made.kernels(1).transposed(), ElementsAre("of a"));
  EXPECT_THAT(made.kernels(2).transposed(), ElementsAre("of b"));
  EXPECT_DOUBLE_EQ(made.features_us(), 20);
}

// A product in front stores the input of b, and no kernel transposes a tensor; c's other operand is the unchanged input.
TEST_F(Chain, HasProductsTurnTensors) {
  const configs::LayerLayouts made = path({{{5, 5}, true}, {{10, 1}, true}, {{5, {}}}});
  EXPECT_DOUBLE_EQ(made.path_us(), 5 + 1 + 5);
  EXPECT_EQ(made.kernels(0).stores(), "tokens");
  EXPECT_EQ(made.kernels(1).stores(), "features");
}

// The residual connection's operand is turned too, and the layer's result ends as the next one reads it.
TEST_F(Chain, CountsResidualConnectionsAndTheResult) {
  const configs::LayerLayouts made = path({{{9, 1}}, {{9, 1}}, {{9, 1}, true}});
  EXPECT_DOUBLE_EQ(made.path_us(), 3 + 1 + 1 + 3 + 1);
  EXPECT_THAT(made.kernels(2).transposed(), ElementsAre("input"));
  EXPECT_EQ(made.kernels(2).stores(), "features");
}

TEST_F(Chain, NeedsALayoutForEachKernel) {
  const auto made = layer_layouts(graph_, kernels_, version_, {{{5, 5}}, LayoutTimes{}, {{5, 5}}}, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().text, "--layouts: b has no layout that it can read");
}

}  // namespace
}  // namespace warpfold::cli
