#pragma once

#include <string>
#include <vector>

#include "traces/import/op.h"

namespace warpfold::sass {

// A question about an instruction, for the launch description to answer: how often it is taken, or how many sectors it touches.
struct Question {
  enum class Kind : uint8_t { kTaken, kSectors, kTarget };
  int op = 0;       // the instruction that needs it
  int origin = -1;  // the instruction that it hangs on; -1: a register that nothing has written
  Kind kind = Kind::kTaken;
};

// Of an instruction that reads a constant: which one, and who would have to say its value. Empty: it reads none.
std::string unknown_constant(const Op& op);

// The questions in the form of a launch description, one of each line and kind by rising lines, each with what hangs on it. Behind
// them the loads whose values would answer them.
std::vector<std::string> question_lines(std::vector<Question> questions, const std::vector<Op>& ops);

}  // namespace warpfold::sass
