#pragma once

#include "traces/import/path.h"
#include "traces/import/warp.h"

namespace warpfold::sass {

// SYNCS, loads of TMA, commits of tcgen05, and the cluster's barrier, at which every warp of each CTA arrives.
bool uses_mbarrier(const Op& op);
// An arrival at an mbarrier: a thread's, or the one of tcgen05.commit.
bool arrives(isa::Behaviour behaviour);
bool at_cluster_barrier(const Op& op);
bool initialises_mbarrier(const Op& op);

// The mbarrier that one execution by the lanes of `active` uses; none of another instruction. Throws UnknownValue and NotLinear
// where its address, parity or count is not known, NotFollowed at what the trace language has no effect for.
MbarrierUse mbarrier_use(const Warp& warp, const Op& op, uint32_t active);

// Bytes that an arrival expects besides arrivals.
uint32_t expected_bytes(const Warp& warp, const Op& op, uint32_t active);

// The value that all lanes of `active` have, which no variable moves.
uint32_t fixed_value(const Word& word, const Op& op, uint32_t active);

}  // namespace warpfold::sass
