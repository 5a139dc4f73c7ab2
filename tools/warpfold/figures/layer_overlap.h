#pragma once

#include <array>
#include <vector>

#include "configs/layer.pb.h"
#include "tools/warpfold/figures/streams.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/graph.h"
#include "workloads/layer/transfers.h"

namespace warpfold::cli {

// The means by which a GPU moves the data that it sends.
struct CopyKernel {
  struct OfLink {
    double gb_per_s = 0;             // the copy kernel's highest rate; 0: copy engines, which are as fast as the link
    std::vector<double> slowdown{};  // by kernel of the version: its time beside the copy kernel over its time alone; empty: 1
  };
  std::array<OfLink, 2> links{};  // the link, the data link
};

// Returns the time of a transfer in us: the latency of each step, plus its bytes over the slower of link and copy kernel.
double transfer_us(const layer::Transfer& transfer, const configs::TransformerModel& model, const CopyKernel& copy = {});

// Returns the overlap of one layer inside a stack of many. Kernels run on one stream; the transfers of the link and of the data
// link run on a stream each, in the order in which their data become ready. Weights are gathered at most one layer ahead.
configs::LayerOverlap layer_overlap(const configs::TransformerModel& model, const layer::Graph& graph,
                                    const std::vector<layer::FusedKernel>& kernels, const configs::LayerVersion& version,
                                    const CopyKernel& copy);

}  // namespace warpfold::cli
