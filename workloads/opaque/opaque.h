#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// A kernel of which only the launch and a time are known. Its CTAs occupy the room that the launch states (Kernel.footprint), and
// are assumed to use one resource. The assumption is listed in the kernel's `assumed`.
//
//   LATENCY  one warp of a CTA waits for loads of 32 bytes from L2, one after the other; the other warps hold their slots. A CTA
//            takes as long beside other CTAs as alone
//   DRAM     each thread reads `amount` words of 4 bytes: 16 bytes an access, four in flight
//   ISSUE    each thread computes `amount` FMAs that do not depend on each other
Expected<traces::Kernel> make_opaque(const configs::Opaque& opaque, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
