#include "tools/warpfold/figures/what_if.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/report/difference.h"
#include "tools/report/overall.h"
#include "tools/warpfold/figures/ratio.h"

namespace warpfold::cli {

void fill_variation(const configs::Result& base, const configs::Result& varied, configs::Variation& variation) {
  variation.set_total_cycles(varied.total_cycles());
  variation.set_total_time_us(varied.total_time_us());
  variation.set_speedup(ratio(base.total_time_us(), varied.total_time_us()));
  variation.set_fold(varied.fold().mode());
  if (varied.has_power()) {
    variation.set_clock_mhz(varied.power().clock_mhz());
    variation.set_watts(varied.power().watts());
    variation.set_joules(varied.power().joules());
  }
  for (int k = 0; k < varied.kernels_size(); ++k) {
    const configs::KernelResult& kernel = varied.kernels(k);
    configs::VariedKernel& entry = *variation.add_kernels();
    entry.set_name(kernel.name());
    entry.set_cycles(kernel.cycles());
    entry.set_time_us(kernel.time_us());
    entry.set_bound_by(kernel.bound_by());
    // A policy may launch different kernels on another machine; a kernel without a counterpart has no speedup.
    const auto before = std::ranges::find(base.kernels(), kernel.name(), &configs::KernelResult::name);
    if (before != base.kernels().end()) entry.set_speedup(ratio(before->time_us(), kernel.time_us()));
  }
}

void explain(const configs::Result& base, const configs::Result& varied, configs::Variation& variation) {
  configs::Run before;
  configs::Run after;
  *before.mutable_result() = base;
  *after.mutable_result() = varied;
  const bool longer = varied.total_time_us() > base.total_time_us();
  if (const auto change = report::kernel_change(base, report::difference_of(before, after), longer))
    variation.set_reason(change->text());
}

void rank_resources(configs::WhatIf& what_if) {
  std::vector<configs::VariedResource> resources(what_if.resources().begin(), what_if.resources().end());
  std::ranges::stable_sort(resources, [](const auto& left, const auto& right) {
    if (left.better().speedup() != right.better().speedup()) return left.better().speedup() > right.better().speedup();
    return left.worse().speedup() < right.worse().speedup();
  });
  for (int r = 0; r < what_if.resources_size(); ++r) what_if.mutable_resources(r)->Swap(&resources[static_cast<size_t>(r)]);
}

}  // namespace warpfold::cli
