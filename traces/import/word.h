#pragma once

#include <array>
#include <cstdint>

#include "traces/import/domain.h"

namespace warpfold::sass {

inline constexpr uint32_t kAllLanes = 0xffffffff;

// Lanes by variable.
using LaneSets = std::array<uint32_t, kVariables>;
LaneSets united(const LaneSets& a, const LaneSets& b);
// Variables with a lane of `lanes` in their set.
uint8_t variables_of(const LaneSets& sets, uint32_t lanes);
// Lanes that are in the set of any variable.
uint32_t lanes_of(const LaneSets& sets);

// What the 32 lanes of a warp have in a register.
//
//   lane[l]     the value in the CTA, and the passes, that are executed
//   slope[v]    what it grows by with each variable, modulo 2^32 and the same for all lanes; holds within `limit`
//   varying[v]  lanes that depend on the variable otherwise: their values hold where the variable is 0 alone
//   unknown     lanes whose value is not known: it hangs on the instruction `origin` (a load, a floating-point result)
//   drawn       the value hangs on numbers that an answer draws at random
//   array       the array into which the lanes of `pointing` point; -1: no lane is a pointer
struct Word {
  std::array<uint32_t, kLanes> lane{};
  std::array<uint32_t, kVariables> slope{};
  Extents limit = kNoLimit;
  LaneSets varying{};
  uint32_t unknown = 0;
  uint32_t pointing = 0;
  int32_t origin = -1;
  int16_t array = -1;
  bool drawn = false;
  bool operator==(const Word&) const = default;

  static Word of(uint32_t value);
  static Word nothing(int32_t origin);  // unknown in every lane
  // Lanes that depend on a variable in any way, and the variables of some lanes.
  LaneSets moving() const;
  uint8_t depends(uint32_t lanes = kAllLanes) const { return variables_of(moving(), lanes); }
  // The array into which any of the lanes points; -1: none.
  int16_t array_of(uint32_t lanes) const { return (pointing & lanes) != 0 ? array : int16_t{-1}; }
};

// What the lanes have in a predicate: constant within `limit`.
struct Bits {
  uint32_t lanes = 0;
  Extents limit = kNoLimit;
  LaneSets varying{};
  uint32_t unknown = 0;
  int32_t origin = -1;
  bool operator==(const Bits&) const = default;

  static Bits of(bool value) { return {.lanes = value ? kAllLanes : 0}; }
  static Bits nothing(int32_t origin) { return {.unknown = kAllLanes, .origin = origin}; }
};

// Puts `value` into the lanes of `mask`. Lanes that were left alone and have other slopes vary from then on. Where both are
// pointers, of different arrays, the lanes of `mask` alone stay pointers.
void merge(Word& into, const Word& value, uint32_t mask);
void merge(Bits& into, const Bits& value, uint32_t mask);

// A word with nothing but the uncertainty of its sources: unknown lanes, and varying ones where they depend on a variable.
Word tainted(std::initializer_list<const Word*> sources);
Bits tainted_bits(std::initializer_list<const Word*> sources);

// The value of a lane as an integer, signed or not.
Linear linear(const Word& word, int lane, bool is_signed);

}  // namespace warpfold::sass
