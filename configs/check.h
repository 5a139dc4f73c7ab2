#pragma once

#include <optional>

#include "configs/gpu.pb.h"
#include "configs/places.h"
#include "configs/scenario.pb.h"
#include "configs/study.pb.h"

namespace warpfold::configs {

// The checks return the first fault of a merged message, for callers that know where its values were written. `prefix`
// goes before every path ("gpu." within a scenario).
std::optional<Finding> find_gpu_fault(const Gpu& gpu, const std::string& prefix);
// Checks the GPU's power model, and whether the clock can follow from it. find_gpu_fault checks the range of each
// number.
std::optional<Finding> find_power_fault(const Gpu& gpu);
// Checks parameters by themselves, before they are applied.
std::optional<Finding> find_parameter_fault(const Scenario& scenario);
// Checks shapes and options of one kernel's workload. `path` is the kernel's.
std::optional<Finding> find_workload_fault(const Kernel& kernel, const std::string& path);
// Checks shares, quotas and the kernels that policies name, also of policies that are not chosen.
std::optional<Finding> find_policy_fault(const Scenario& scenario);
// Checks everything except the GPU, workloads included.
std::optional<Finding> find_scenario_fault(const Scenario& scenario);
// Checks axes, policies and figures by themselves. The values that axes set are checked with the scenario.
std::optional<Finding> find_study_fault(const Study& study);

}  // namespace warpfold::configs
