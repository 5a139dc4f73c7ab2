#include "workloads/common/recorded_loop.h"

#include <sstream>
#include <stdexcept>

#include "isa/assembler.h"

namespace warpfold::workloads {

std::vector<isa::Instruction> recorded_loop(const isa::Architecture& architecture, std::span<const EmbeddedFile> recordings,
                                            const std::string& name) {
  const std::string file_name = name + ".sass";
  for (const EmbeddedFile& file : recordings) {
    if (file.name != file_name) continue;
    std::vector<isa::Instruction> code;
    std::istringstream text{std::string(file.content)};
    int number = 0;
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (line.empty() || line.front() == '#') continue;
      auto instruction = isa::parse_instruction(architecture, line, file_name, number);
      if (!instruction) throw std::logic_error(instruction.error().text());
      code.push_back(*std::move(instruction));
    }
    return code;
  }
  throw std::logic_error("no recorded loop " + file_name);
}

}  // namespace warpfold::workloads
