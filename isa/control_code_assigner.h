#pragma once

#include <span>
#include <vector>

#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Sets the control codes of straight-line code as a compiler would. Stall counts follow from fixed latencies and port
// intervals, dependence counters and wait masks from variable latencies. A reuse flag is set where the next reader of a
// bank and slot reads the same register. `loop`: the code is a loop body, so its first instructions also depend on its
// last ones. The order of instructions does not change.
//
// Code outside a loop ends with a wait for every result that no instruction has waited for, because the code after it
// is not known here. A fixed latency beyond 15 cycles, the limit of one stall count, needs other instructions in
// between. A compiler would insert NOPs.
void assign_control_codes(const Architecture& architecture, std::span<Instruction> code, bool loop);

// Register or predicate dependence that the control codes do not enforce.
struct BrokenDependence {
  size_t producer;  // index into the code
  size_t consumer;  // index into the code; smaller than producer if the dependence goes around the loop
  int needed;       // cycles between the issues that the dependence needs
  int given;        // cycles between the issues that the stall counts guarantee
};

// Checks existing control codes. A fixed-latency dependence needs its cycles; a variable-latency dependence (RAW, WAW,
// WAR) needs a counter that the consumer waits for. Returns the violations.
std::vector<BrokenDependence> check_control_codes(const Architecture& architecture, std::span<const Instruction> code, bool loop);

// Returns the sum of stall counts: the cycles of one pass for a warp that never waits.
int scheduled_cycles(std::span<const Instruction> code);

}  // namespace warpfold::isa
