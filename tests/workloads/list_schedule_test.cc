#include "workloads/common/list_schedule.h"

#include <gtest/gtest.h>

#include "tests/workloads/kernels.h"
#include "workloads/common/program.h"

namespace warpfold::workloads {
namespace {

// The code by mnemonic and destination: "FMUL R8".
std::vector<std::string> scheduled(std::initializer_list<std::string_view> lines) {
  Code code(*isa::Architecture::find("sm_80").value());
  for (const std::string_view one : lines) code.add(one);
  std::vector<std::string> order;
  for (const isa::Instruction& instruction : list_schedule(code.architecture(), code.instructions())) {
    order.push_back(instruction.mnemonic + " " + instruction.operands.front().text);
  }
  return order;
}

using Order = std::vector<std::string>;

TEST(ListSchedule, IndependentWorkFillsTheWaitForALoad) {
  EXPECT_EQ(scheduled({"LDS R4, [R0]", "FADD R5, R4, R6", "FMUL R8, R9, R10", "FMUL R11, R9, R10"}),
            (Order{"LDS R4", "FMUL R8", "FMUL R11", "FADD R5"}));
}

TEST(ListSchedule, AnotherPortFillsTheWaitForABusyOne) {
  EXPECT_EQ(scheduled({"HMMA.16816.F32 R4, R8, R12, RZ", "HMMA.16816.F32 R16, R8, R12, RZ", "FMUL R20, R21, R22"}),
            (Order{"HMMA.16816.F32 R4", "FMUL R20", "HMMA.16816.F32 R16"}));
}

TEST(ListSchedule, NobodyOverwritesWhatIsStillToBeRead) {
  EXPECT_EQ(scheduled({"LDS R4, [R0]", "FADD R5, R4, R6", "FMUL R6, R9, R10"}), (Order{"LDS R4", "FADD R5", "FMUL R6"}));
}

TEST(ListSchedule, AGuardIsRead) {
  EXPECT_EQ(scheduled({"ISETP.GT.AND P0, PT, R1, R2, PT", "@P0 FMUL R4, R5, R6", "FMUL R7, R5, R6"}),
            (Order{"ISETP.GT.AND P0", "FMUL R7", "FMUL R4"}));
}

TEST(ListSchedule, MemoryInstructionsKeepTheirOrder) {
  EXPECT_EQ(scheduled({"LDS R4, [R0]", "STS [R1], R4", "LDS R5, [R0+0x10]", "FMUL R8, R9, R10"}),
            (Order{"LDS R4", "FMUL R8", "STS [R1]", "LDS R5"}));
}

}  // namespace
}  // namespace warpfold::workloads
