#include "isa/control_code_assigner.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "isa/assembler.h"
#include "recorded_loops.h"

namespace warpfold::isa {

namespace {

std::string describe(const RecordedLoop& loop, const BrokenDependence& broken) {
  return loop.name + ": " + format_instruction(loop.code[broken.producer]) + "  ->  " +
         format_instruction(loop.code[broken.consumer]) + "  needs " + std::to_string(broken.needed) + ", has " +
         std::to_string(broken.given);
}

}  // namespace

TEST(ControlCodes, TheCompilersOwnCodesHold) {
  for (const RecordedLoop& loop : recorded_loops()) {
    for (const BrokenDependence& broken : check_control_codes(*loop.architecture, loop.code, true))
      ADD_FAILURE() << describe(loop, broken);
  }
}

TEST(ControlCodes, AssignedCodesHoldAndAreAsFastAsTheCompilers) {
  for (const RecordedLoop& loop : recorded_loops()) {
    RecordedLoop own = loop;
    assign_control_codes(*own.architecture, own.code, true);
    for (const BrokenDependence& broken : check_control_codes(*own.architecture, own.code, true))
      ADD_FAILURE() << describe(own, broken);
    const int compiled = scheduled_cycles(loop.code);
    const int assigned = scheduled_cycles(own.code);
    const double ratio = static_cast<double>(assigned) / compiled;
    std::printf("%-40s %5d %5d %.3f\n", loop.name.c_str(), compiled, assigned, ratio);
    EXPECT_NEAR(ratio, 1.0, 0.05) << loop.name;
  }
}

}  // namespace warpfold::isa
