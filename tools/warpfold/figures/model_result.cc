#include "tools/warpfold/figures/model_result.h"

#include <cmath>

#include "tools/report/saved_result.h"

namespace warpfold::cli {

namespace {

void fill_kernel(const configs::Kernel& kernel, const sim::Limiters& limiters, double clock_mhz, configs::KernelResult& result) {
  result.set_name(kernel.name());
  result.set_cycles(static_cast<uint64_t>(std::ceil(limiters.cycles())));
  result.set_time_us(limiters.cycles() / clock_mhz);
  result.set_bound_by(limiters.all().front().resource);
  for (const sim::Limiter& limiter : limiters.all()) {
    configs::Limiter& entry = *result.add_limiters();
    entry.set_resource(limiter.resource);
    entry.set_cycles(limiter.cycles);
    entry.set_time_us(limiter.cycles / clock_mhz);
    entry.set_slack_cycles(limiter.slack);
  }
}

void fill_interference(const sim::Interference& from, configs::Interference& to) {
  to.set_source(from.source);
  to.set_gemm_slowdown(from.gemm_slowdown);
  to.set_rng_slowdown(from.rng_slowdown);
  to.set_dropping(from.dropping);
  if (from.hidden_by_fusion) to.set_hidden_by_fusion(*from.hidden_by_fusion);
}

}  // namespace

configs::Result model_result(const configs::Scenario& scenario, const Chain& chain, const MeasuredInterference& measured) {
  const sim::Interference& interference = measured.interference;
  const double clock_mhz = scenario.gpu().clock_mhz();
  configs::Result result;
  result.set_format(report::kResultFormat);
  result.set_estimator("limiter_model");
  result.set_scenario(scenario.name());
  result.set_policy(configs::PolicyKind_Name(scenario.policy().kind()));
  result.set_gpu(scenario.gpu().name());
  for (size_t k = 0; k < chain.limiters.size(); ++k) {
    configs::KernelResult& kernel = *result.add_kernels();
    fill_kernel(scenario.kernel(static_cast<int>(k)), chain.limiters[k], clock_mhz, kernel);
    const auto simulated = measured.alone.find(kernel.name());
    if (simulated != measured.alone.end()) kernel.set_solo_cycles(simulated->second);
    const auto warning = tensor_warning(scenario.gpu(), kernel.name(), chain.work[k], kernel.time_us());
    if (warning) result.add_warnings(*warning);
  }
  configs::Model& model = *result.mutable_model();
  fill_interference(interference, *model.mutable_interference());
  const auto compositions = compositions_of(chain, interference);
  for (const sim::Composition& composition : compositions) {
    configs::Composition& entry = *model.add_compositions();
    entry.set_name(composition.name);
    entry.set_total_time_us(composition.total / clock_mhz);
    entry.set_speedup(compositions.front().total / composition.total);
    entry.set_gemm_us(composition.gemm / clock_mhz);
    entry.set_exposed_rng_us(composition.exposed_rng / clock_mhz);
    entry.set_attention_us(composition.attention / clock_mhz);
  }
  if (chain.has_gemm && chain.has_rng) {
    model.set_region(static_cast<uint32_t>(sim::region_of(chain.times, interference)));
  }
  model.set_any_policy_us(chain.any_policy.lower_bound() / clock_mhz);
  model.set_any_policy_bound_by(chain.any_policy.all().front().resource);
  // The composition that corresponds to the policy.
  const bool apart = scenario.policy().kind() == configs::SEQUENTIAL;
  const sim::Composition& whole = apart ? compositions.front() : compositions.back();
  result.set_total_cycles(static_cast<uint64_t>(std::ceil(whole.total)));
  result.set_total_time_us(whole.total / clock_mhz);
  result.mutable_provenance()->set_version(WARPFOLD_VERSION);
  *result.mutable_provenance()->mutable_scenario() = scenario;
  return result;
}

}  // namespace warpfold::cli
