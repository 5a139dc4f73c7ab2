#pragma once

#include <cstdint>
#include <limits>

namespace warpfold::sim {

using Cycle = uint64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

// Without a branch, where which of the two it is cannot be foreseen.
constexpr Cycle earlier(Cycle a, Cycle b) { return a ^ ((a ^ b) & (Cycle{0} - static_cast<Cycle>(b < a))); }
constexpr Cycle later(Cycle a, Cycle b) { return a ^ ((a ^ b) & (Cycle{0} - static_cast<Cycle>(a < b))); }

}  // namespace warpfold::sim
