#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpfold::profile {

// Finds the operators of launches that a trace records without one. A launch that was queued before the profiler started is such.
// A step repeats itself: such a launch takes the operator of a launch of the same configuration between the same neighbours.
//
// `configurations` has the number of each launch's configuration (kernel, grid, block, registers, shared memory), in order of
// starts. `operators` has the number of each launch's operator, or `none`. The widest neighbourhood that a launch shares with one
// that has an operator decides, of up to 15 launches on either side. If several operators remain, the launch keeps `none`.
// Returns the number of operators found.
size_t find_missing_operators(std::span<const uint32_t> configurations, uint32_t none, std::vector<uint32_t>& operators);

}  // namespace warpfold::profile
