#pragma once

#include <set>
#include <string>
#include <vector>

#include "traces/import/op.h"

namespace warpfold::sass {

// Straight-line code: control comes in at `first` and leaves behind `end` - 1.
struct FlowBlock {
  int first = 0;
  int end = 0;
  std::vector<int> successors;
  int rank = -1;  // in reverse postorder: every forward edge goes to a higher rank; -1: never reached
  int loop = -1;  // innermost one around it
};

// A natural loop: control comes in at the header alone, and the loop goes round by edges back to it.
struct FlowLoop {
  int header = 0;
  int parent = -1;            // the next loop around it
  std::vector<bool> members;  // blocks, those of inner loops included
};

// The control-flow graph of a function.
struct Flow {
  std::vector<FlowBlock> blocks;
  std::vector<int> block_at;  // block of each instruction
  std::vector<FlowLoop> loops;

  // The loop of which `block` is the header, -1: none.
  int loop_at(int block) const;
};

// Whether control may go to `op.target`, and whether it may go on behind `op`.
bool may_jump(const Op& op);
bool may_fall_through(const Op& op);

// Instructions that control can reach from `first` without going through a RET, in order of their place. Calls inside come back.
std::set<int> reached_from(const std::vector<Op>& ops, int first);

// A subroutine (CALL to code that ends in RET) becomes part of each place that calls it. A recursion becomes so for as many
// levels as 20,000 instructions have; calls behind them are too deep.
Expected<void> inline_calls(const std::string& file, std::vector<Op>& ops);

// Fails where a branch's target hangs on a register, code runs past its end, or a loop has more than one way in.
Expected<Flow> make_flow(const std::string& file, const std::vector<Op>& ops);

}  // namespace warpfold::sass
