#pragma once

#include <vector>

#include "traces/kernel.h"

namespace warpfold::isa {
class Architecture;
}

namespace warpfold::traces::accelsim {

// Gives a role's program the control codes that a compiler would, and no other instructions: a trace has none of its own. Blocks
// and loop bodies get them by isa::assign_control_codes. Where they meet, the first instruction behind waits for the counters that
// are held, and stall counts in front grow, as far as a stall count can, by what fixed latencies across need.
void assign_control_codes(const isa::Architecture& architecture, std::vector<Node>& body);

}  // namespace warpfold::traces::accelsim
