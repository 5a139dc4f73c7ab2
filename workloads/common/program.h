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

// Parts of an instruction's text put together: line({"UMOV ", uniform(8), ", 0x1"}).
std::string line(std::initializer_list<std::string_view> parts);
std::string general(uint64_t index);    // "R24"
std::string uniform(uint64_t index);    // "UR8"
std::string immediate(uint64_t value);  // "17"
// "HGMMA.64x128x16.F32.BF16": m64nN of one step, N columns.
std::string wgmma_name(configs::ElementType type, uint32_t columns);

// Instructions written by a generator, in the assembler's text form. The generator's own text is never a user's mistake: a
// line that does not parse throws.
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

// The code as a block, with the control codes that a compiler would give it.
traces::Block block_of(const Code& code);
// The code as the whole body of a loop: its first instructions also depend on its last ones.
traces::Loop loop_of(const Code& code, traces::TripCount trips);

using traces::connect;

// General registers that the kernel needs for one thread: the highest one named plus one, rounded up to the multiple of 8 that
// hardware allocates (256 registers a warp), at most the 255 that code can name.
uint32_t registers_named(const std::vector<traces::Role>& roles);

}  // namespace warpfold::workloads
