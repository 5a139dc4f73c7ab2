#pragma once

#include <array>
#include <cstdint>

namespace warpfold::sass {

inline constexpr int kLanes = 32;

// Variables of an affine value: the CTA's index in x, y and z, then the passes of loops that are being folded, outermost first.
inline constexpr int kCtaVariables = 3;
inline constexpr int kLoopVariables = 5;
inline constexpr int kVariables = kCtaVariables + kLoopVariables;

// How far each variable may go, from 0 (the value that is executed) to one less.
using Extents = std::array<uint32_t, kVariables>;
inline constexpr uint32_t kUnbounded = 0x7fffffff;
inline constexpr Extents kNoLimit{kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded};

Extents smaller(const Extents& a, const Extents& b);

// An integer that depends linearly on the variables: base + sum of slope[v] * v.
struct Linear {
  int64_t base = 0;
  std::array<int64_t, kVariables> slope{};
};
Linear operator-(const Linear& a, const Linear& b);
Linear operator+(const Linear& a, const Linear& b);

// Which variables are cut first. Decisions keep the CTAs together: a path stays valid for as many as it can. What is only a matter
// of 32 bits (a carry, a wrap) keeps passes together: an array beyond 4 GiB is cut into few ranges of CTAs, but loops go on.
enum class Keep : uint8_t { kCtas, kPasses };

// The part of `extents` in which least <= value <= most holds, given that it holds at the origin.
Extents within(const Linear& value, int64_t least, int64_t most, const Extents& extents, Keep keep = Keep::kCtas);

}  // namespace warpfold::sass
