#pragma once

#include <string>
#include <vector>

#include "isa/architecture.h"
#include "isa/instruction.h"

namespace warpfold::isa {

// One loop of tests/isa/data: compiled code with the compiler's own control codes.
struct RecordedLoop {
  std::string name;
  const Architecture* architecture = nullptr;
  int words_read = 0;     // general-purpose register words that the machine code's operands read
  int words_written = 0;  // and write
  std::vector<std::string> lines;
  std::vector<Instruction> code;
};

// Every recorded loop, parsed; throws where a line does not parse.
const std::vector<RecordedLoop>& recorded_loops();

}  // namespace warpfold::isa
