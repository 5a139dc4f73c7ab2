// A line is an instruction of each architecture that is written and read again as itself, or one diagnostic. libFuzzer's entry.

#include <array>

#include "isa/architecture.h"
#include "isa/assembler.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const std::array<const isa::Architecture*, 3> architectures{
      *isa::Architecture::find("sm_80"), *isa::Architecture::find("sm_90"), *isa::Architecture::find("sm_100")};
  const isa::EffectNames names{{"data"}, {"full"}, {"load"}};
  const isa::EffectNames without_rings{{"data"}, {}, {"load"}};
  for (const std::string& line : fuzz::lines_of(fuzz::text_of(data, size))) {
    for (const isa::Architecture* architecture : architectures) {
      const auto instruction = isa::parse_instruction(*architecture, line, "fuzz", 1, names);
      if (!instruction) {
        fuzz::require_message(instruction.error());
        continue;
      }
      const bool by_number = isa::names_barriers_by_number(architecture->info(*instruction).behaviour);
      const std::string written = isa::format_instruction(*instruction, by_number ? without_rings : names);
      const auto again = isa::parse_instruction(*architecture, written, "again", 1, names);
      fuzz::require(again && *again == *instruction, "an instruction reads back as another: " + written);
    }
  }
  return 0;
}
