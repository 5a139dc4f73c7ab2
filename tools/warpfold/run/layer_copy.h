#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/warpfold/figures/layer_overlap.h"
#include "tools/warpfold/run/layer_run.h"

namespace warpfold::cli {

// Simulates transfers of a layer beside its kernels. If a model states `copy_ctas`, a kernel of NCCL's shape moves the data
// (all_reduce in the table of listings), and each kernel that runs beside a transfer is simulated beside that copy kernel. The link
// is not simulated. Instead, the copy kernel reads a flag so often for each chunk that its rate equals the link's.
class CopyRuns {
 public:
  explicit CopyRuns(const LayerRequest& request) : request_(request) {}

  // Fails if the model asks for a copy kernel that the table does not have.
  Outcome<void> check() const;

  // `workloads` is by launch of the version.
  Outcome<configs::LayerOverlap> overlap(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels,
                                         const configs::LayerVersion& version,
                                         const std::vector<std::vector<configs::Kernel>>& workloads);

  size_t count() const { return simulations_; }

 private:
  bool wanted() const { return request_.model.copy_ctas() > 0 && request_.simulate; }
  // The speed of the copy kernel over one link.
  struct Pace {
    uint64_t polls = 1;
    double chunk_us = 0;  // of the chunks of all CTAs at once
    double most_gb_per_s = 0;
  };
  Outcome<configs::Kernel> copy_kernel(uint64_t chunks, uint64_t polls) const;
  Outcome<double> chunk_us(uint64_t polls);
  Outcome<Pace> pace_of(double link_gb_per_s);
  Outcome<double> slowdown(const std::vector<configs::Kernel>& workloads, double launch_us, const Pace& pace);
  Outcome<CopyKernel> copy_of(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels,
                              const configs::LayerVersion& version, const std::vector<std::vector<configs::Kernel>>& workloads);

  const LayerRequest& request_;
  size_t simulations_ = 0;
  std::map<std::string, double> known_;  // by workload and pace
};

}  // namespace warpfold::cli
