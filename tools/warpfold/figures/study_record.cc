#include "tools/warpfold/figures/study_record.h"

#include <algorithm>

#include "sim/analytic/composition.h"
#include "tools/warpfold/figures/chain.h"

namespace warpfold::cli {

namespace {

void add_region(const std::string& estimator, const sim::ChainTimes& times, const sim::Interference& interference,
                configs::StudyPoint& record) {
  configs::StudyRegion& region = *record.add_region();
  region.set_estimator(estimator);
  region.set_region(static_cast<uint32_t>(sim::region_of(times, interference)));
}

// Returns the simulated times of the scenario's kernels alone. Attention in the scenario reads stored bits.
sim::ChainTimes simulated_times(const configs::Scenario& scenario, const configs::Result& result) {
  sim::ChainTimes times;
  for (int k = 0; k < scenario.kernel_size(); ++k) {
    const auto cycles = static_cast<double>(result.alone(k).cycles());
    switch (kind_of(scenario.kernel(k))) {
      case KernelKind::kGemm:
        times.gemm += cycles;
        break;
      case KernelKind::kRng:
        times.rng += cycles;
        break;
      case KernelKind::kAttention:
        times.attention += cycles;
        break;
      case KernelKind::kOther:
        times.others += cycles;
        break;
    }
  }
  return times;
}

// Returns the limiter model's composition for a policy.
std::string composition_of(const std::string& policy) {
  if (policy == "SEQUENTIAL") return "sequential";
  return policy == "FUSED" ? "fused" : "overlapped";
}

}  // namespace

void add_simulated_run(const configs::Result& result, configs::StudyPoint& record) {
  configs::StudyRun& run = *record.add_run();
  run.set_policy(result.policy());
  run.set_estimator("simulation");
  run.set_total_time_us(result.total_time_us());
  run.set_fold(result.fold().mode());
  run.set_error_bound(result.fold().has_total_error_bound() ? result.fold().total_error_bound() : result.fold().error_bound());
  run.set_stored_bits_bytes(result.stored_bits_bytes());
  *run.mutable_warnings() = result.warnings();
  if (result.has_power()) run.set_energy_j(result.power().joules());
  for (const configs::KernelResult& kernel : result.kernels()) {
    configs::StudyKernel& entry = *run.add_kernel();
    entry.set_name(kernel.name());
    entry.set_time_us(kernel.time_us());
    entry.set_alone_us(kernel.time_us() / kernel.slowdown_vs_solo());
    entry.set_slowdown(kernel.slowdown_vs_solo());
    entry.set_bound_by(kernel.bound_by());
  }
}

Expected<void> add_limiter_model(const configs::Scenario& scenario, const std::string& file,
                                 const std::vector<configs::Result>& results, configs::StudyPoint& record) {
  const auto chain = make_chain(scenario, file, false);
  if (!chain) return std::unexpected(chain.error());
  if (!chain->has_gemm || !chain->has_rng) return {};
  sim::Interference interference;
  for (const configs::Result& result : results) {
    if (composition_of(result.policy()) != "overlapped" || result.kernels_size() != scenario.kernel_size()) continue;
    interference = measured_interference(scenario, result);
    break;
  }
  add_region("simulation", simulated_times(scenario, results.front()), interference, record);
  interference.dropping = chain->dropping;
  add_region("limiter_model", chain->times, interference, record);
  const auto compositions = compositions_of(*chain, interference);
  for (const configs::Result& result : results) {
    const auto found = std::ranges::find(compositions, composition_of(result.policy()), &sim::Composition::name);
    if (found == compositions.end()) continue;
    configs::StudyRun& run = *record.add_run();
    run.set_policy(result.policy());
    run.set_estimator("limiter_model");
    run.set_total_time_us(found->total / scenario.gpu().clock_mhz());
    for (int k = 0; k < scenario.kernel_size(); ++k) {
      configs::StudyKernel& kernel = *run.add_kernel();
      kernel.set_name(scenario.kernel(k).name());
      const sim::Limiters& limiters = chain->limiters[static_cast<size_t>(k)];
      kernel.set_alone_us(limiters.cycles() / scenario.gpu().clock_mhz());
      kernel.set_bound_by(limiters.all().front().resource);
    }
  }
  return {};
}

}  // namespace warpfold::cli
