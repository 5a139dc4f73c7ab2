#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario.pb.h"
#include "isa/architecture.h"
#include "traces/connect.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// Joins the parts of an instruction's text: line({"UMOV ", uniform(8), ", 0x1"}).
std::string line(std::initializer_list<std::string_view> parts);
std::string general(uint64_t index);    // "R24"
std::string uniform(uint64_t index);    // "UR8"
std::string immediate(uint64_t value);  // "17"
// "HGMMA.64x128x16.F32.BF16": one m64nN step with N = `columns`.
std::string wgmma_name(configs::ElementType type, uint32_t columns);

// Instructions written by a generator in the assembler's text form. Their text never comes from a user: a line that does not parse
// throws.
class Code {
 public:
  explicit Code(const isa::Architecture& architecture) : architecture_(&architecture) {}

  Code& add(std::string_view text, const isa::Effect& effect = {});
  Code& add(const std::vector<isa::Instruction>& more);
  const isa::Architecture& architecture() const { return *architecture_; }
  const std::vector<isa::Instruction>& instructions() const { return instructions_; }

 private:
  const isa::Architecture* architecture_;
  std::vector<isa::Instruction> instructions_;
};

// The code as a block, with the control codes that a compiler would assign.
traces::Block block_of(const Code& code);
// The code as the whole body of a loop: its first instructions also depend on its last ones, of the pass before.
traces::Loop loop_of(const Code& code, traces::TripCount trips);

using traces::connect;

// General registers that the kernel needs per thread, at most the 255 that code can address. The highest register number plus one
// is rounded up to the multiple of 8 that hardware allocates (256 registers per warp).
uint32_t registers_named(const std::vector<traces::Role>& roles);

}  // namespace warpfold::workloads
