#pragma once

#include <string>
#include <string_view>

#include "configs/gpu.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::cli {

// Returns the bound of a kernel that ran alone on `sms` SMs: the busiest resource if it is busy for more than 60 % of the time
// ("wgmma"). Otherwise no resource binds the kernel, and the bound is:
//
//   grid                       SMs without a CTA
//   CTA starts                 an SM starts CTAs one after the other, for more than 60 % of the time
//   occupancy (registers)      more CTAs would hide latency, but an SM lacks registers for them
//   latency of global memory   all CTAs are resident, and their warps wait most for global memory
//   clock                      all CTAs are resident, and their warps issue, or wait for fixed latencies
std::string binding_of(const configs::Gpu& gpu, uint32_t sms, const sim::Outcome& alone);

// Returns the resource of `warpfold whatif` that relieves `name`, a bound or a contended resource: "wgmma" -> "tensor", "occupancy
// (registers)" -> "registers". Empty if a machine cannot have more of `name`: grid, clock.
std::string relief_of(std::string_view name);

}  // namespace warpfold::cli
