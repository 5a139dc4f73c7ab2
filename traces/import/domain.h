#pragma once

#include <array>
#include <cstdint>

namespace warpfold::sass {

inline constexpr int kLanes = 32;

// Variables of an affine value: the CTA's cluster index in x, y and z, then the passes of the loops being folded,
// outermost first.
inline constexpr int kCtaVariables = 3;
inline constexpr int kLoopVariables = 5;
inline constexpr int kVariables = kCtaVariables + kLoopVariables;

// Number of values of each variable: from 0, the executed value, to the extent less one.
using Extents = std::array<uint32_t, kVariables>;
inline constexpr uint32_t kUnbounded = 0x7fffffff;
inline constexpr Extents kNoLimit{kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded};

Extents smaller(const Extents& a, const Extents& b);

// Integer that is linear in the variables: base + sum of slope[v] * v.
struct Linear {
  int64_t base = 0;
  std::array<int64_t, kVariables> slope{};
};
Linear operator-(const Linear& a, const Linear& b);
Linear operator+(const Linear& a, const Linear& b);

// Order in which variables are limited. Decisions use kCtas: a path stays valid for as many CTAs as possible. Wraps of
// 32 bits (carries) use kPasses: an array beyond 4 GiB is divided into a few ranges of CTAs, and loops stay whole.
enum class Keep : uint8_t { kCtas, kPasses };

// Returns the part of `extents` in which least <= value <= most, which must hold at the origin.
Extents within(const Linear& value, int64_t least, int64_t most, const Extents& extents, Keep keep = Keep::kCtas);

}  // namespace warpfold::sass
