#pragma once

#include <cstdint>
#include <vector>

#include "sim/account/hold_history.h"
#include "sim/account/states.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// How a transfer passed a server, and behind which launches it waited.
struct Passage {
  Cycle end = 0;       // the last byte has passed
  Cycle idle_end = 0;  // the same, had the server been idle
  Cycle wait_end = 0;  // until then it waited; holders has the launches that held the server
  Contended resource = Contended::kDram;
  const HoldHistory* holders = nullptr;
};

// Cycles lost, by the launch that is to blame.
using LostTo = std::vector<uint64_t>;
// Adds the `late` last cycles of the passage's wait, each to the launch that held the server. `own`: where none held it.
void add_lost(const Passage& passage, Cycle late, int own, LostTo& lost);

// How a transfer passed all the servers that it needs.
struct Reply {
  Cycle transferred = 0;  // bandwidth only
  Cycle uncontended = 0;  // the same with all servers idle
  Contended slowest = Contended::kDram;
  LostTo lost{};  // of the cycles in between, in proportion; empty: none
};

}  // namespace warpfold::sim
