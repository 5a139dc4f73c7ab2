#pragma once

#include <cstddef>
#include <vector>

#include "sim/sm/sm_launch.h"
#include "traces/launch.h"

namespace warpfold::sim {

using traces::Launch;

// Per launch: those that must have ended before it, by name, by stream, or because everything is serialised.
std::vector<std::vector<int>> dependences(const std::vector<Launch>& launches, bool serialise);

// Launches, by index, in the order given. What an epoch holds runs when all of the epoch before has ended, and nothing else does.
using Epoch = std::vector<size_t>;

// Cuts launches wherever all that come later wait for all that came before, directly or not. In between nothing is left to run on
// the whole GPU.
//
//   stream 0: qkv, attention; stream 1: rng; attention after rng    {qkv, rng}, {attention}
std::vector<Epoch> epochs_of(const std::vector<Launch>& launches, bool serialise);

// The launches of an epoch as a run of their own, streams by number.
std::vector<Launch> launches_of(const std::vector<Launch>& launches, const Epoch& epoch);
// The same of bounds that they might have had instead; a launch that has the GPU to itself has none.
std::vector<std::vector<PlacementBounds>> bounds_of_epoch(const std::vector<std::vector<PlacementBounds>>& bounds,
                                                          const Epoch& epoch);

}  // namespace warpfold::sim
