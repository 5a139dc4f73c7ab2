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

// Returns the occupancy of one kernel of a plan: its footprint, the limits on its CTAs per SM, and the curves of an occupancy
// calculator.
configs::KernelOccupancy occupancy_of(const sim::Spec& spec, const policies::PlannedKernel& planned, uint32_t sms);

// Returns the largest footprint with which `ctas` CTAs fit on an SM, as settings of the scenario with their values. None if warp
// slots, CTA slots or tensor memory are too few for `ctas`, or if the kernel cannot give up registers.
std::optional<configs::SmallerFootprint> footprint_for(const sim::Spec& spec, const policies::PlannedKernel& planned,
                                                       uint32_t ctas);

// Returns the reason if no smaller footprint fits more CTAs of the kernel on an SM; otherwise "".
std::string why_no_more(const sim::Spec& spec, const policies::PlannedKernel& planned, const configs::KernelOccupancy& now);

}  // namespace warpfold::cli
