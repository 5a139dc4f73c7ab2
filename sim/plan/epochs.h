#pragma once

#include <cstddef>
#include <vector>

#include "sim/sm/sm_launch.h"
#include "traces/launch.h"

namespace warpfold::sim {

using traces::Launch;

// Returns for each launch the launches that must have ended before it: those of Launch::after, and earlier ones of its
// stream, or all earlier ones if launches are serialised.
std::vector<std::vector<int>> dependences(const std::vector<Launch>& launches, bool serialise);

// Launches of an epoch, by index, in the order given. They run after all launches of the epoch before have ended, and
// no other launch runs meanwhile.
using Epoch = std::vector<size_t>;

// Cuts launches into epochs: at each point where all later launches wait for all earlier ones, directly or not. The
// whole GPU has drained there.
//
//   stream 0: qkv, attention; stream 1: rng; attention after rng    {qkv, rng}, {attention}
std::vector<Epoch> epochs_of(const std::vector<Launch>& launches, bool serialise);

// Returns the launches of an epoch as a run of their own, with streams numbered from 0. A single launch loses its
// bounds, stream and priority, which have no effect when it runs by itself.
std::vector<Launch> launches_of(const std::vector<Launch>& launches, const Epoch& epoch);
// Returns the alternative bounds of an epoch's launches; none if the epoch is a single launch.
std::vector<std::vector<PlacementBounds>> bounds_of_epoch(const std::vector<std::vector<PlacementBounds>>& bounds,
                                                          const Epoch& epoch);

}  // namespace warpfold::sim
