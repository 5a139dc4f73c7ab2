#pragma once

#include <array>
#include <cstdint>

#include "traces/import/domain.h"

namespace warpfold::sass {

inline constexpr uint32_t kAllLanes = 0xffffffff;

// A set of lanes for each variable.
using LaneSets = std::array<uint32_t, kVariables>;
LaneSets united(const LaneSets& a, const LaneSets& b);
// Returns the variables whose set contains a lane of `lanes`.
uint8_t variables_of(const LaneSets& sets, uint32_t lanes);
// Returns the lanes in the set of any variable.
uint32_t lanes_of(const LaneSets& sets);

// Content of a register in the 32 lanes of a warp.
//
//   lane[l]     value in the executed CTA and passes
//   slope[v]    growth per step of each variable, modulo 2^32, equal in all lanes; holds within `limit`
//   varying[v]  lanes that depend on the variable otherwise: their values hold only where the variable is 0
//   unknown     lanes with an unknown value; it depends on the instruction `origin` (a load, a floating-point result)
//   drawn       the value depends on numbers that an answer draws at random
//   array       array into which the lanes of `pointing` point; -1: no lane is a pointer
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
  // moving(): lanes that depend on a variable in any way. depends(): variables on which any of `lanes` depends.
  LaneSets moving() const;
  uint8_t depends(uint32_t lanes = kAllLanes) const { return variables_of(moving(), lanes); }
  // Returns the array into which any of the lanes points, or -1.
  int16_t array_of(uint32_t lanes) const { return (pointing & lanes) != 0 ? array : int16_t{-1}; }
};

// Content of a predicate in the lanes; constant within `limit`.
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

// Writes `value` into the lanes of `mask`. Lanes that keep their value but had other slopes become varying. If both
// values point into different arrays, only the lanes of `mask` remain pointers.
void merge(Word& into, const Word& value, uint32_t mask);
void merge(Bits& into, const Bits& value, uint32_t mask);

// Returns a word that carries only the uncertainty of its sources: unknown lanes, and varying lanes if they depend on a
// variable.
Word tainted(std::initializer_list<const Word*> sources);
Bits tainted_bits(std::initializer_list<const Word*> sources);

// Returns a lane's value as an integer, signed or unsigned.
Linear linear(const Word& word, int lane, bool is_signed);

}  // namespace warpfold::sass
