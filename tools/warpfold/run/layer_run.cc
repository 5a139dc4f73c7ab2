#include "tools/warpfold/run/layer_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/analytic/limiters.h"
#include "tools/warpfold/figures/layer_figures.h"
#include "tools/warpfold/figures/layer_memory.h"
#include "tools/warpfold/run/launches.h"
#include "tools/warpfold/run/parallel.h"
#include "tools/warpfold/run/planned.h"
#include "tools/warpfold/run/progress.h"
#include "workloads/layer/kernels.h"

namespace warpfold::cli {

namespace {

using layer::FusedKernel;
using layer::Graph;

// "hopper_gemm 128 x 256 x 64", "elementwise ADD", "scale_add".
std::string label_of(const configs::Kernel& kernel) {
  const auto tile = [](const auto& gemm) {
    const std::string k = gemm.has_tile_k() ? " x " + std::to_string(gemm.tile_k()) : "";
    return std::to_string(gemm.tile_m()) + " x " + std::to_string(gemm.tile_n()) + k;
  };
  switch (kernel.workload_case()) {
    case configs::Kernel::kHopperGemm:
      return "hopper_gemm " + tile(kernel.hopper_gemm());
    case configs::Kernel::kBlackwellGemm:
      return "blackwell_gemm " + tile(kernel.blackwell_gemm());
    case configs::Kernel::kAmpereGemm:
      return "ampere_gemm";
    case configs::Kernel::kGemmReduction:
      return "gemm_reduction";
    case configs::Kernel::kFlashAttention2:
      return "flash_attention_2";
    case configs::Kernel::kFlashAttention3:
      return "flash_attention_3";
    case configs::Kernel::kFlashAttention4:
      return "flash_attention_4";
    case configs::Kernel::kElementwise:
      return "elementwise " + configs::ElementwiseOperation_Name(kernel.elementwise().operation());
    case configs::Kernel::kListing:
      return kernel.listing().description().has_function() ? kernel.listing().description().function()
                                                           : std::filesystem::path(kernel.listing().path()).stem().string();
    default:
      return "";
  }
}

configs::Scenario scenario_of(const configs::Kernel& workload, const configs::Gpu& gpu) {
  configs::Scenario scenario;
  scenario.set_name("layer");
  *scenario.mutable_gpu() = gpu;
  scenario.mutable_policy()->set_kind(configs::SEQUENTIAL);
  *scenario.add_kernel() = workload;
  scenario.mutable_kernel(0)->set_name("kernel");
  return scenario;
}

// Behind each other kernels take as long as alone but for the gap between launches, which no kernel is charged with.
SimulatedLaunch in_sequence(const std::vector<SimulatedLaunch>& launches) {
  SimulatedLaunch all;
  double longest = 0;
  for (const SimulatedLaunch& each : launches) {
    if (!each.why_not.empty()) return each;
    all.us += each.us;
    all.dram_bytes += each.dram_bytes;
    all.limiter_us += each.limiter_us;
    if (each.limiter_us > longest) all.limiter = each.limiter;
    longest = std::max(longest, each.limiter_us);
    if (all.kernel.find(each.kernel) == std::string::npos) all.kernel += (all.kernel.empty() ? "" : ", ") + each.kernel;
  }
  return all;
}

Outcome<SimulatedLaunch> simulate(const configs::Kernel& workload, const LayerRequest& request) {
  workloads::KernelMaker kernels("");
  TileTuner tuner;
  configs::Scenario scenario = scenario_of(workload, request.gpu);
  if (const auto tuned = tuner.tune(scenario); !tuned) return SimulatedLaunch{.why_not = tuned.error().message};
  for (const configs::Kernel& each : scenario.kernel()) {
    if (const auto made = kernels.make(each, request.gpu); !made) return SimulatedLaunch{.why_not = made.error().message};
  }
  const auto planned = plan_scenario(std::move(scenario), kernels, {}, tuner);
  if (!planned) return SimulatedLaunch{.why_not = planned.error().message};
  const configs::Gpu gpu = gpu_of(planned->scenario);
  const auto outcome = sim::simulate(gpu, make_launches(planned->plan),
                                     {.serialise = true, .all_sms = request.how.all_sms, .fold = request.how.folding.options});
  if (!outcome) return std::unexpected(Failure(outcome.error()));
  if (outcome->deadlocked) return std::unexpected(Failure(kDeadlock, outcome->deadlock.report));
  std::vector<SimulatedLaunch> launches;
  for (size_t k = 0; k < planned->plan.kernels.size(); ++k) {
    const sim::KernelCounters& counters = outcome->kernels[k];
    const auto limiters = sim::limiters_of(gpu, planned->plan.kernels[k].kernel);
    if (!limiters) return std::unexpected(Failure(limiters.error()));
    launches.push_back({.us = static_cast<double>(counters.end_cycle - counters.start_cycle) / gpu.clock_mhz(),
                        .limiter_us = limiters->cycles() / gpu.clock_mhz(),
                        .limiter = limiters->all().front().resource,
                        .dram_bytes = counters.dram_bytes,
                        .kernel = label_of(planned->scenario.kernel(static_cast<int>(k)))});
  }
  return in_sequence(launches);
}

// What no run of the kernel is faster than; none where it cannot be made.
Outcome<std::optional<double>> bound_of(const configs::Kernel& workload, const configs::Gpu& gpu) {
  workloads::KernelMaker kernels("");
  const auto made = kernels.make(scenario_of(workload, gpu).kernel(0), gpu);
  if (!made) return std::optional<double>{};
  const auto limiters = sim::limiters_of(gpu, *made);
  if (!limiters) return std::unexpected(Failure(limiters.error()));
  return std::optional(static_cast<double>(limiters->lower_bound()) / gpu.clock_mhz());
}

// The fastest of several kernels that do the same, by their bounds: those that cannot be faster are not simulated.
Outcome<SimulatedLaunch> simulate_fastest(const std::vector<configs::Kernel>& choices, const LayerRequest& request) {
  if (choices.size() == 1) return simulate(choices.front(), request);
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto bound = bound_of(choices[i], request.gpu);
    if (!bound) return std::unexpected(bound.error());
    if (*bound) order.emplace_back(**bound, i);
  }
  if (order.empty()) return simulate(choices.front(), request);
  std::ranges::sort(order);
  std::optional<SimulatedLaunch> fastest;
  for (const auto& [bound, i] : order) {
    if (fastest && bound >= fastest->us) break;
    auto launch = simulate(choices[i], request);
    if (!launch) return launch;
    if (!launch->why_not.empty()) continue;
    if (!fastest || launch->us < fastest->us) fastest = std::move(*launch);
  }
  return fastest ? *std::move(fastest) : simulate(choices.front(), request);
}

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
      for (const configs::Kernel& each : workload->kernels) {
        std::vector<configs::Kernel> choices{each};
        choices.insert(choices.end(), workload->candidates.begin(), workload->candidates.end());
        places.back().simulations.push_back(index_of(std::move(choices)));
      }
    }
    return {};
  }

  Outcome<void> run() {
    ended_.resize(workloads_.size());
    ProgressBar bar("simulations", workloads_.size());
    in_parallel(workloads_.size(), request_.how.jobs, [&](size_t i) {
      ended_[i] = simulate_fastest(workloads_[i], request_);
      bar.step();
    });
    for (const auto& each : ended_) {
      if (!*each) return std::unexpected(each->error());
    }
    return {};
  }

  size_t count() const { return workloads_.size(); }

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

  size_t index_of(std::vector<configs::Kernel> choices) {
    std::string key;
    for (const configs::Kernel& each : choices) key += each.SerializeAsString();
    const auto [known, added] = index_.try_emplace(std::move(key), workloads_.size());
    if (added) workloads_.push_back(std::move(choices));
    return known->second;
  }

  const LayerRequest& request_;
  std::map<std::string, size_t> index_;
  std::vector<std::vector<configs::Kernel>> workloads_;  // that do the same
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
  const std::vector<Wanted> wanted = wanted_of(request);
  Simulations simulations(request);
  for (const Wanted& each : wanted) {
    if (auto added = simulations.add(each.graph, each.kernels); !added) return std::unexpected(added.error());
  }
  if (auto run = simulations.run(); !run) return std::unexpected(run.error());

  const Peaks peaks = peaks_of(request.gpu);
  const Links links{request.model.tensor_parallel(), request.model.context_parallel(), request.model.link_gb_per_s(),
                    request.model.link_latency_us()};
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
    *report.add_versions() = layer_version({wanted[i].name, wanted[i].graph, wanted[i].kernels, simulations.of(i)}, peaks, links);
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
