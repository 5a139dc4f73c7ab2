#pragma once

#include <cstdint>
#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// Adds waits where blocks and loops of a role meet, because control codes within a block cannot express them. The waits
// are for dependence counters that are still held at the end of a block, and for fixed latencies that reach into the
// next block. They go into the code around a loop and never into its body, so that a pass of the loop remains as the
// compiler or the recording made it.
//
// kInInstructions suits code of a compiler: it adds NOPs only if stall counts cannot grow enough. Instructions at the
// end of a block stall longer instead, and the first instruction of the next block waits for the counters.
enum class Waits : uint8_t { kMayBeNops, kInInstructions };
void connect(const isa::Architecture& architecture, std::vector<Node>& body, Waits waits = Waits::kMayBeNops);

// Assigns control codes to each block as a compiler would, then connects the blocks. Removes empty blocks. Every loop
// must contain an instruction.
void assign_control_codes(const isa::Architecture& architecture, std::vector<Node>& body, Waits waits = Waits::kMayBeNops);

}  // namespace warpfold::traces
