#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// What keeps a consumer behind its producer.
enum class Protection : uint8_t {
  kStall,          // the producer has a fixed latency: stall counts must add up to `cycles`
  kResultCounter,  // variable latency: the consumer waits until the producer's result is written
  kReadCounter,    // the consumer overwrites a source of the producer: it waits until that source has been read
};

struct Dependence {
  size_t producer;       // index into the code
  size_t consumer;       // index into the code
  bool carried = false;  // around the loop: the producer is that of the previous pass
  Protection protection = Protection::kStall;
  int cycles = 1;  // kStall: least cycles between the issues; else the uncontended latency, for messages
};

// All register and predicate dependences of the code, in the order of their consumers. `loop`: also those around the loop.
//
// Not here: wgmma accumulators and operands (WARPGROUP.ARRIVE and .DEPBAR order them), overwriting what a fixed-latency
// instruction reads (it has read before any later instruction can write), and uniform sources of memory instructions,
// which are read at issue (compiled code never protects them), except those of bulk copies.
std::vector<Dependence> find_dependences(const Architecture& architecture, std::span<const Instruction> code, bool loop);

}  // namespace warpfold::isa
