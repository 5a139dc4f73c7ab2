#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/memo_hit.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// A state of a trajectory: the state of the SM from which an equal SM can continue.
struct Checkpoint {
  Snapshot state;
  uint64_t hash = 0;  // of the state's key
  std::unique_ptr<SmState> sm;
};

// Every copy of an SM that acceleration makes.
Checkpoint make_checkpoint(const Snapshot& state, uint64_t hash, const Sm& sm);
// The SM of a class that diverges from `leader`'s. `ctas`: all that the class receives; `class_of`: per launch, what each class
// that the leader has placed is in this SM.
std::unique_ptr<Sm> diverged_copy(const Sm& leader, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of);

}  // namespace warpfold::sim
