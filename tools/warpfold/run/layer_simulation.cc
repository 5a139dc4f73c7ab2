#include "tools/warpfold/run/layer_simulation.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "sim/analytic/limiters.h"
#include "sim/plan/run_cache.h"
#include "tools/warpfold/run/launches.h"
#include "tools/warpfold/run/planned.h"

namespace warpfold::cli {

namespace {

constexpr const char* kName = "kernel";  // of a launch's only kernel; a kernel without a name is refused

// Returns a kernel's label: "hopper_gemm 128 x 256 x 64", "elementwise ADD", "scale_add".
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

// Returns a lower bound of the kernel's time in us; none if the kernel cannot be made.
Outcome<std::optional<double>> bound_of(const configs::Kernel& workload, const configs::Gpu& gpu) {
  workloads::KernelMaker kernels("");
  configs::Kernel named = workload;
  named.set_name(kName);
  const auto made = kernels.make(named, gpu);
  if (!made) return std::optional<double>{};
  const auto limiters = sim::limiters_of(gpu, *made);
  if (!limiters) return std::unexpected(Failure(limiters.error()));
  return std::optional(static_cast<double>(limiters->lower_bound()) / gpu.clock_mhz());
}

// Returns the run cache that all layers of this process share, so that another model of the same sizes simulates nothing again. A
// new cache begins after some requests, since each request is compared with all runs of the cache.
std::shared_ptr<sim::RunCache> known_runs() {
  constexpr int kRunsOfACache = 400;  // assumed: several models of some 60 launches each; no result depends on it
  static std::mutex mutex;
  static int requests = 0;
  static std::shared_ptr<sim::RunCache> known;
  const std::lock_guard lock(mutex);
  if (requests++ % kRunsOfACache == 0) known = std::make_shared<sim::RunCache>();
  return known;
}

}  // namespace

// Kernels in sequence take as long as alone, except for the gap between launches, which is charged to no kernel.
SimulatedLaunch in_sequence(const std::vector<SimulatedLaunch>& launches) {
  SimulatedLaunch all;
  double longest = 0;
  for (const SimulatedLaunch& each : launches) {
    if (!each.reason_not_simulated.empty()) return each;
    all.us += each.us;
    all.dram_bytes += each.dram_bytes;
    all.limiter_us += each.limiter_us;
    if (each.limiter_us > longest) all.limiter = each.limiter;
    longest = std::max(longest, each.limiter_us);
    if (all.kernel.find(each.kernel) == std::string::npos) all.kernel += (all.kernel.empty() ? "" : ", ") + each.kernel;
  }
  return all;
}

Outcome<std::vector<SimulatedLaunch>> simulate_scenario(configs::Scenario scenario, const LayerRequest& request) {
  const auto none = [](const Diagnostic& why) { return std::vector{SimulatedLaunch{.reason_not_simulated = why.message}}; };
  const bool in_turn = scenario.policy().kind() == configs::SEQUENTIAL;
  scenario.set_name("layer");
  *scenario.mutable_gpu() = request.gpu;
  workloads::KernelMaker kernels("");
  TileTuner tuner;
  if (const auto tuned = tuner.tune(scenario); !tuned) return none(tuned.error());
  for (const configs::Kernel& each : scenario.kernel()) {
    if (const auto made = kernels.make(each, request.gpu); !made) return none(made.error());
  }
  const auto planned = plan_scenario(std::move(scenario), kernels, {}, tuner);
  if (!planned) return none(planned.error());
  const configs::Gpu gpu = gpu_of(planned->scenario);
  const std::shared_ptr<sim::RunCache> known = known_runs();
  const auto outcome = sim::simulate(gpu, make_launches(planned->plan),
                                     {.serialise = in_turn,
                                      .all_sms = request.how.all_sms,
                                      .threads = request.how.threads,
                                      .fold = request.how.folding.options,
                                      .run_cache = known.get()});
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
  return launches;
}

Outcome<SimulatedLaunch> simulate_launch(const configs::Kernel& workload, const LayerRequest& request) {
  configs::Scenario scenario;
  scenario.mutable_policy()->set_kind(configs::SEQUENTIAL);
  *scenario.add_kernel() = workload;
  scenario.mutable_kernel(0)->set_name(kName);
  const auto launches = simulate_scenario(std::move(scenario), request);
  if (!launches) return std::unexpected(launches.error());
  return in_sequence(*launches);
}

Outcome<SimulatedLaunch> simulate_fastest(const std::vector<configs::Kernel>& choices, const LayerRequest& request,
                                          size_t& chosen) {
  if (choices.size() == 1) return simulate_launch(choices.front(), request);
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto bound = bound_of(choices[i], request.gpu);
    if (!bound) return std::unexpected(bound.error());
    if (*bound) order.emplace_back(**bound, i);
  }
  if (order.empty()) return simulate_launch(choices.front(), request);
  std::ranges::sort(order);
  std::optional<SimulatedLaunch> fastest;
  for (const auto& [bound, i] : order) {
    if (fastest && bound >= fastest->us) break;
    auto launch = simulate_launch(choices[i], request);
    if (!launch) return launch;
    if (!launch->reason_not_simulated.empty()) continue;
    if (fastest && launch->us >= fastest->us) continue;
    fastest = std::move(*launch);
    chosen = i;
  }
  return fastest ? *std::move(fastest) : simulate_launch(choices.front(), request);
}

}  // namespace warpfold::cli
