#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "isa/instruction.h"
#include "traces/import/domain.h"

namespace warpfold::sass {

// What an instruction does with an mbarrier, before mbarriers are known to be stages of rings.
struct MbarrierUse {
  int32_t address = -1;  // in the shared memory of a CTA; -1: it uses none
  uint32_t value = 0;    // of a wait the parity, of an arrival the lanes that arrive, of an initialisation the arrivals of a phase
  uint16_t reaches = 1;  // bit i: it is at the mbarrier of the cluster's CTA whose rank is i XOR this CTA's
  bool operator==(const MbarrierUse&) const = default;
};

// An instruction that a warp issued.
struct Step {
  int32_t op = 0;
  bool off = false;   // its guard was false in every lane
  bool ends = false;  // the EXIT behind which no lane is left
  isa::Effect effect;
  MbarrierUse mbarrier = {};
  bool operator==(const Step&) const = default;
};

// What a warp issued, rolled: steps one after the other, and bodies of loops with the number of passes.
struct PathLoop;
using PathNode = std::variant<std::vector<Step>, PathLoop>;
using Path = std::vector<PathNode>;
struct PathLoop {
  uint64_t trips = 1;
  Path body;
  bool operator==(const PathLoop&) const;
};

void add_step(Path& path, Step step);
// Instructions that a warp issues on the path.
uint64_t issued_on(const Path& path);
// Equal for equal paths.
uint64_t hash_of(const Path& path);
// Behind the last node: where that is a loop of the same body, it goes round more often.
void add_loop(Path& path, Path body, uint64_t trips);

// Of a path, or a constant one.
template <typename AnyPath, typename Each>
void for_each_step(AnyPath& path, const Each& each) {
  for (auto& node : path) {
    if (auto* steps = std::get_if<std::vector<Step>>(&node)) {
      for (auto& step : *steps) each(step);
    } else {
      for_each_step(std::get<PathLoop>(node).body, each);
    }
  }
}

}  // namespace warpfold::sass
