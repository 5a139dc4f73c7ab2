#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "isa/dependences.h"
#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Follows the dependence counters through code whose control codes are set: which results have been written and which
// sources read for certain, because somebody waited for a counter that they hold, or that a later instruction of the same
// queue holds: the XU and the shared-memory pipe (LDS, LDSM, SHFL) return in order, and the memory queue reads its operands
// in order. Compiled code relies on it: of several LDSM in a row only the last one holds a counter.
class CounterState {
 public:
  CounterState(const Architecture& architecture, std::span<const Instruction> code);

  // Instruction `i` is about to issue and waits for the counters of `mask` (and, as DEPBAR.LE, for the one it names).
  void wait(size_t i, unsigned mask);
  // Instruction `i` issues: its counters go up.
  void issue(size_t i);
  // The loop goes round.
  void next_pass();

  // Whether the producer's result is written, or its sources are read, as the dependence needs.
  bool done(const Dependence& dependence) const;
  // Counters whose results nobody has waited for yet.
  unsigned pending_results() const;

 private:
  struct Progress {
    bool issued = false;
    bool written = false;
    bool read = false;
  };
  struct Holder {
    size_t instruction;
    bool this_pass;
    bool result;  // holds the counter until its result is written, else until its sources are read
  };

  void release(const Holder& holder);

  const Architecture& architecture_;
  std::span<const Instruction> code_;
  std::vector<Progress> now_;
  std::vector<Progress> before_;
  std::array<std::vector<Holder>, kDependenceCounters> holders_;
};

// Gives variable-latency instructions the six dependence counters and their consumers the wait masks.
void allocate_counters(const Architecture& architecture, std::span<Instruction> code, bool loop,
                       const std::vector<Dependence>& dependences);

}  // namespace warpfold::isa
