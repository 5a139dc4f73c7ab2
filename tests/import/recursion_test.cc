// Functions that call themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace warpfold::sass {
namespace {

// f(k) = k < 2 ? k : f(k - 1) + f(k - 2), with k in R4; f(5) is 15 calls.
TEST(Recursion, IsFollowedToItsEnd) {
  const auto calls = [](const std::string& k) {
    return "MOV R1, 0x1000 ;\nMOV R4, " + k +
           " ;\nCALL.REL.NOINC `(.L_f) ;\nEXIT ;\n.L_f:\nISETP.GE.AND P0, PT, R4, 0x2, PT ;\n@!P0 BRA `(.L_end) ;\n"
           "IADD3 R1, R1, -0x4, RZ ;\nSTL [R1], R4 ;\nIADD3 R4, R4, -0x1, RZ ;\nCALL.REL.NOINC `(.L_f) ;\nLDL R4, [R1] ;\n"
           "IADD3 R4, R4, -0x2, RZ ;\nCALL.REL.NOINC `(.L_f) ;\nIADD3 R1, R1, 0x4, RZ ;\n.L_end:\nRET.REL.NODEC R8 `(kernel) ;\n";
  };
  const std::string launch = "architecture: \"sm_80\" grid { x: 1 } block { x: 32 }";
  const auto imported = import_lines(calls("0x5"), launch);
  ASSERT_TRUE(imported) << message_of(imported);
  auto counts = counts_of(imported->kernel);
  EXPECT_EQ(counts["CALL.REL.NOINC"], 15U);
  EXPECT_EQ(counts["RET.REL.NODEC"], 15U);
  EXPECT_EQ(counts["STL"], 7U);
  EXPECT_THAT(message_of(import_lines(calls("0x64"), launch)), testing::HasSubstr("a recursion deeper than the importer follows"));
}

}  // namespace
}  // namespace warpfold::sass
