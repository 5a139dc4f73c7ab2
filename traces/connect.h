#pragma once

#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// Removes the dependence counter of LDGDEPBAR and the waits for it. Hardware counts cp.async groups in that counter; the machine
// counts them by effect (commit, and count at DEPBAR.LE.LDGSTS) and would never release it.
void uncount_copies(const isa::Architecture& architecture, std::vector<isa::Instruction>& code);

// Adds the waits that control codes inside a block cannot express, where blocks and loops of a role meet: for dependence counters
// that are still held where a block ends, and for fixed latencies that reach across. Waits go into the code around a loop, never
// into its body: a pass of the loop stays as the compiler (or the recording) made it.
void connect(const isa::Architecture& architecture, std::vector<Node>& body);

}  // namespace warpfold::traces
