// Transfers between GPUs that share a layer.

#include "workloads/layer/transfers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/layer/support.h"

namespace warpfold::layer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<Transfer>& transfers) {
  std::vector<std::string> names;
  for (const Transfer& each : transfers) names.push_back(each.name);
  return names;
}

configs::TransformerModel split(uint64_t tensor_parallel, bool sequence_parallel) {
  configs::TransformerModel model = llama();
  model.set_tensor_parallel(tensor_parallel);
  model.set_context_parallel(1);
  model.set_sequence_parallel(sequence_parallel);
  return model;
}

// An all-reduce is a reduce-scatter and an all-gather: the link carries the same, and a GPU has a share of the norms' tokens.
TEST(Transfers, SequenceParallelismSendsAsMuch) {
  const configs::TransformerModel plain = split(2, false);
  const configs::TransformerModel shared = split(2, true);
  const Graph graph = build_layer(plain, {});
  const Graph of_shared = build_layer(shared, {});
  const auto sent = [](const std::vector<Transfer>& all) {
    uint64_t sum = 0;
    for (const Transfer& each : all) sum += sent_bytes(each.work, each.bytes, each.gpus);
    return sum;
  };
  EXPECT_EQ(transfers_of(graph, plain).size(), 4U);
  EXPECT_EQ(transfers_of(of_shared, shared).size(), 8U);
  EXPECT_EQ(sent(transfers_of(graph, plain)), sent(transfers_of(of_shared, shared)));
  EXPECT_EQ(operator_called(graph, "norm 1").independent[1].size, 2 * operator_called(of_shared, "norm 1").independent[1].size);
  EXPECT_EQ(operator_called(graph, "gate up").flops, operator_called(of_shared, "gate up").flops);
}

TEST(Transfers, GatheringGoesBackAsScatteredSums) {
  const Graph graph = build_layer(split(2, true), {});
  EXPECT_EQ(operator_called(graph, "all-gather attention").work, Work::kAllGather);
  EXPECT_EQ(operator_called(graph, "all-gather attention dX").work, Work::kReduceScatter);
  EXPECT_EQ(operator_called(graph, "reduce-scatter attention dX").work, Work::kAllGather);
}

// arXiv 1910.02054, section 7: 2 Psi a step without sharing and with shared states, 3 Psi with shared weights (each (n - 1) / n of
// it).
TEST(Transfers, DataParallelismSendsWhatZeroStates) {
  configs::TransformerModel model = split(1, false);
  model.set_data_parallel(4);
  const Graph graph = build_layer(model, {});
  uint64_t weights = 0;
  for (const Tensor& each : graph.tensors) weights += each.role == Role::kWeight ? each.words() * each.bytes : 0;
  for (const uint64_t stage : {0, 1, 2, 3}) {
    model.set_zero_stage(stage);
    uint64_t sent = 0;
    for (const Transfer& each : transfers_of(graph, model)) sent += sent_bytes(each.work, each.bytes, each.gpus);
    EXPECT_NEAR(static_cast<double>(sent), static_cast<double>((stage == 3 ? 3 : 2) * weights) * 3 / 4, 32) << stage;
  }
}

TEST(Transfers, SmallWeightsGoWithTheNextProduct) {
  configs::TransformerModel model = split(1, false);
  EXPECT_THAT(transfers_of(build_layer(model, {}), model), IsEmpty());
  model.set_data_parallel(2);
  EXPECT_THAT(names_of(transfers_of(build_layer(model, {}), model)),
              ElementsAre("all-reduce d weight of linear 2", "all-reduce d weight of gate up", "all-reduce d weight of out",
                          "all-reduce d weight of Q K V"));
}

TEST(Transfers, TakeTheStepsOfARing) {
  EXPECT_EQ(steps_of(Work::kAllReduce, 8), 14U);
  EXPECT_EQ(steps_of(Work::kAllGather, 8), 7U);
  EXPECT_EQ(steps_of(Work::kAllToAll, 8), 1U);
  EXPECT_EQ(sent_bytes(Work::kAllReduce, 800, 8), 1400U);
  EXPECT_EQ(sent_bytes(Work::kReduceScatter, 800, 8), 700U);
}

}  // namespace
}  // namespace warpfold::layer
