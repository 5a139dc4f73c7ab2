// Operators that become one kernel, and the savings.

#include "workloads/layer/fusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/layer/support.h"

namespace warpfold::layer {
namespace {

using Names = std::vector<std::string>;

std::vector<Names> fused_operators(const Graph& graph, Epilogue epilogue) {
  std::vector<Names> all;
  for (const FusedKernel& kernel : fuse(graph, epilogue)) {
    if (kernel.operators.size() < 2) continue;
    Names& names = all.emplace_back();
    for (const int member : kernel.operators) names.push_back(graph.operators[static_cast<size_t>(member)].name);
  }
  return all;
}

// Residual and norm, SiLU and product; queries and keys are turned by one launch, though they share nothing.
TEST(Fusion, OfALlamaBlock) {
  const Graph graph = build_layer(llama(), {.backward = false});
  EXPECT_THAT(fused_operators(graph, Epilogue::kScale),
              testing::ElementsAre(Names{"rope Q", "rope K"}, Names{"residual 1", "norm 2"}, Names{"silu", "multiply"}));
}

// A gradient of weights sums over tokens, a gradient of the input over a row: no loop nest has both.
TEST(Fusion, KeepsReductionsOverOtherDimensionsApart) {
  const Graph graph = build_layer(llama(), {});
  for (const Names& names : fused_operators(graph, Epilogue::kScale)) {
    EXPECT_FALSE(names.front() == "norm 2 dW" && names.back() == "norm 2 dX");
  }
}

TEST(Fusion, EveryOperatorIsInOneKernel) {
  for (const configs::TransformerModel& model : {llama(), gpt(), adaptive()}) {
    for (const Epilogue epilogue : {Epilogue::kScale, Epilogue::kOne, Epilogue::kFull}) {
      const Graph graph = build_layer(model, {});
      std::vector<int> members;
      for (const FusedKernel& kernel : fuse(graph, epilogue))
        members.insert(members.end(), kernel.operators.begin(), kernel.operators.end());
      std::ranges::sort(members);
      std::vector<int> all(graph.operators.size());
      for (size_t index = 0; index < all.size(); ++index) all[index] = static_cast<int>(index);
      EXPECT_EQ(members, all);
    }
  }
}

// Launched in the order of the list, no kernel reads a tensor that a later one makes.
TEST(Fusion, KernelsWaitForEarlierOnesOnly) {
  for (const configs::TransformerModel& model : {llama(), gpt(), adaptive()}) {
    for (const Epilogue epilogue : {Epilogue::kScale, Epilogue::kOne, Epilogue::kFull}) {
      const Graph graph = build_layer(model, {});
      const std::vector<FusedKernel> kernels = fuse(graph, epilogue);
      std::vector<size_t> launched(graph.operators.size());
      for (size_t k = 0; k < kernels.size(); ++k) {
        for (const int member : kernels[k].operators) launched[static_cast<size_t>(member)] = k;
      }
      for (size_t k = 0; k < kernels.size(); ++k) {
        for (const int member : kernels[k].operators) {
          for (const int id : graph.operators[static_cast<size_t>(member)].inputs) {
            for (const int producer : graph.producers(id)) EXPECT_LE(launched[static_cast<size_t>(producer)], k) << kernels[k].name;
          }
        }
      }
    }
  }
}

// The product's result is written once, by whichever kernel has the last operator of the chain.
TEST(Fusion, EpiloguesTakeABiasOrAllThatIsElementwise) {
  const Graph graph = build_layer(gpt(), {.backward = false});
  EXPECT_THAT(fused_operators(graph, Epilogue::kOne), testing::Contains(Names{"linear 1", "bias 1"}));
  EXPECT_THAT(fused_operators(graph, Epilogue::kFull), testing::Contains(Names{"linear 1", "bias 1", "gelu"}));
  EXPECT_LT(words_of(graph, fuse(graph, Epilogue::kFull)), words_of(graph, fuse(graph, Epilogue::kOne)));
  EXPECT_LT(words_of(graph, fuse(graph, Epilogue::kOne)), words_of(graph, fuse(graph, Epilogue::kScale)));
  EXPECT_LT(words_of(graph, fuse(graph, Epilogue::kScale)), words_of(graph, unfused(graph)));
}

// A tensor that the backward pass reads is stored even if the next operator is in the same kernel.
TEST(Fusion, StoresWhatTheBackwardPassNeeds) {
  const Graph graph = build_layer(llama(), {});
  for (const FusedKernel& kernel : fuse(graph, Epilogue::kScale)) {
    if (graph.operators[static_cast<size_t>(kernel.operators.front())].name != "silu") continue;
    EXPECT_EQ(graph.words(kernel.inputs), 2 * graph.tensor(kernel.inputs.front()).words());
    EXPECT_EQ(kernel.outputs.size(), 2U);  // silu's result too: the gradient of "up" is its product with dY
    return;
  }
  FAIL() << "silu and multiply are not fused";
}

}  // namespace
}  // namespace warpfold::layer
