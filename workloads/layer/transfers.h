#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/model.pb.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// What GPUs that share a layer send each other.
struct Transfer {
  std::string name;
  Work work = Work::kAllReduce;
  Pass pass = Pass::kForward;
  bool data_parallel = false;  // gradients and weights, between groups that have batches of their own
  uint64_t gpus = 1;
  uint64_t bytes = 0;        // of the whole tensor
  int of = -1;               // the operator that it is; -1: of data parallelism, which the graph does not have
  std::vector<int> after{};  // operators whose results it sends
  int before = -1;           // the operator that waits for it; -1: none of the layer's
};

// An operator that is one.
Transfer transfer_of(const Graph& graph, int index, const configs::TransformerModel& model);

// Operators of the graph that are transfers, and what data parallelism adds: sums of weights' gradients as soon as they are there,
// the weights of small operators with the next product's; with `zero_stage` sums of shares and weights gathered in front of the
// product that reads them, in stage 3 in both passes (Rajbhandari et al., arXiv 1910.02054, section 7).
std::vector<Transfer> transfers_of(const Graph& graph, const configs::TransformerModel& model);

// Bytes that one GPU sends, and the steps that it waits for one another by: a ring of n GPUs sends n - 1 parts of n to sum up, as
// many to hand on the sums; an all-to-all sends all but its own part at a time.
uint64_t sent_bytes(Work work, uint64_t bytes, uint64_t gpus);
uint64_t steps_of(Work work, uint64_t gpus);

}  // namespace warpfold::layer
