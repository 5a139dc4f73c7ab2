#pragma once

#include <cstdint>
#include <vector>

#include "sim/account/hold_history.h"
#include "sim/account/states.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// A transfer's passage through a server, and the launches for which it waited.
struct Passage {
  Cycle end = 0;       // cycle in which the last byte has passed
  Cycle idle_end = 0;  // the same on an idle server
  Cycle wait_end = 0;  // end of its wait; `holders` has the launches that held the server until then
  Contended resource = Contended::kDram;
  const HoldHistory* holders = nullptr;
};

// Cycles lost, by the launch that is to blame for them.
using LostTo = std::vector<uint64_t>;
// Adds the last `late` cycles of the passage's wait to `lost`, each to the launch that held the server. `own`: the
// launch for cycles without a holder.
void add_lost(const Passage& passage, Cycle late, int own, LostTo& lost);

// A transfer's passage through all servers that it needs.
struct Reply {
  Cycle transferred = 0;  // end on the slowest server, without latency
  Cycle uncontended = 0;  // the same if all servers were idle
  Contended slowest = Contended::kDram;
  LostTo lost{};  // the difference of these two, by launch, in proportion; empty: none
};

}  // namespace warpfold::sim
