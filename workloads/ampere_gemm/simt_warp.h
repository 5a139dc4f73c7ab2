#pragma once

#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/ampere_gemm/simt_plan.h"

namespace warpfold::workloads {

// The program of every warp of a CTA. One k-tile of its loop:
//
//   step 0 to 7   FFMA of every sum of the thread, a column of k; between them LDS.128 of the next column's operands
//   step 0 to 6   between the FFMAs, copies of a later k-tile: LDGSTS, or LDG; in step 6 STS
//   step 7        copies have arrived, barrier of the CTA; LDS.128 of the next k-tile's first column
//
// Streams by index: A, B, C as in mma_warp.h.
std::vector<traces::Node> simt_warp_body(const isa::Architecture& architecture, const SimtGemmPlan& plan);

}  // namespace warpfold::workloads
