#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/architecture.h"
#include "isa/instruction.h"
#include "traces/import/assumed_opcodes.h"
#include "traces/import/listed_constants.h"
#include "traces/import/listed_parameters.h"

namespace warpfold::sass {

// One instruction of a listing, and where control goes from it.
struct ListedInstruction {
  isa::Instruction instruction;
  int line = 0;                           // of the listing, from 1
  uint64_t offset = 0;                    // from the start of the function, in bytes
  std::string label;                      // that its operands name: "L_x_2"; empty: none, or an offset
  int64_t target = -1;                    // offset that its operands name; -1: none
  std::vector<std::string> targets = {};  // labels to which a BRX may lead, where the listing names them
  bool has_control = false;  // the listing has its encoding, annotations or a prefix, from which the control code comes
  // Why it is no instruction of the architecture: its opcode, or its operands. Only what is executed needs to be one.
  std::optional<Diagnostic> unreadable;
  // The opcode that the listing has, where the instruction is another one on its stated pipe; its results are unknown.
  std::string assumed_opcode;
};

struct Function {
  std::string name;
  int line = 0;
  uint32_t registers = 0;                   // a thread; 0: the listing does not say
  int registers_line = 0;                   // that says it
  uint32_t shared_bytes = 0;                // static shared memory; 0: none, or the listing does not say
  std::vector<ListedParameter> parameters;  // by rising offset; none: the listing does not say
  ListedConstants constants;                // of other banks than 0
  std::vector<ListedInstruction> code;
  std::map<std::string, uint64_t, std::less<>> labels;  // offset of each
};

// The text of `cuobjdump -sass` or `nvdisasm`, with or without offsets and encodings.
struct Listing {
  std::string file;
  std::string architecture;  // "sm_80"; empty: the listing does not say
  std::vector<Function> functions;
};

// Reads every function of `compiled_for`, or of all architectures where it is empty; PTX is skipped. Instructions know their line,
// and those of the source where the listing names them; one that `architecture` does not have is kept as unreadable. Fails with
// file:line at text that is no instruction, a label that does not exist, or a listing that breaks off inside an encoding.
// Opcodes of `assumed` that the architecture does not have become others on their stated pipe.
Expected<Listing> read_listing(const std::string& file, std::string_view text, const isa::Architecture& architecture,
                               std::string_view compiled_for = {}, std::span<const AssumedOpcode> assumed = {});

}  // namespace warpfold::sass
