#pragma once

#include <cstdint>
#include <limits>

namespace warpfold::sim {

using Cycle = uint64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

// Branch-free minimum and maximum, for comparisons that branch prediction cannot foresee.
constexpr Cycle earlier(Cycle a, Cycle b) { return a ^ ((a ^ b) & (Cycle{0} - static_cast<Cycle>(b < a))); }
constexpr Cycle later(Cycle a, Cycle b) { return a ^ ((a ^ b) & (Cycle{0} - static_cast<Cycle>(a < b))); }

}  // namespace warpfold::sim
