// What folding and sampling read of an SM's state and change in it, beside Sm::visit.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/account/account.h"
#include "sim/engine/state_visitor.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

class Sm;

// Changes with the places that the warps are at in their programs.
uint64_t fingerprint(const Sm& sm);
// With nothing left to run: resets the arbiters, and the rates of memory where nothing waits to be written back; in cycle `at` the
// SM is as one that has run nothing.
bool is_pristine(Sm& sm, Cycle at);

// A warp of `launch` is on its last trip of a loop that is bound by one of the parameters.
bool on_last_trip(const Sm& sm, int launch, const std::vector<bool>& parameters);
// Its CTAs are of other classes from now on, and it receives `ctas`, those included that it has placed. `class_of`: per launch,
// what each class that it has placed is now.
void exchange_classes(Sm& sm, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of);

// Time is skipped: the SM goes on from the same state, later.
void move_on(Sm& sm, const FastForward& skip, bool exact);

// A warp state of a row of the account.
using AccountCell = std::pair<uint32_t, WarpState>;

// What a launch's account gets besides what a skip counts, so that work taken from it is accounted for to the instruction.
struct Correction {
  uint64_t instructions = 0;                // and cycles in which they issued
  std::map<AccountCell, uint64_t> waits{};  // that go on and have not been charged yet
  uint64_t resident_warp_cycles = 0;
  uint64_t requested_bytes = 0;
  uint64_t served_bytes = 0;
  uint64_t l1_bytes = 0;
  uint64_t dram_bytes = 0;
  uint64_t ctas = 0;
};

// Adds to what a launch has counted; amounts may be negative, modulo 2^64.
void correct(Sm& sm, int launch, const Correction& correction);

}  // namespace warpfold::sim
