// Operators of a layer and the tensors between them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/layer/support.h"

namespace warpfold::layer {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const Graph& graph, Pass pass) {
  std::vector<std::string> names;
  for (const Operator& each : graph.operators) {
    if (each.pass == pass) names.push_back(each.name);
  }
  return names;
}

TEST(Graph, ForwardPassOfALlamaBlock) {
  const Graph graph = build_layer(llama(), {.backward = false, .stacked = false});
  EXPECT_THAT(names_of(graph, Pass::kForward),
              ElementsAre("norm 1", "Q", "K", "V", "rope Q", "rope K", "attention", "out", "residual 1", "norm 2", "gate", "up",
                          "silu", "multiply", "linear 2", "residual 2"));
}

// From the last operator to the first; a tensor that two operators read has a sum of two gradients.
TEST(Graph, BackwardPassOfALlamaBlock) {
  const Graph graph = build_layer(llama(), {});
  EXPECT_THAT(names_of(graph, Pass::kBackward),
              ElementsAre("linear 2 dX", "linear 2 dW", "multiply dX", "silu dX", "gate up dX", "gate up dW", "norm 2 dW",
                          "norm 2 dX", "add d residual 1", "out dX", "out dW", "attention dX", "rope K dX", "rope Q dX", "Q K V dX",
                          "Q K V dW", "norm 1 dW", "norm 1 dX", "add d input"));
}

TEST(Graph, EveryTensorHasItsProducersBeforeItsReaders) {
  for (const configs::TransformerModel& model : {llama(), gpt(), adaptive()}) {
    for (const bool stacked : {false, true}) {
      const Graph graph = build_layer(model, {.stacked = stacked});
      for (size_t index = 0; index < graph.operators.size(); ++index) {
        for (const int id : graph.operators[index].inputs) {
          for (const int producer : graph.producers(id))
            EXPECT_LT(producer, static_cast<int>(index)) << graph.operators[index].name;
        }
      }
    }
  }
}

// A product's gradients are two products of as many operations each.
TEST(Graph, BackwardPassHasTwiceTheOperationsOfItsProducts) {
  const Graph graph = build_layer(gpt(), {});
  uint64_t forward = 0;
  uint64_t backward = 0;
  for (const Operator& each : graph.operators) {
    if (each.work == Work::kProduct) (each.pass == Pass::kForward ? forward : backward) += each.flops;
  }
  EXPECT_EQ(backward, 2 * forward);
}

// Stacked projections read their input once and are the same operations.
TEST(Graph, StackedProjectionsHaveTheSameOperations) {
  const auto products = [](const Graph& graph) {
    uint64_t flops = 0;
    for (const Operator& each : graph.operators) flops += each.work == Work::kProduct ? each.flops : 0;
    return flops;
  };
  EXPECT_EQ(products(build_layer(llama(), {.stacked = true})), products(build_layer(llama(), {.stacked = false})));
}

// The backward pass of RMSNorm reads its input and the root, never its result.
TEST(Graph, RmsNormNeedsItsInputAndNotItsResult) {
  const Graph graph = build_layer(llama(), {});
  const Operator& gradient = operator_called(graph, "norm 2 dX");
  std::vector<std::string> read;
  for (const int id : gradient.inputs) read.push_back(graph.tensor(id).name);
  EXPECT_THAT(read, ElementsAre("d norm 2", "residual 1", "rstd of norm 2", "weight of norm 2"));
}

TEST(Graph, GpusThatShareALayerAddUpTwiceForwardAndTwiceBackward) {
  configs::TransformerModel model = llama();
  model.set_tensor_parallel(2);
  const Graph graph = build_layer(model, {});
  const auto reduces = [&](Pass pass) {
    return std::ranges::count_if(graph.operators,
                                 [&](const Operator& each) { return each.work == Work::kAllReduce && each.pass == pass; });
  };
  EXPECT_EQ(reduces(Pass::kForward), 2);
  EXPECT_EQ(reduces(Pass::kBackward), 2);
  EXPECT_EQ(operator_called(graph, "linear 2").product.k, llama().feed_forward() / 2);
}

TEST(Graph, GpusThatShareASequenceHaveAllTokensOfSomeHeadsInAttention) {
  configs::TransformerModel model = llama();
  model.set_context_parallel(2);
  const Graph graph = build_layer(model, {});
  EXPECT_EQ(operator_called(graph, "out").product.m, llama().batch() * llama().sequence() / 2);
  const Operator attention = operator_called(graph, "attention");
  EXPECT_EQ(attention.independent[1].size, llama().sequence());
  EXPECT_EQ(attention.independent[2].size, llama().heads() / 2);
}

TEST(Graph, CausalAttentionHasHalfTheOperations) {
  configs::TransformerModel model = llama();
  model.set_causal(false);
  const uint64_t all = operator_called(build_layer(model, {}), "attention").flops;
  EXPECT_EQ(all, 4 * model.batch() * model.heads() * model.sequence() * model.sequence() * model.head_dim());
  EXPECT_EQ(operator_called(build_layer(llama(), {}), "attention").flops, all / 2);
}

// Keys and values of earlier tokens are read by attention alone.
TEST(Graph, PastTokensAreReadByAttentionAlone) {
  for (const bool stacked : {false, true}) {
    configs::TransformerModel model = llama();
    model.set_sequence(1);
    const Parts forward{.backward = false, .update = false, .stacked = stacked};
    const Graph alone = build_layer(model, forward);
    constexpr uint64_t kPast = 1000;
    model.set_past(kPast);
    const Graph behind = build_layer(model, forward);
    ASSERT_EQ(alone.operators.size(), behind.operators.size());
    for (size_t o = 0; o < alone.operators.size(); ++o) {
      const Operator& one = alone.operators[o];
      const Operator& other = behind.operators[o];
      if (one.work == Work::kAttention) {
        EXPECT_EQ(behind.words(other.inputs) - alone.words(one.inputs),
                  2 * model.batch() * kPast * model.kv_heads() * model.head_dim());
        EXPECT_EQ(other.flops - one.flops, 4 * model.batch() * kPast * model.heads() * model.head_dim());
      } else {
        EXPECT_EQ(one.flops, other.flops) << one.name;
        EXPECT_EQ(behind.words(other.inputs), alone.words(one.inputs)) << one.name;
        EXPECT_EQ(behind.words(other.outputs), alone.words(one.outputs)) << one.name;
      }
    }
    // The new token's keys are written into the cache: attention runs behind their producer.
    const Operator& attention = operator_called(behind, "attention");
    EXPECT_FALSE(behind.producers(attention.inputs[1]).empty());
    EXPECT_FALSE(behind.producers(attention.inputs[2]).empty());
  }
}

// A step reads and writes FP32 for every weight of the layer.
TEST(Graph, AdamReadsFourArraysAndWritesThree) {
  configs::TransformerModel model = llama();
  model.set_optimiser(configs::ADAM);
  const Graph graph = build_layer(model, {});
  const Operator& adam = graph.operators.back();
  uint64_t weights = 0;
  for (const Tensor& each : graph.tensors) weights += each.role == Role::kWeight ? each.words() : 0;
  EXPECT_EQ(graph.words(adam.inputs), 4 * weights);
  EXPECT_EQ(graph.bytes(adam.inputs) + graph.bytes(adam.outputs), 28 * weights);
}

}  // namespace
}  // namespace warpfold::layer
