#pragma once

#include <cstddef>
#include <vector>

#include "sim/gpu/simulate.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// Per launch: those that must have ended before it, by name, by stream, or because everything is serialised.
std::vector<std::vector<int>> dependences(const std::vector<Launch>& launches, bool serialise);

// Launches, by index, in the order given. What an epoch holds runs when all of the epoch before has ended, and nothing else does.
using Epoch = std::vector<size_t>;

// Cuts launches wherever all that come later wait for all that came before, directly or not. In between nothing is left to run on
// the whole GPU.
//
//   stream 0: qkv, attention; stream 1: rng; attention after rng    {qkv, rng}, {attention}
std::vector<Epoch> epochs_of(const std::vector<Launch>& launches, bool serialise);

// Parts of launches that never meet: no two share an SM, and none waits for another's. They influence each other in nothing.
//
//   SM_PARTITION: proj, fc1, fc2 on the SMs 0 to 65, rng on the others    {proj, fc1, fc2}, {rng}
std::vector<Epoch> sides_of(const Spec& spec, const std::vector<Launch>& launches, bool serialise);

// The launches of an epoch, or of a side, as a run of their own, streams by number.
std::vector<Launch> launches_of(const std::vector<Launch>& launches, const Epoch& epoch);
// The same of bounds that they might have had instead; a launch that has the GPU to itself has none.
std::vector<std::vector<PlacementBounds>> bounds_of_epoch(const std::vector<std::vector<PlacementBounds>>& bounds,
                                                          const Epoch& epoch);

// The outcome of those launches of a run that ran (Outcome::ran).
Outcome of_those_that_ran(Outcome outcome);

// Outcomes of epochs, each of which has left an idle GPU to the next, as one: of all launches, in their order. Resources have yet
// to be set against the whole time (settle_resources).
Outcome in_sequence(const Spec& spec, const std::vector<Launch>& launches, const std::vector<Epoch>& epochs,
                    const std::vector<const Outcome*>& outcomes, size_t other_bounds);

// The same of sides, all of which begin at once.
Outcome side_by_side(const std::vector<Launch>& launches, const std::vector<Epoch>& sides, const std::vector<Outcome>& outcomes,
                     size_t other_bounds);

// What resources could have done in the time that all has taken.
void settle_resources(const Spec& spec, Outcome& outcome);

}  // namespace warpfold::sim
