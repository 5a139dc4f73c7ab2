#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/model.pb.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// A transfer between GPUs that share a layer.
struct Transfer {
  std::string name;
  Work work = Work::kAllReduce;
  Pass pass = Pass::kForward;
  bool data_parallel = false;  // gradients and weights, between groups with different batches
  uint64_t gpus = 1;
  uint64_t bytes = 0;        // size of the whole tensor
  int of = -1;               // index of its operator; -1: a transfer of data parallelism, which is not in the graph
  std::vector<int> after{};  // operators whose results it sends
  int before = -1;           // operator that waits for it; -1: none in the layer
};

// The transfer of an operator that is one.
Transfer transfer_of(const Graph& graph, int index, const configs::TransformerModel& model);

// Returns the graph's transfer operators, and the transfers of data parallelism: sums of the weights' gradients as soon as they are
// available, where the weights of small operators join those of the next product. With `zero_stage`, each GPU gets the sums of its
// share, and weights are gathered before the product that reads them; in stage 3 in both passes (Rajbhandari et al., arXiv
// 1910.02054, section 7).
std::vector<Transfer> transfers_of(const Graph& graph, const configs::TransformerModel& model);

// Bytes that one GPU sends, and steps in which the GPUs wait for one another. In a ring of n GPUs, each sends n - 1 of n parts to
// add them up, and as many to distribute the sums. An all-to-all sends all but the GPU's own part in one step.
uint64_t sent_bytes(Work work, uint64_t bytes, uint64_t gpus);
uint64_t steps_of(Work work, uint64_t gpus);

}  // namespace warpfold::layer
