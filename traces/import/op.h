#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isa/architecture.h"
#include "traces/import/listing.h"

namespace warpfold::sass {

// An operand as the executor reads it.
struct Source {
  enum class Kind : uint8_t { kRegister, kUniform, kPredicate, kUniformPredicate, kImmediate, kConstant, kMemory, kSpecial };
  Kind kind = Kind::kSpecial;
  uint8_t index = isa::kZeroRegister;    // register or predicate; of a constant or an address the register inside, RZ: none
  uint8_t uniform = isa::kZeroRegister;  // uniform register of an address
  bool negated = false;                  // -R4
  bool inverted = false;                 // ~R4, !P0
  bool absolute = false;                 // |R4|
  bool wide = false;                     // [R2.64]: the register pair is the address
  bool unsigned_index = false;           // [UR4+R2.U32]
  uint8_t scale = 1;                     // [R2.X4]
  uint32_t immediate = 0;                // value, or offset of a constant or an address
  uint8_t bank = 0;                      // c[bank][...]
  std::string_view text;
};

class Warp;
struct Op;
using Execute = void (*)(Warp&, const Op&, uint32_t mask);

// A decoded instruction of a function.
struct Op {
  const isa::Instruction* instruction = nullptr;
  int line = 0;
  int index = 0;          // position in the program
  std::string_view base;  // "IMAD" of "IMAD.WIDE.U32", without the U of uniform instructions
  std::vector<std::string_view> modifiers;
  std::vector<Source> destinations;
  std::vector<Source> sources;
  isa::Behaviour behaviour = isa::Behaviour::kFixedLatency;
  bool uniform = false;  // executed by the uniform datapath
  int target = -1;       // position that its operands name
  // BRX: targets by their offset, which is the register plus `addend`.
  struct IndirectTarget {
    uint32_t offset = 0;  // in the function
    int position = 0;
  };
  std::vector<IndirectTarget> indirect = {};
  uint32_t addend = 0;
  Execute execute = nullptr;               // nullptr: its results are unknown
  const Diagnostic* unreadable = nullptr;  // set if the architecture lacks the instruction
  std::string_view callee;                 // of a CALL: a function that the listing does not contain
  bool too_deep = false;                   // CALL at a greater depth of recursion than is followed

  // Branch direction that compilers generate for rare operands or failures. It is assumed not taken if the branch
  // depends on data.
  enum class Slow : uint8_t { kNone, kTaken, kFallThrough };
  Slow slow = Slow::kNone;
  std::string_view slow_reason;

  bool has(std::string_view modifier) const;
};

// Decodes the instructions of the function and resolves targets. Fails if a branch leaves the function.
Expected<std::vector<Op>> decode(const Listing& listing, const Function& function, const isa::Architecture& architecture);

}  // namespace warpfold::sass
