#include "sim/plan/run_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpfold::sim {

RunPlan RunPlanner::plan() const {
  RunPlan plan;
  plan.epochs = epochs_of(launches_, serialise_);
  // If launches take no time, no epoch is known to leave the GPU idle (GpuRun::may_leave_idle).
  if (spec_.kernel_launch == 0 && plan.epochs.size() > 1) join_epochs(plan, 0);
  return plan;
}

void split_epoch(RunPlan& plan, size_t e, const std::vector<size_t>& ran) {
  Epoch first;
  for (const size_t place : ran) first.push_back(plan.epochs[e][place]);
  Epoch rest;
  std::ranges::set_difference(plan.epochs[e], first, std::back_inserter(rest));
  plan.epochs[e] = std::move(first);
  if (!rest.empty()) plan.epochs.insert(plan.epochs.begin() + static_cast<ptrdiff_t>(e) + 1, std::move(rest));
}

void join_epochs(RunPlan& plan, size_t e) {
  Epoch all;
  for (size_t later = e; later < plan.epochs.size(); ++later) std::ranges::copy(plan.epochs[later], std::back_inserter(all));
  std::ranges::sort(all);
  plan.epochs.resize(e);
  plan.epochs.push_back(std::move(all));
}

}  // namespace warpfold::sim
