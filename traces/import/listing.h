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

inline constexpr int kInstructionBytes = 16;  // sm_70 and later

// An instruction of a listing, and the targets of its control flow.
struct ListedInstruction {
  isa::Instruction instruction;
  int line = 0;                           // line of the listing, from 1
  uint64_t offset = 0;                    // bytes from the start of the function
  std::string label;                      // label in its operands, such as "L_x_2"; empty: none, or an offset
  int64_t target = -1;                    // offset in its operands; -1: none
  std::vector<std::string> targets = {};  // labels to which a BRX may jump, if the listing names them
  bool has_control = false;               // the control code comes from the listing: from its encoding, annotations or prefix
  // The opcode or the operands are unknown to the architecture. This is an error only if the instruction is executed.
  std::optional<Diagnostic> unreadable;
  // The listing's opcode, if `instruction` is a substitute on the pipe that the user stated. Its results are unknown.
  std::string assumed_opcode;
};

struct Function {
  std::string name;
  int line = 0;
  uint32_t registers = 0;                   // per thread; 0: not stated in the listing
  int registers_line = 0;                   // line that states them
  uint32_t shared_bytes = 0;                // static shared memory; 0: none, or not stated in the listing
  std::vector<ListedParameter> parameters;  // by rising offset; empty: not stated in the listing
  ListedConstants constants;                // constants of banks other than 0
  std::vector<ListedInstruction> code;
  std::map<std::string, uint64_t, std::less<>> labels;  // offset of each label
};

// Text of `cuobjdump -sass` or `nvdisasm`, with or without offsets and encodings.
struct Listing {
  std::string file;
  std::string architecture;  // "sm_80"; empty: not stated in the listing
  std::vector<Function> functions;
};

// Reads every function of `compiled_for`, or of all architectures if it is empty. PTX is skipped. Instructions record
// their line, and source lines if the listing names them. An instruction that `architecture` lacks is kept as
// unreadable. Opcodes of `assumed` that the architecture lacks are replaced by others on their stated pipe. Fails with
// file:line at text that is no instruction, at a label that does not exist, and at a listing that ends inside an
// encoding.
Expected<Listing> read_listing(const std::string& file, std::string_view text, const isa::Architecture& architecture,
                               std::string_view compiled_for = {}, std::span<const AssumedOpcode> assumed = {});

}  // namespace warpfold::sass
