#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

namespace warpfold::traces {

// A part of a kernel of which something is said: one of its declarations, or an instruction of a role.
enum class Part { kKernel, kParameter, kClass, kGrid, kStream, kRing, kCursor, kRole };
struct Place {
  Part part = Part::kKernel;
  size_t index = 0;          // of its kind in the kernel
  uint64_t instruction = 0;  // of the role, counted from 1 in the order of the text; 0: the role itself
  auto operator<=>(const Place&) const = default;
};

// Where the parts of a kernel stand in a text; nowhere for a kernel that comes from elsewhere.
class TextPlaces {
 public:
  struct Position {
    int line = 0;  // lines and columns count from 1, 0 is unknown
    int column = 0;
  };

  void add(const Place& place, Position position) { positions_[place] = position; }
  // Of the place, else of the role around it, else of the kernel.
  Position find(const Place& place) const;

 private:
  std::map<Place, Position> positions_;
};

}  // namespace warpfold::traces
