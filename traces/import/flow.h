#pragma once

#include <set>
#include <string>
#include <vector>

#include "traces/import/op.h"

namespace warpfold::sass {

// Straight-line code: control enters at `first` and leaves after `end` - 1.
struct FlowBlock {
  int first = 0;
  int end = 0;
  std::vector<int> successors;
  int rank = -1;  // in reverse postorder: forward edges lead to higher ranks; -1: unreachable
  int loop = -1;  // innermost surrounding loop
};

// Natural loop: control enters at the header alone, and edges to the header repeat the loop.
struct FlowLoop {
  int header = 0;
  int parent = -1;            // next surrounding loop
  std::vector<bool> members;  // blocks, including those of inner loops
};

// The control-flow graph of a function.
struct Flow {
  std::vector<FlowBlock> blocks;
  std::vector<int> block_at;  // block of each instruction
  std::vector<FlowLoop> loops;

  // Returns the loop with header `block`, or -1.
  int loop_at(int block) const;
};

// may_jump(): control may go to `op.target`. may_fall_through(): control may continue after `op`.
bool may_jump(const Op& op);
bool may_fall_through(const Op& op);

// Returns the instructions that control can reach from `first` without passing a RET, in order. Calls return.
std::set<int> reached_from(const std::vector<Op>& ops, int first);

// Inlines each subroutine (CALL to code that ends in RET) at each call. A recursion is inlined to the depth that fits
// 20,000 instructions; deeper calls are marked as too deep.
Expected<void> inline_calls(const std::string& file, std::vector<Op>& ops);

// Fails if a branch target depends on a register, if code runs past its end, or if a loop has more than one entry.
Expected<Flow> make_flow(const std::string& file, const std::vector<Op>& ops);

}  // namespace warpfold::sass
