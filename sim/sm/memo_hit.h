#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

struct SmState;

// An SM is in a state of a known trajectory, from which it continues as if it had passed the states up to a later one itself
// (docs/folding_proof.md, "Memo hit").
struct MemoHit {
  const SmState* from = nullptr;     // the trajectory's SM in the equal state
  const SmState* to = nullptr;       // the later one
  const Snapshot* state = nullptr;   // of `from`
  const Snapshot* own = nullptr;     // the SM's own: equal but for names and the work left
  Cycle at = 0;                      // the SM gets there
  uint64_t instructions = 0;         // issued on the way
  std::vector<uint64_t> placed{};    // per launch: CTAs on the way
  std::vector<ClassMap> class_of{};  // per launch: the trajectory's CTA classes to this SM's
  std::vector<uint64_t> trips{};     // in the order of Trips::left, of `to`: what this SM has left then
  std::vector<Cycle> moments{};      // in the order of Snapshot::moments, of `to`: by how much later it is here
};

}  // namespace warpfold::sim
