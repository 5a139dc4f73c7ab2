#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "isa/instruction.h"
#include "traces/import/domain.h"

namespace warpfold::sass {

// Use of an mbarrier by an instruction, before mbarriers are assigned to rings.
struct MbarrierUse {
  int32_t address = -1;  // in the shared memory of a CTA; -1: none
  uint32_t value = 0;    // wait: parity; arrival: arriving lanes; initialisation: arrivals per phase
  uint16_t reaches = 1;  // bit i: uses the mbarrier of the cluster's CTA with rank i XOR this CTA's rank
  bool operator==(const MbarrierUse&) const = default;
};

// An instruction issued by a warp.
struct Step {
  int32_t op = 0;
  bool off = false;   // the guard was false in every lane
  bool ends = false;  // an EXIT that ends the last lanes
  isa::Effect effect;
  MbarrierUse mbarrier = {};
  bool operator==(const Step&) const = default;
};

// Rolled instructions of a warp: sequences of steps, and loop bodies with their number of passes.
struct PathLoop;
using PathNode = std::variant<std::vector<Step>, PathLoop>;
using Path = std::vector<PathNode>;
struct PathLoop {
  uint64_t trips = 1;
  Path body;
  bool operator==(const PathLoop&) const;
};

void add_step(Path& path, Step step);
// Returns the instructions that a warp issues on the path.
uint64_t issued_on(const Path& path);
// Returns a hash that is equal for equal paths.
uint64_t hash_of(const Path& path);
// Appends a loop. If the last node is a loop with the same body, adds to its trips.
void add_loop(Path& path, Path body, uint64_t trips);

// Calls `each` for each step of a path, constant or not.
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
