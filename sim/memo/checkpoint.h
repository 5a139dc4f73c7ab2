#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/shortcut.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// A state of a trajectory: the copy of the SM from which an equal SM can continue.
struct Checkpoint {
  Snapshot state;
  uint64_t hash = 0;  // of the state's key
  std::unique_ptr<Sm> sm;
};

// An SM is in a state of a known trajectory, from which it continues as if it had passed the states up to a later one itself.
using MemoHit = Shortcut;

// Every copy of an SM that acceleration makes.
Checkpoint make_checkpoint(const Snapshot& state, uint64_t hash, const Sm& sm);
// The SM of a class that diverges from `leader`'s. `ctas`: all that the class receives; `class_of`: per launch, what each class
// that the leader has placed is in this SM.
std::unique_ptr<Sm> diverged_copy(const Sm& leader, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of);
// `sm` in the state that the memo hit leads to.
std::unique_ptr<Sm> follow(const Sm& sm, const MemoHit& hit);

}  // namespace warpfold::sim
