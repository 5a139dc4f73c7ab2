#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/occupancy.pb.h"
#include "configs/result.pb.h"
#include "sim/sm/spec.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// What one kernel of a plan occupies, what bounds its CTAs on an SM, and the curves of an occupancy calculator.
configs::KernelOccupancy occupancy_of(const sim::Spec& spec, const policies::PlannedKernel& planned, uint32_t sms);

// The largest footprint with which `ctas` CTAs fit on an SM: its settings of the scenario, its figures. None where warp slots, CTA
// slots or tensor memory leave no room for so many, or where the kernel cannot give up registers.
std::optional<configs::SmallerFootprint> footprint_for(const sim::Spec& spec, const policies::PlannedKernel& planned,
                                                       uint32_t ctas);

// Why no footprint lets more CTAs of the kernel in, "" where one does.
std::string why_no_more(const sim::Spec& spec, const policies::PlannedKernel& planned, const configs::KernelOccupancy& now);

}  // namespace warpfold::cli
