#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "isa/dependences.h"
#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Tracks dependence counters through code with control codes: the results that are certainly written, and the sources
// that are certainly read. A result or source is certain after a wait for a counter that its instruction holds, or that
// a later instruction of the same in-order queue holds. The XU and the shared-memory pipe (LDS, LDSM, SHFL) return in
// order, and the memory queue reads its operands in order. Compiled code relies on this order: of several LDSM in a row
// only the last one holds a counter.
class CounterState {
 public:
  CounterState(const Architecture& architecture, std::span<const Instruction> code);

  // Instruction `i` waits for the counters of `mask` before it issues. DEPBAR.LE also waits for the counter that it
  // names.
  void wait(size_t i, unsigned mask);
  // Instruction `i` issues and raises its counters.
  void issue(size_t i);
  // The next pass of the loop begins.
  void next_pass();

  // True if the producer has written its result, or read its sources, as the dependence requires.
  bool done(const Dependence& dependence) const;
  // Returns a mask of the counters with results that no instruction has waited for.
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
    bool result;  // holds the counter until the result is written; false: until the sources are read
  };

  void release(const Holder& holder);

  const Architecture& architecture_;
  std::span<const Instruction> code_;
  std::vector<Progress> now_;
  std::vector<Progress> before_;
  std::array<std::vector<Holder>, kDependenceCounters> holders_;
};

// Assigns the six dependence counters to variable-latency instructions, and the wait masks to their consumers.
void allocate_counters(const Architecture& architecture, std::span<Instruction> code, bool loop,
                       const std::vector<Dependence>& dependences);

}  // namespace warpfold::isa
