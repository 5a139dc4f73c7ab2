#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

namespace warpfold::traces {

// Part of a kernel to which a message refers: a declaration, or an instruction of a role.
enum class Part { kKernel, kParameter, kClass, kGrid, kStream, kRing, kCursor, kRole };
struct Place {
  Part part = Part::kKernel;
  size_t index = 0;          // among the parts of its kind in the kernel
  uint64_t instruction = 0;  // number in the role, from 1 in text order; 0: the role itself
  auto operator<=>(const Place&) const = default;
};

// Positions of a kernel's parts in a text. Empty for a kernel that was not read from text.
class TextPlaces {
 public:
  struct Position {
    int line = 0;  // lines and columns count from 1; 0: unknown
    int column = 0;
  };

  void add(const Place& place, Position position) { positions_[place] = position; }
  // Returns the position of the place, else of the surrounding role or declaration, else of the kernel.
  Position find(const Place& place) const;

 private:
  std::map<Place, Position> positions_;
};

}  // namespace warpfold::traces
