#pragma once

#include <span>
#include <vector>

#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Sets the control codes of straight-line code as a compiler would: stall counts from fixed latencies and port intervals,
// dependence counters and wait masks for variable latencies, reuse flags where the next reader of a bank and slot is the
// same register. `loop`: the code is a loop body, so the first instructions also depend on the last ones.
// The order of instructions is left alone. Straight-line code ends with a wait for every result that nobody in it has
// waited for, since the code behind is not known here. A fixed latency beyond 15 cycles needs instructions in between: one
// stall count holds no more (a compiler would put NOPs there).
void assign_control_codes(const Architecture& architecture, std::span<Instruction> code, bool loop);

// A register or predicate dependence that the control codes do not protect.
struct BrokenDependence {
  size_t producer;  // index into the code
  size_t consumer;  // index into the code (may be smaller than producer: around the loop)
  int needed;       // cycles between issues
  int given;        // cycles that the stall counts guarantee
};

// Checks existing control codes: every fixed-latency dependence has the cycles it needs, every variable-latency dependence
// (RAW, WAW, WAR) a counter that the consumer waits on. Empty when all holds.
std::vector<BrokenDependence> check_control_codes(const Architecture& architecture, std::span<const Instruction> code, bool loop);

// Sum of stall counts: cycles of one pass for a warp that never waits.
int scheduled_cycles(std::span<const Instruction> code);

}  // namespace warpfold::isa
