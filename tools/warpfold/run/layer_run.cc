#include "tools/warpfold/run/layer_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/warpfold/figures/layer_figures.h"
#include "tools/warpfold/figures/layer_layouts.h"
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

// The launches of several graphs. Launches with equal workloads share a simulation.
class Simulations {
 public:
  explicit Simulations(const LayerRequest& request) : request_(request) {}

  Outcome<void> add(const Graph& graph, const std::vector<FusedKernel>& kernels,
                    configs::TensorLayout layout = configs::FEATURES_INNERMOST) {
    places_.emplace_back();
    for (const FusedKernel& kernel : kernels) {
      if (auto added = add_launch(layer::workload_of(graph, kernel, source(layout))); !added) return added;
    }
    return {};
  }

  // Adds transpositions of matrices of tokens by features.
  Outcome<void> add_transpositions(const std::vector<std::pair<uint64_t, uint64_t>>& sizes) {
    places_.emplace_back();
    for (const auto& [tokens, features] : sizes) {
      if (auto added = add_launch(layer::transposition_of(tokens, features, source(configs::FEATURES_INNERMOST))); !added)
        return added;
    }
    return {};
  }

  Outcome<void> run() {
    ended_.resize(workloads_.size());
    chosen_.resize(workloads_.size(), 0);
    ProgressBar bar("simulations", workloads_.size());
    in_parallel(workloads_.size(), request_.how.jobs, [&](size_t i) {
      ended_[i] = simulate_fastest(workloads_[i], request_, chosen_[i]);
      bar.step();
    });
    for (const auto& each : ended_) {
      if (!*each) return std::unexpected(each->error());
    }
    return {};
  }

  size_t count() const { return workloads_.size(); }

  // Returns the workloads of each launch that call number `which` added; none for a launch that is not simulated.
  std::vector<std::vector<configs::Kernel>> workloads_of(size_t which) const {
    std::vector<std::vector<configs::Kernel>> all;
    for (const Place& place : places_[which]) {
      std::vector<configs::Kernel>& made = all.emplace_back();
      for (const size_t index : place.simulations) made.push_back(workloads_[index][chosen_[index]]);
    }
    return all;
  }

  // Returns the simulations of the launches that call number `which` added.
  std::vector<SimulatedLaunch> of(size_t which) const {
    std::vector<SimulatedLaunch> launches;
    for (const Place& place : places_[which]) {
      std::vector<SimulatedLaunch> made;
      for (const size_t index : place.simulations) made.push_back(**ended_[index]);
      launches.push_back(made.empty() ? SimulatedLaunch{.reason_not_simulated = place.reason_not_simulated} : in_sequence(made));
    }
    return launches;
  }

 private:
  struct Place {
    std::vector<size_t> simulations{};  // in the order of execution
    std::string reason_not_simulated{};
  };

  layer::KernelSource source(configs::TensorLayout layout) const {
    return {request_.gpu, request_.model.type(), request_.library, request_.listings, layout};
  }

  // Adds a launch to the last call's launches.
  Outcome<void> add_launch(const Expected<layer::LayerWorkload>& workload) {
    if (!workload) return std::unexpected(Failure(workload.error()));
    Place& place = places_.back().emplace_back();
    place.reason_not_simulated = request_.simulate ? workload->reason_not_simulated : "not asked for";
    if (!place.reason_not_simulated.empty()) return {};
    for (const configs::Kernel& each : workload->kernels) {
      std::vector<configs::Kernel> choices{each};
      choices.insert(choices.end(), workload->candidates.begin(), workload->candidates.end());
      place.simulations.push_back(index_of(std::move(choices)));
    }
    return {};
  }

  size_t index_of(std::vector<configs::Kernel> choices) {
    std::string key;
    for (const configs::Kernel& each : choices) key += each.SerializeAsString();
    const auto [known, added] = index_.try_emplace(std::move(key), workloads_.size());
    if (added) workloads_.push_back(std::move(choices));
    return known->second;
  }

  const LayerRequest& request_;
  std::map<std::string, size_t> index_;
  std::vector<std::vector<configs::Kernel>> workloads_;  // alternatives for the same work, by simulation
  std::vector<size_t> chosen_;                           // index of the fastest alternative, by simulation
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

// The forward pass in both layouts, and the transpositions of its tensors.
class LayoutRuns {
 public:
  explicit LayoutRuns(const Wanted& of) : of_(of) {
    for (const FusedKernel& each : of.kernels) {
      if (of.graph.operators[static_cast<size_t>(each.operators.front())].pass == layer::Pass::kForward) forward_.push_back(each);
    }
    for (const FusedKernel& each : forward_) {
      for (const std::vector<int>* tensors : {&each.inputs, &each.outputs}) {
        for (const int root : layer_roots(*tensors)) {
          if (std::ranges::find(roots_, root) == roots_.end()) roots_.push_back(root);
        }
      }
    }
  }

  Outcome<void> add_to(Simulations& simulations) const {
    if (auto added = simulations.add(of_.graph, forward_, configs::TOKENS_INNERMOST); !added) return added;
    std::vector<std::pair<uint64_t, uint64_t>> sizes;
    for (const int root : roots_) sizes.emplace_back(tokens_of(root), of_.graph.tensor(root).words() / tokens_of(root));
    return simulations.add_transpositions(sizes);
  }

  // `first`: number of the call of Simulations with which add_to() began.
  Outcome<configs::LayerLayouts> report(const Simulations& simulations, size_t first, const configs::LayerVersion& version,
                                        double memory_gb_per_s) const {
    const std::vector<SimulatedLaunch> tokens = simulations.of(first);
    const std::vector<SimulatedLaunch> turns = simulations.of(first + 1);
    std::vector<LayoutTimes> times;
    for (size_t k = 0; k < forward_.size(); ++k) {
      LayoutTimes& made = times.emplace_back();
      const configs::LayerKernel& kernel = version.kernels(static_cast<int>(k));
      made.us[0] = kernel.time_us();
      made.mixed = kernel.kind() == layer::name_of(layer::OperatorClass::kContraction);
      if (tokens[k].reason_not_simulated.empty()) made.us[1] = tokens[k].us;
      if (kernel.kind() == layer::name_of(layer::OperatorClass::kCommunication)) made.us[1] = kernel.time_us();
    }
    std::map<int, double> transpose_us;
    for (size_t t = 0; t < roots_.size(); ++t) {
      const layer::Tensor& tensor = of_.graph.tensor(roots_[t]);
      const double roofline = 2 * static_cast<double>(tensor.words() * tensor.bytes) / (memory_gb_per_s * 1e3);
      transpose_us[roots_[t]] = turns[t].reason_not_simulated.empty() ? turns[t].us : roofline;
    }
    return layer_layouts(of_.graph, forward_, version, times, transpose_us);
  }

 private:
  std::vector<int> layer_roots(const std::vector<int>& tensors) const { return laid_out(of_.graph, tensors); }

  uint64_t tokens_of(int root) const {
    uint64_t tokens = 1;
    for (const layer::Dimension& each : of_.graph.tensor(root).dimensions) {
      if (each.name == "b" || each.name == "j") tokens *= each.size;
    }
    return tokens;
  }

  const Wanted& of_;
  std::vector<FusedKernel> forward_;
  std::vector<int> roots_;
};

configs::LayerReport begun_report(const LayerRequest& request, const Peaks& peaks) {
  configs::LayerReport report;
  report.set_version(WARPFOLD_VERSION);
  report.set_command_line(request.command_line);
  *report.mutable_model() = request.model;
  report.set_gpu(request.gpu.name());
  report.set_tensor_tflops(peaks.tensor_tflops);
  report.set_vector_tflops(peaks.vector_tflops);
  report.set_memory_gb_per_s(peaks.memory_gb_per_s);
  return report;
}

// Adds the overlap of transfers with the kernels of each version, if GPUs share the layer.
Outcome<void> add_overlaps(const LayerRequest& request, const std::vector<Wanted>& wanted, const Simulations& simulations,
                           configs::LayerReport& report) {
  if (request.model.tensor_parallel() * request.model.context_parallel() * request.model.data_parallel() <= 1) return {};
  CopyRuns copies(request);
  for (size_t i = 0; i < wanted.size(); ++i) {
    configs::LayerVersion& version = *report.mutable_versions(static_cast<int>(i));
    auto overlap = copies.overlap(wanted[i].graph, wanted[i].kernels, version, simulations.workloads_of(i));
    if (!overlap) return std::unexpected(overlap.error());
    *version.mutable_overlap() = std::move(*overlap);
  }
  report.set_simulations(report.simulations() + static_cast<uint32_t>(copies.count()));
  return {};
}

void add_savings(const Peaks& peaks, configs::LayerReport& report) {
  const auto before = static_cast<double>(report.versions(0).words());
  report.set_words_saved_percent(100 * (before - static_cast<double>(report.versions(2).words())) / before);
  add_fusions(report.versions(1), report.versions(2), peaks, report);
}

}  // namespace

Outcome<configs::LayerReport> run_layer(const LayerRequest& request) {
  if (auto checked = CopyRuns(request).check(); !checked) return std::unexpected(checked.error());
  const Peaks peaks = peaks_of(request.gpu);
  if (peaks.tensor_tflops == 0)
    return user_error(request.gpu.name() + ": no peak of products is known; state data_sheet.fp16_tflops");
  const std::vector<Wanted> wanted = wanted_of(request);
  Simulations simulations(request);
  for (const Wanted& each : wanted) {
    if (auto added = simulations.add(each.graph, each.kernels); !added) return std::unexpected(added.error());
  }
  const LayoutRuns layouts(wanted.back());
  if (request.layouts) {
    if (auto added = layouts.add_to(simulations); !added) return std::unexpected(added.error());
  }
  if (auto run = simulations.run(); !run) return std::unexpected(run.error());

  configs::LayerReport report = begun_report(request, peaks);
  report.set_simulations(static_cast<uint32_t>(simulations.count()));
  for (size_t i = 0; i < wanted.size(); ++i)
    *report.add_versions() =
        layer_version({wanted[i].name, wanted[i].graph, wanted[i].kernels, simulations.of(i)}, peaks, request.model);
  if (auto added = add_overlaps(request, wanted, simulations, report); !added) return std::unexpected(added.error());
  if (request.fused) add_savings(peaks, report);
  const configs::LayerVersion& last = report.versions(report.versions_size() - 1);
  if (request.layouts) {
    auto path = layouts.report(simulations, wanted.size(), last, peaks.memory_gb_per_s);
    if (!path) return std::unexpected(path.error());
    *report.mutable_layouts() = std::move(*path);
  }
  if (request.training.tokens > 0)
    *report.mutable_training() = layer_training(request.model, wanted.back().graph, last, peaks, request.training);
  if (request.memory) {
    auto memory = layer_memory(request.model, wanted.back().graph, wanted.back().kernels, last, *request.memory);
    if (!memory) return std::unexpected(memory.error());
    *report.mutable_memory() = std::move(*memory);
  }
  return report;
}

}  // namespace warpfold::cli
