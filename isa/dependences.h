#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Mechanism that enforces a dependence.
enum class Protection : uint8_t {
  kStall,          // fixed latency: stall counts between the two must add up to `cycles`
  kResultCounter,  // variable latency: the consumer waits until the producer's result is written
  kReadCounter,    // the consumer overwrites a source of the producer and waits until that source is read
};

struct Dependence {
  size_t producer;       // index into the code
  size_t consumer;       // index into the code
  bool carried = false;  // around the loop: the producer belongs to the previous pass
  Protection protection = Protection::kStall;
  int cycles = 1;  // kStall: least cycles between the issues; else the latency without contention, for messages
};

// Returns all register and predicate dependences of the code, ordered by consumer. `loop`: includes dependences around
// the loop.
//
// Three kinds are excluded. wgmma accumulators and operands are ordered by WARPGROUP.ARRIVE and .DEPBAR. A
// fixed-latency instruction reads its sources before any later instruction can overwrite them. Memory instructions
// other than bulk copies read uniform sources at issue, and compiled code never protects these.
std::vector<Dependence> find_dependences(const Architecture& architecture, std::span<const Instruction> code, bool loop);

}  // namespace warpfold::isa
