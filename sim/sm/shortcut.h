#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

struct SmState;

// How an SM gets to where another one has been since, without replaying it: it is in a state in which that other was, and what the
// other did from there on it would do as well.
struct Shortcut {
  const SmState* from = nullptr;     // the other in that state
  const SmState* to = nullptr;       // the other where it came to
  const Snapshot* state = nullptr;   // of `from`
  const Snapshot* own = nullptr;     // the SM's own, alike but for names and what is left
  Cycle at = 0;                      // it gets there, having issued
  uint64_t instructions = 0;         // so many
  std::vector<uint64_t> placed{};    // per launch: CTAs on the way
  std::vector<ClassMap> class_of{};  // per launch: what the other's CTA classes are here
  std::vector<uint64_t> trips{};     // in the order of Snapshot::trips, of `to`: what this SM has left then
  std::vector<Cycle> moments{};      // in the order of Snapshot::moments, of `to`: by how much later it is here
};

}  // namespace warpfold::sim
