#pragma once

#include <array>
#include <vector>

#include "configs/layer.pb.h"
#include "tools/warpfold/figures/streams.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/graph.h"
#include "workloads/layer/transfers.h"

namespace warpfold::cli {

// How a GPU moves what it sends.
struct CopyKernel {
  struct OfLink {
    double gb_per_s = 0;             // the most that the copy kernel moves; 0: copy engines, as fast as the link
    std::vector<double> slowdown{};  // how many times as long each kernel of the version takes beside it; empty: 1
  };
  std::array<OfLink, 2> links{};  // the link, the data link
};

// Time of a transfer: latency of each step, and bytes over the slower of link and copy kernel.
double transfer_us(const layer::Transfer& transfer, const configs::TransformerModel& model, const CopyKernel& copy = {});

// The layer as one of many: kernels on a stream, transfers of the link and of the data link on one each, in the order in which
// their data are there; weights are gathered at most a layer ahead.
configs::LayerOverlap layer_overlap(const configs::TransformerModel& model, const layer::Graph& graph,
                                    const std::vector<layer::FusedKernel>& kernels, const configs::LayerVersion& version,
                                    const CopyKernel& copy);

}  // namespace warpfold::cli
