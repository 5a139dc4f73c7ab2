#include "sim/plan/run_plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace warpfold::sim {
namespace {

// Launches given by their places in `of`.
Epoch at_places(const Epoch& of, const Epoch& places) {
  Epoch launches;
  for (const size_t place : places) launches.push_back(of[place]);
  return launches;
}

}  // namespace

RunPlan RunPlanner::plan() const {
  Epoch all(launches_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return sequence(all);
}

RunPlan RunPlanner::sequence(const Epoch& launches) const {
  RunPlan plan{.kind = RunPlan::Kind::kSequence, .launches = launches};
  for (const Epoch& each : epochs_of(launches_of(launches_, launches), serialise_))
    plan.parts.push_back(epoch(at_places(launches, each)));
  // Where launches take no time, no epoch is known to leave an idle GPU (GpuRun::may_leave_idle).
  if (spec_.kernel_launch == 0 && plan.parts.size() > 1) join_epochs(plan, 0);
  return plan;
}

RunPlan RunPlanner::epoch(Epoch launches) const {
  const auto groups = independent_groups(spec_, launches_of(launches_, launches), serialise_ && launches.size() > 1);
  RunPlan plan{.kind = groups.size() > 1 ? RunPlan::Kind::kSideBySide : RunPlan::Kind::kLeaf, .launches = std::move(launches)};
  if (plan.kind == RunPlan::Kind::kLeaf) return plan;
  for (const Epoch& group : groups) plan.parts.push_back(sequence(at_places(plan.launches, group)));
  return plan;
}

void RunPlanner::split_epoch(RunPlan& sequence, size_t e, const std::vector<size_t>& ran) const {
  RunPlan& part = sequence.parts[e];
  Epoch first = at_places(part.launches, ran);
  Epoch rest;
  std::ranges::set_difference(part.launches, first, std::back_inserter(rest));
  part.launches = std::move(first);
  if (!rest.empty()) sequence.parts.insert(sequence.parts.begin() + static_cast<ptrdiff_t>(e) + 1, epoch(std::move(rest)));
}

void RunPlanner::join_epochs(RunPlan& sequence, size_t e) const {
  Epoch all;
  for (size_t later = e; later < sequence.parts.size(); ++later)
    std::ranges::copy(sequence.parts[later].launches, std::back_inserter(all));
  std::ranges::sort(all);
  sequence.parts.resize(e);
  sequence.parts.push_back(epoch(std::move(all)));
}

}  // namespace warpfold::sim
