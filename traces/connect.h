#pragma once

#include <cstdint>
#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// Adds the waits that control codes inside a block cannot express, where blocks and loops of a role meet: for dependence counters
// that are still held where a block ends, and for fixed latencies that reach across. Waits go into the code around a loop, never
// into its body: a pass of the loop stays as the compiler (or the recording) made it.
//
// Code of a compiler keeps its instructions: where waits of their own would be NOPs, the instructions at the end of a loop stall
// longer, as a compiler has it, and the first ones behind a load wait for it.
enum class Waits : uint8_t { kMayBeNops, kInInstructions };
void connect(const isa::Architecture& architecture, std::vector<Node>& body, Waits waits = Waits::kMayBeNops);

// Gives each block the control codes that a compiler would, then connects them. Empty blocks go; every loop issues something.
void assign_control_codes(const isa::Architecture& architecture, std::vector<Node>& body, Waits waits = Waits::kMayBeNops);

}  // namespace warpfold::traces
