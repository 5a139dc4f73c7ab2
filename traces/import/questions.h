#pragma once

#include <string>
#include <vector>

#include "traces/import/launch_facts.h"
#include "traces/import/op.h"

namespace warpfold::sass {

// A question about an instruction for the launch description: how often it is taken, how many sectors it touches, or
// its branch target.
struct Question {
  enum class Kind : uint8_t { kTaken, kSectors, kTarget };
  int op = 0;       // instruction that needs the answer
  int origin = -1;  // instruction on which it depends; -1: a register that no instruction wrote
  Kind kind = Kind::kTaken;
};

// Names the unknown constant that an instruction reads, and the source that should state its value. Empty if it reads
// none.
std::string unknown_constant(const Op& op, const LaunchFacts& launch);

// Returns the questions in the form of a launch description, one per line and kind, by rising lines, each with its
// consequence. After them come the loads whose values would answer them.
std::vector<std::string> question_lines(std::vector<Question> questions, const std::vector<Op>& ops, const LaunchFacts& launch);

}  // namespace warpfold::sass
