#pragma once

#include <optional>

#include "configs/gpu.pb.h"
#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "configs/study.pb.h"

namespace warpfold::configs {

// The first thing wrong with a merged message, for callers that know where its values were written.
// `prefix` goes before every path ("gpu." within a scenario).
std::optional<Finding> find_gpu_fault(const Gpu& gpu, const std::string& prefix);
// Of it the power model, and whether the clock can follow from it; numbers by themselves are checked with the rest.
std::optional<Finding> find_power_fault(const Gpu& gpu);
// Parameters by themselves: to be asked before they are applied.
std::optional<Finding> find_parameter_fault(const Scenario& scenario);
// Shapes and options of one kernel's workload; `path` is the kernel's.
std::optional<Finding> find_workload_fault(const Kernel& kernel, const std::string& path);
// Shares, quotas and the kernels that a policy names, those of policies that are not chosen included.
std::optional<Finding> find_policy_fault(const Scenario& scenario);
// Everything but the GPU, workloads included.
std::optional<Finding> find_scenario_fault(const Scenario& scenario);
// Axes, policies and figures by themselves; what the axes set is checked with the scenario.
std::optional<Finding> find_study_fault(const Study& study);

}  // namespace warpfold::configs
