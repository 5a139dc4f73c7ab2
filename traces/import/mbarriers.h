#pragma once

#include "traces/import/path.h"
#include "traces/import/warp.h"

namespace warpfold::sass {

// True for SYNCS, TMA loads, commits of tcgen05, and the cluster's barrier, at which every warp of each CTA arrives.
bool uses_mbarrier(const Op& op);
// True for an arrival at an mbarrier, by a thread or by tcgen05.commit.
bool arrives(isa::Behaviour behaviour);
bool at_cluster_barrier(const Op& op);
bool initialises_mbarrier(const Op& op);

// Returns the mbarrier that one execution by the lanes of `active` uses, or none for other instructions. Throws
// UnknownValue or NotLinear if its address, parity or count is unknown, and NotFollowed for operations without an
// effect in the trace language.
MbarrierUse mbarrier_use(const Warp& warp, const Op& op, uint32_t active);

// Returns the bytes that an arrival expects, in addition to arrivals.
uint32_t expected_bytes(const Warp& warp, const Op& op, uint32_t active);

// Returns the value common to all lanes of `active`, which must not depend on a variable.
uint32_t fixed_value(const Word& word, const Op& op, uint32_t active);

}  // namespace warpfold::sass
