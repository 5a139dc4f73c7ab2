#pragma once

#include <vector>

#include "traces/kernel.h"

namespace warpfold::isa {
class Architecture;
}

namespace warpfold::traces::accelsim {

// Assigns control codes to a role's program as a compiler would, without adding instructions; a trace has no control
// codes. Blocks and loop bodies get them from isa::assign_control_codes. Where two of them meet, the first instruction
// of the second waits for the counters that are held. Stall counts of the first grow for fixed latencies across the
// border, as far as a stall count can.
void assign_control_codes(const isa::Architecture& architecture, std::vector<Node>& body);

}  // namespace warpfold::traces::accelsim
