#pragma once

#include <array>
#include <cstdint>

#include "traces/import/domain.h"

namespace warpfold::sass {

inline constexpr uint32_t kAllLanes = 0xffffffff;

// What the 32 lanes of a warp have in a register.
//
//   lane[l]     the value in the CTA, and the passes, that are executed
//   slope[v]    what it grows by with each variable, modulo 2^32 and the same for all lanes; holds within `limit`
//   varies      variables that it depends on otherwise: the lanes hold where those are 0 alone
//   unknown     lanes whose value is not known: it hangs on the instruction `origin` (a load, a floating-point result)
//   array       the array into which it points, -1: no pointer
struct Word {
  std::array<uint32_t, kLanes> lane{};
  std::array<uint32_t, kVariables> slope{};
  Extents limit = kNoLimit;
  uint32_t unknown = 0;
  int32_t origin = -1;
  int16_t array = -1;
  uint8_t varies = 0;
  bool operator==(const Word&) const = default;

  static Word of(uint32_t value);
  static Word nothing(int32_t origin);  // unknown in every lane
  // Variables that the value depends on in any way.
  uint8_t depends() const;
};

// What the lanes have in a predicate: constant within `limit`.
struct Bits {
  uint32_t lanes = 0;
  Extents limit = kNoLimit;
  uint32_t unknown = 0;
  int32_t origin = -1;
  uint8_t varies = 0;
  bool operator==(const Bits&) const = default;

  static Bits of(bool value) { return {.lanes = value ? kAllLanes : 0}; }
  static Bits nothing(int32_t origin) { return {.unknown = kAllLanes, .origin = origin}; }
};

// Puts `value` into the lanes of `mask`. Lanes that were left alone and have other slopes vary from then on.
void merge(Word& into, const Word& value, uint32_t mask);
void merge(Bits& into, const Bits& value, uint32_t mask);

// A word with nothing but the uncertainty of its sources: unknown lanes, and `varies` where they depend on a variable.
Word tainted(std::initializer_list<const Word*> sources);
Bits tainted_bits(std::initializer_list<const Word*> sources);

// The value of a lane as an integer, signed or not.
Linear linear(const Word& word, int lane, bool is_signed);

}  // namespace warpfold::sass
