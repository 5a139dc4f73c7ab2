#include "tools/warpfold/figures/result.h"

#include <algorithm>

#include "isa/architecture.h"
#include "sim/account/states.h"
#include "tools/report/saved_result.h"
#include "tools/warpfold/figures/accounts.h"
#include "tools/warpfold/figures/data_sheet.h"
#include "tools/warpfold/figures/memory_traffic.h"
#include "tools/warpfold/figures/ratio.h"
#include "tools/warpfold/figures/roofline.h"
#include "tools/warpfold/figures/timeline.h"
#include "traces/stats.h"

namespace warpfold::cli {

namespace {

void fill_mix(const traces::Kernel& kernel, configs::KernelResult& result) {
  constexpr size_t kMostOpcodes = 12;
  for (const traces::RoleStatistics& role : traces::statistics(kernel).roles) {
    configs::RoleMix& mix = *result.add_mix();
    mix.set_role(role.name);
    mix.set_warps_per_cta(role.warps);
    mix.set_issued(role.instructions.issued);
    for (size_t pipe = 0; pipe < role.pipes.size(); ++pipe) {
      if (role.pipes[pipe].issued == 0) continue;
      configs::InstructionCount& count = *mix.add_pipes();
      count.set_name(std::string(isa::pipe_name(static_cast<isa::Pipe>(pipe))));
      count.set_issued(role.pipes[pipe].issued);
    }
    for (size_t o = 0; o < std::min(role.opcodes.size(), kMostOpcodes); ++o) {
      configs::InstructionCount& count = *mix.add_opcodes();
      count.set_name(role.opcodes[o].name);
      count.set_issued(role.opcodes[o].instructions.issued);
    }
  }
}

void fill_kernel(const configs::Gpu& gpu, const policies::PlannedKernel& planned, const sim::KernelCounters& counters,
                 configs::KernelResult& result) {
  const traces::Kernel& kernel = planned.kernel;
  const uint64_t cycles = counters.end_cycle - counters.start_cycle;
  const double time_us = static_cast<double>(cycles) / gpu.clock_mhz();
  result.set_name(kernel.name);
  result.set_of(planned.of);
  for (const std::string& name : planned.also) result.add_also(name);
  result.set_sms(planned.sms.count > 0 ? planned.sms.count : gpu.sm_count());
  result.set_cycles(cycles);
  result.set_time_us(time_us);
  result.set_start_cycle(counters.start_cycle);
  result.set_end_cycle(counters.end_cycle);
  result.set_ctas(counters.ctas);
  result.set_instructions_issued(counters.instructions);
  result.set_resident_warp_cycles(counters.resident_warp_cycles);
  result.set_tflops(ratio(static_cast<double>(kernel.flops), time_us * 1e6));
  result.set_l2_bytes(counters.l2_bytes);
  result.set_dram_bytes(counters.dram_bytes);

  configs::Occupancy& occupancy = *result.mutable_occupancy();
  const bool grid_fits = counters.ctas < uint64_t{counters.cta_limit} * result.sms();
  occupancy.set_ctas_per_sm_limit(counters.cta_limit);
  occupancy.set_limiter(grid_fits ? "grid" : counters.cta_limiter);
  occupancy.set_average_warps(average_warps(result.sms(), counters));

  fill_mix(kernel, result);
  for (int state = 0; state < sim::kWarpStates; ++state) {
    configs::StateCycles& entry = *result.add_states();
    entry.set_state(std::string(sim::state_name(static_cast<sim::WarpState>(state))));
    entry.set_warp_cycles(counters.states[static_cast<size_t>(state)]);
  }
}

// Records the initial state of L2 unless it is COLD.
void fill_l2(const configs::Scenario& scenario, const policies::PlannedKernel& planned, configs::KernelResult& result) {
  const auto kernel = std::ranges::find(scenario.kernel(), planned.of, [](const configs::Kernel& each) { return each.name(); });
  if (kernel == scenario.kernel().end() || kernel->l2() == configs::COLD) return;
  result.set_l2(configs::L2State_Name(kernel->l2()));
  result.set_found_in_l2_bytes(planned.found_in_l2_bytes);
}

// Adds warnings about each kernel's operations, and about all bytes that DRAM served.
void fill_warnings(const policies::Plan& plan, const sim::Outcome& outcome, const configs::Gpu& gpu, configs::Result& result) {
  const auto add = [&](const std::optional<std::string>& warning) {
    if (warning) result.add_warnings(*warning);
  };
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const configs::KernelResult& kernel = result.kernels(static_cast<int>(k));
    add(tensor_warning(gpu, kernel.name(), tensor_work(plan.kernels[k].kernel), kernel.time_us()));
  }
  const auto dram = std::ranges::find(outcome.resources, "dram", &sim::ResourceUse::name);
  if (dram != outcome.resources.end()) add(memory_warning(gpu, static_cast<double>(dram->busy), result.total_time_us()));
}

void fill_company(const policies::Plan& plan, const sim::KernelCounters& counters, configs::KernelResult& result) {
  for (size_t other = 0; other < counters.beside.size(); ++other) {
    if (counters.beside[other] == 0) continue;
    configs::Company& company = *result.add_beside();
    company.set_kernel(plan.kernels[other].kernel.name);
    company.set_warp_cycles(counters.beside[other]);
  }
}

void fill_ledger(const policies::Plan& plan, const sim::Outcome& outcome, configs::Result& result) {
  for (size_t victim = 0; victim < outcome.ledger.size(); ++victim) {
    for (size_t culprit = 0; culprit < outcome.ledger[victim].size(); ++culprit) {
      for (size_t resource = 0; resource < sim::kContended; ++resource) {
        const uint64_t lost = outcome.ledger[victim][culprit][resource];
        if (lost == 0) continue;
        configs::LedgerEntry& entry = *result.add_ledger();
        entry.set_victim(plan.kernels[victim].kernel.name);
        entry.set_culprit(plan.kernels[culprit].kernel.name);
        entry.set_resource(std::string(sim::contended_name(static_cast<sim::Contended>(resource))));
        entry.set_warp_cycles(lost);
      }
    }
  }
}

}  // namespace

double utilization(const sim::ResourceUse& use) { return ratio(static_cast<double>(use.busy), static_cast<double>(use.capacity)); }

double average_warps(uint32_t sms, const sim::KernelCounters& counters) {
  const uint64_t cycles = counters.end_cycle - counters.start_cycle;
  return ratio(static_cast<double>(counters.resident_warp_cycles), static_cast<double>(cycles) * sms);
}

configs::Result make_result(const configs::Scenario& scenario, const policies::Plan& plan, const sim::Outcome& outcome) {
  configs::Result result;
  result.set_format(report::kResultFormat);
  result.set_estimator("simulation");
  result.set_scenario(scenario.name());
  result.set_policy(configs::PolicyKind_Name(scenario.policy().kind()));
  result.set_gpu(scenario.gpu().name());
  result.set_total_cycles(outcome.total_cycles);
  result.set_total_time_us(static_cast<double>(outcome.total_cycles) / scenario.gpu().clock_mhz());
  result.set_sm_classes(outcome.sm_classes);
  result.set_sms_simulated(outcome.sms_simulated);
  result.set_whole_chip(outcome.whole_chip);
  uint64_t instructions = 0;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    fill_kernel(scenario.gpu(), plan.kernels[k], outcome.kernels[k], *result.add_kernels());
    fill_l2(scenario, plan.kernels[k], *result.mutable_kernels(static_cast<int>(k)));
    for (const std::string& assumed : plan.kernels[k].kernel.assumed)
      result.mutable_kernels(static_cast<int>(k))->add_assumptions(assumed);
    fill_company(plan, outcome.kernels[k], *result.mutable_kernels(static_cast<int>(k)));
    fill_accounts(plan, k, outcome.kernels[k], *result.mutable_kernels(static_cast<int>(k)));
    fill_memory_traffic(scenario.gpu(), plan.kernels[k].kernel, *result.mutable_kernels(static_cast<int>(k)));
    fill_roofline(scenario.gpu(), plan.kernels[k].kernel, *result.mutable_kernels(static_cast<int>(k)));
    instructions += outcome.kernels[k].instructions;
  }
  result.set_instructions_issued(instructions);
  for (const sim::ResourceUse& use : outcome.resources) {
    configs::Resource& resource = *result.add_resources();
    resource.set_name(use.name);
    resource.set_busy(use.busy);
    resource.set_capacity(use.capacity);
    resource.set_utilization(utilization(use));
  }
  fill_warnings(plan, outcome, scenario.gpu(), result);
  fill_ledger(plan, outcome, result);
  if (!outcome.timeline.sms.empty()) *result.mutable_timeline() = make_timeline(plan, outcome.timeline);
  result.set_stored_bits_bytes(plan.stored_bits_bytes);
  result.mutable_provenance()->set_version(WARPFOLD_VERSION);
  *result.mutable_provenance()->mutable_scenario() = scenario;
  return result;
}

}  // namespace warpfold::cli
