#include "traces/stats.h"

#include <gtest/gtest.h>

#include <numeric>

#include "samples.h"
#include "traces/trace_file.h"

namespace warpfold::traces {
namespace {

TEST(Statistics, InstructionsMatchTheKernel) {
  const Kernel kernel = sample();
  const KernelStatistics counts = statistics(kernel);
  EXPECT_EQ(counts.name, "sample");
  EXPECT_EQ(counts.ctas, 10);
  EXPECT_EQ(counts.instructions.issued, issued_instructions(kernel));
  EXPECT_EQ(counts.instructions.in_text, 6 + 10);
  ASSERT_EQ(counts.roles.size(), 2);
  EXPECT_EQ(counts.roles[0].instructions, (InstructionCount{.in_text = 6, .issued = 8 * 4 * 100 + 2 * 4 * 12}));
  EXPECT_EQ(counts.roles[1].instructions, (InstructionCount{.in_text = 10, .issued = 8 * 4 * 28 + 2 * 4 * 15}));
  EXPECT_EQ(counts.roles[0].loop_depth, 2);
}

TEST(Statistics, PipesAndOpcodesAddUpToTheInstructions) {
  for (const RoleStatistics& role : statistics(sample()).roles) {
    InstructionCount pipes;
    InstructionCount opcodes;
    for (const InstructionCount& pipe : role.pipes) {
      pipes.in_text += pipe.in_text;
      pipes.issued += pipe.issued;
    }
    for (const OpcodeCount& opcode : role.opcodes) {
      opcodes.in_text += opcode.instructions.in_text;
      opcodes.issued += opcode.instructions.issued;
    }
    EXPECT_EQ(pipes, role.instructions);
    EXPECT_EQ(opcodes, role.instructions);
  }
}

TEST(Statistics, OpcodesComeMostIssuedFirst) {
  const RoleStatistics producer = statistics(sample()).roles[0];
  ASSERT_EQ(producer.opcodes.size(), 6);
  // 8 x 4 warps x 32 passes and 2 x 4 warps x 3 passes
  EXPECT_EQ(producer.opcodes[0].instructions, (InstructionCount{.in_text = 1, .issued = 8 * 4 * 32 + 2 * 4 * 3}));
  EXPECT_EQ(producer.opcodes[3].name, "IADD3");
  EXPECT_EQ(producer.opcodes[3].instructions, (InstructionCount{.in_text = 1, .issued = 8 * 4 * 2 + 2 * 4 * 1}));
  const auto tensor = static_cast<size_t>(isa::Pipe::kWgmma);
  EXPECT_EQ(statistics(sample()).roles[1].pipes[tensor], (InstructionCount{.in_text = 1, .issued = 8 * 4 * 4 + 2 * 4 * 2}));
}

TEST(Statistics, BytesAreSharesOfMulticastLoads) {
  const KernelStatistics counts = statistics(sample());
  EXPECT_EQ(counts.bytes_read, (8 * 4 * 32 + 2 * 4 * 3) * uint64_t{32768 / 2});
  EXPECT_EQ(counts.bytes_written, (8 * 4 * 2 + 2 * 4 * 1) * uint64_t{512});
}

TEST(Statistics, CountsRegistersByWidthAndAddressesAsRead) {
  const std::string text = R"(kernel registers architecture=sm_90 registers=32 shared_memory=0 cluster=1
  class all
  grid all*3
  role only warps=2
    [B------:R-:W-:-:S04] IADD3 R4, R5, R6, RZ ;
    loop 5
      [B------:R-:W0:-:S02] LDG.E.128 R8, desc[UR4][R2.64] ; {bytes=512}
      [B0-----:R-:W-:-:S02] STG.E.64 desc[UR4][R2.64], R8 ; {bytes=256}
    end
    [B------:R-:W-:-:S05] EXIT ;
  end
end
)";
  const Expected<std::vector<Kernel>> kernels = parse_kernels("registers.wfs", text);
  ASSERT_TRUE(kernels) << kernels.error().text();
  const RoleStatistics role = statistics(kernels->at(0)).roles.at(0);
  // Six warps. IADD3: 2 read, 1 written. LDG: the 64-bit address, 4 written. STG: the address and 2 of data.
  EXPECT_EQ(role.register_reads, 6 * (2 + 5 * (2 + 2 + 2)));
  EXPECT_EQ(role.register_writes, 6 * (1 + 5 * 4));
}

}  // namespace
}  // namespace warpfold::traces
