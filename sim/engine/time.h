#pragma once

#include <cstdint>
#include <limits>

namespace warpfold::sim {

using Cycle = uint64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

}  // namespace warpfold::sim
