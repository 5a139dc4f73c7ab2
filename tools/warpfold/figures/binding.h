#pragma once

#include <string>
#include <string_view>

#include "configs/gpu.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::cli {

// The bound of a kernel that ran alone on `sms` SMs: the busiest resource, where it is busy for more than 60 % of the time
// ("wgmma"). Less busy, no resource binds it:
//
//   grid                       SMs without a CTA
//   CTA starts                 an SM starts CTAs one after the other, for more than 60 % of the time
//   occupancy (registers)      CTAs that an SM has no registers for would hide latency
//   latency of global memory   all CTAs are resident, and their warps wait for this most
//   clock                      all CTAs are resident, and their warps issue, or wait for fixed latencies
std::string binding_of(const configs::Gpu& gpu, uint32_t sms, const sim::Outcome& alone);

// The resource of `warpfold whatif` that has more to give where `name` binds or is contended for: "wgmma" -> "tensor", "occupancy
// (registers)" -> "registers". Empty where a machine cannot have more of it: grid, clock.
std::string relief_of(std::string_view name);

}  // namespace warpfold::cli
