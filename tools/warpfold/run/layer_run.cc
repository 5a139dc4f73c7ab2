#include "tools/warpfold/run/layer_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/warpfold/figures/layer_figures.h"
#include "tools/warpfold/figures/layer_memory.h"
#include "tools/warpfold/run/layer_copy.h"
#include "tools/warpfold/run/layer_simulation.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/progress.h"
#include "workloads/layer/kernels.h"

namespace warpfold::cli {

namespace {

using layer::FusedKernel;
using layer::Graph;

// Launches of several graphs; those whose workloads are the same are one simulation.
class Simulations {
 public:
  explicit Simulations(const LayerRequest& request) : request_(request) {}

  Outcome<void> add(const Graph& graph, const std::vector<FusedKernel>& kernels) {
    std::vector<Place>& places = places_.emplace_back();
    const layer::KernelSource source{request_.gpu, request_.model.type(), request_.library, request_.listings};
    for (const FusedKernel& kernel : kernels) {
      if (!request_.simulate) {
        places.push_back({{}, "not asked for"});
        continue;
      }
      auto workload = layer::workload_of(graph, kernel, source);
      if (!workload) return std::unexpected(Failure(workload.error()));
      if (workload->kernels.empty()) {
        places.push_back({{}, workload->why_none});
        continue;
      }
      places.emplace_back();
      for (const configs::Kernel& each : workload->kernels) places.back().simulations.push_back(index_of(each));
    }
    return {};
  }

  Outcome<void> run() {
    ended_.resize(workloads_.size());
    ProgressBar bar("simulations", workloads_.size());
    in_parallel(workloads_.size(), request_.how.jobs, [&](size_t i) {
      ended_[i] = simulate_launch(workloads_[i], request_);
      bar.step();
    });
    for (const auto& each : ended_) {
      if (!*each) return std::unexpected(each->error());
    }
    return {};
  }

  size_t count() const { return workloads_.size(); }

  // Of each launch that was added in the call `which`; a launch that is not simulated has none.
  std::vector<std::vector<configs::Kernel>> workloads_of(size_t which) const {
    std::vector<std::vector<configs::Kernel>> all;
    for (const Place& place : places_[which]) {
      std::vector<configs::Kernel>& made = all.emplace_back();
      for (const size_t index : place.simulations) made.push_back(workloads_[index]);
    }
    return all;
  }

  // Of the launches that were added in the call `which`.
  std::vector<SimulatedLaunch> of(size_t which) const {
    std::vector<SimulatedLaunch> launches;
    for (const Place& place : places_[which]) {
      std::vector<SimulatedLaunch> made;
      for (const size_t index : place.simulations) made.push_back(**ended_[index]);
      launches.push_back(made.empty() ? SimulatedLaunch{.why_not = place.why_none} : in_sequence(made));
    }
    return launches;
  }

 private:
  struct Place {
    std::vector<size_t> simulations{};  // one behind the other
    std::string why_none{};
  };

  size_t index_of(const configs::Kernel& kernel) {
    const auto [known, added] = index_.try_emplace(kernel.SerializeAsString(), workloads_.size());
    if (added) workloads_.push_back(kernel);
    return known->second;
  }

  const LayerRequest& request_;
  std::map<std::string, size_t> index_;
  std::vector<configs::Kernel> workloads_;
  std::vector<std::vector<Place>> places_;
  std::vector<std::optional<Outcome<SimulatedLaunch>>> ended_;
};

struct Wanted {
  std::string name;
  Graph graph;
  std::vector<FusedKernel> kernels;
};

std::vector<Wanted> wanted_of(const LayerRequest& request) {
  const auto graph = [&](bool stacked) {
    return layer::build_layer(request.model, {.backward = request.backward, .stacked = stacked});
  };
  std::vector<Wanted> all;
  all.push_back({"unfused", graph(false), {}});
  all.back().kernels = layer::unfused(all.back().graph);
  if (!request.fused) return all;
  all.push_back({"stacked", graph(true), {}});
  all.back().kernels = layer::unfused(all.back().graph);
  all.push_back({"fused", graph(true), {}});
  all.back().kernels = layer::fuse(all.back().graph, request.epilogue);
  return all;
}

}  // namespace

Outcome<configs::LayerReport> run_layer(const LayerRequest& request) {
  if (auto checked = CopyRuns(request).check(); !checked) return std::unexpected(checked.error());
  const std::vector<Wanted> wanted = wanted_of(request);
  Simulations simulations(request);
  for (const Wanted& each : wanted) {
    if (auto added = simulations.add(each.graph, each.kernels); !added) return std::unexpected(added.error());
  }
  if (auto run = simulations.run(); !run) return std::unexpected(run.error());

  const Peaks peaks = peaks_of(request.gpu);
  configs::LayerReport report;
  report.set_version(WARPFOLD_VERSION);
  report.set_command_line(request.command_line);
  *report.mutable_model() = request.model;
  report.set_gpu(request.gpu.name());
  report.set_tensor_tflops(peaks.tensor_tflops);
  report.set_vector_tflops(peaks.vector_tflops);
  report.set_memory_gb_per_s(peaks.memory_gb_per_s);
  report.set_simulations(static_cast<uint32_t>(simulations.count()));
  for (size_t i = 0; i < wanted.size(); ++i)
    *report.add_versions() =
        layer_version({wanted[i].name, wanted[i].graph, wanted[i].kernels, simulations.of(i)}, peaks, request.model);
  if (request.model.tensor_parallel() * request.model.context_parallel() * request.model.data_parallel() > 1) {
    CopyRuns copies(request);
    for (size_t i = 0; i < wanted.size(); ++i) {
      configs::LayerVersion& version = *report.mutable_versions(static_cast<int>(i));
      auto overlap = copies.overlap(wanted[i].graph, wanted[i].kernels, version, simulations.workloads_of(i));
      if (!overlap) return std::unexpected(overlap.error());
      *version.mutable_overlap() = std::move(*overlap);
    }
    report.set_simulations(report.simulations() + static_cast<uint32_t>(copies.count()));
  }
  if (request.fused) {
    const auto before = static_cast<double>(report.versions(0).words());
    report.set_words_saved_percent(100 * (before - static_cast<double>(report.versions(2).words())) / before);
    add_fusions(report.versions(1), report.versions(2), peaks, report);
  }
  if (request.training.tokens > 0) {
    const configs::LayerVersion& last = report.versions(report.versions_size() - 1);
    *report.mutable_training() = layer_training(request.model, wanted.back().graph, last, peaks, request.training);
  }
  if (request.activations_mb) {
    const configs::LayerVersion& last = report.versions(report.versions_size() - 1);
    auto memory = layer_memory(wanted.back().graph, wanted.back().kernels, last, *request.activations_mb);
    if (!memory) return std::unexpected(memory.error());
    *report.mutable_memory() = std::move(*memory);
  }
  return report;
}

}  // namespace warpfold::cli
