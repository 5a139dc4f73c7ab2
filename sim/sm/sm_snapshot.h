// Access of folding and sampling to an SM's state, besides Sm::visit.
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

// Returns a hash that changes with the warps' positions in their programs.
uint64_t fingerprint(const Sm& sm);
// True if, in cycle `at`, the SM's own state is that of an SM that has run nothing. Resets the arbiters and the
// memory's rates first. Requires that nothing is left to run.
bool is_pristine(Sm& sm, Cycle at);

// True if a warp of `launch` is on its last trip of a loop whose trips one of the parameters gives.
bool on_last_trip(const Sm& sm, int launch, const std::vector<bool>& parameters);
// Changes the classes of the SM's CTAs and replaces its lists. `ctas` include the CTAs that have been placed.
// `class_of`: per launch, the new class of each class that has been placed.
void exchange_classes(Sm& sm, std::vector<CtaList> ctas, const std::vector<ClassMap>& class_of);

// Skips time: the SM goes on from the same state in a later cycle. `exact`: the skip is no estimate; for the timeline.
void move_on(Sm& sm, const FastForward& skip, bool exact);

// A row of the account, and a warp state in it.
using AccountCell = std::pair<uint32_t, WarpState>;

// Amounts that a launch's account gets on top of a skip's counts, so that extrapolated work is accounted for to the
// instruction.
struct Correction {
  uint64_t instructions = 0;                // also the cycles in which they issued
  std::map<AccountCell, uint64_t> waits{};  // cycles of waits that still go on and have not been charged
  uint64_t resident_warp_cycles = 0;
  uint64_t requested_bytes = 0;
  uint64_t served_bytes = 0;
  uint64_t l1_bytes = 0;
  uint64_t dram_bytes = 0;
  uint64_t ctas = 0;
};

// Adds the amounts to the launch's account. Amounts may be negative, modulo 2^64.
void correct(Sm& sm, int launch, const Correction& correction);

}  // namespace warpfold::sim
