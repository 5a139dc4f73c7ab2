#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// A kernel of which only the launch and a time are known: CTAs that hold the room that the launch states (Kernel.footprint) and ask
// for one resource, as is assumed of them. The kernel says so among its assumptions.
//
//   ROOM   one warp of a CTA waits for loads from L2, one after the other; the other warps hold their slots. 32 CTAs on every SM
//          take 9 % of an H100's L2 bandwidth, one CTA 0.3 %
//   DRAM   each thread reads `amount` words of 4 bytes: 16 bytes an access, four in flight
//   ISSUE  each thread computes `amount` FMAs that do not depend on each other
Expected<traces::Kernel> make_opaque(const configs::Opaque& opaque, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
