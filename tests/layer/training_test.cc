// Weights and operations of a whole model, whatever GPUs share it.

#include "workloads/layer/training.h"

#include <gtest/gtest.h>

#include "tests/layer/support.h"

namespace warpfold::layer {
namespace {

// A gated layer with biases, whose gate and up projections share one bias.
configs::TransformerModel gated() {
  configs::TransformerModel model = gpt();
  model.set_gated(true);
  return model;
}

TEST(Training, ParametersDoNotDependOnTheGpusOfALayer) {
  for (configs::TransformerModel model : {llama(), gpt(), adaptive(), gated()}) {
    const uint64_t whole = parameters_of(model, build_layer(model, {})).all();
    model.set_tensor_parallel(2);
    EXPECT_EQ(parameters_of(model, build_layer(model, {})).all(), whole) << model.DebugString();
    EXPECT_EQ(parameters_of(model, build_layer(model, {.stacked = false})).all(), whole) << model.DebugString();
  }
}

// Of GPT's weights a GPU of two has half of the products' and of their biases, and all norms and biases behind sums.
TEST(Training, AGpuHasPartsOfSplitWeightsAndTheOthersWhole) {
  configs::TransformerModel model = gpt();
  const uint64_t hidden = model.hidden();
  const uint64_t split = (4 * hidden + 2 * model.feed_forward()) * hidden + 3 * hidden + model.feed_forward();
  const uint64_t whole = 2 * 2 * hidden + 2 * hidden;
  EXPECT_EQ(parameters_of(model, build_layer(model, {})).on_gpu, split + whole);
  model.set_tensor_parallel(2);
  EXPECT_EQ(parameters_of(model, build_layer(model, {})).on_gpu, split / 2 + whole);
}

// Each GPU makes the modulation of a sequence: work of the model's once.
TEST(Training, OperationsDoNotDependOnTheGpusOfALayer) {
  for (configs::TransformerModel model : {llama(), gpt(), adaptive(), gated()}) {
    const double whole = step_flops(model, build_layer(model, {}), false).counted();
    model.set_tensor_parallel(2);
    EXPECT_EQ(step_flops(model, build_layer(model, {}), false).counted(), whole) << model.DebugString();
    model.set_context_parallel(model.kv_heads() / 2);
    EXPECT_EQ(step_flops(model, build_layer(model, {}), false).counted(), whole) << model.DebugString();
  }
}

}  // namespace
}  // namespace warpfold::layer
