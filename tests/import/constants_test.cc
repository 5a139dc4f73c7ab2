// Constant loads whose lanes ask for unlike addresses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace warpfold::sass {
namespace {

const std::string kLaunch =
    "architecture: \"sm_90\" grid { x: 4 } block { x: 32 } array { name: \"x\" bytes: 4096 } parameter { array: \"x\" } ";

// The effect of LDC, the last instruction but one.
isa::Effect effect_of_load(const Imported& imported) {
  isa::Effect effect;
  for (const traces::Node& node : imported.kernel.roles.at(0).body) {
    for (const isa::Instruction& instruction : std::get<traces::Block>(node).code) {
      if (instruction.mnemonic == "LDC") effect = instruction.effect;
    }
  }
  return effect;
}

uint32_t addresses(const std::string& index, const std::string& answer = "") {
  const auto imported = import_lines(index + "LDC R8, c[0x3][R4] ;\nEXIT ;\n", kLaunch + answer);
  EXPECT_TRUE(imported) << message_of(imported);
  return imported ? effect_of_load(*imported).wavefronts : 99;
}

TEST(ConstantLoads, CountAddressesThatAreUnlike) {
  EXPECT_EQ(addresses("S2R R0, SR_TID.X ;\nSHF.L.U32 R4, R0, 0x2, RZ ;\n"), 32U);
  EXPECT_EQ(addresses("S2R R0, SR_TID.X ;\nLOP3.LUT R4, R0, 0x4, RZ, 0xc0, !PT ;\n"), 2U);
  EXPECT_EQ(addresses("S2R R0, SR_CTAID.X ;\nSHF.L.U32 R4, R0, 0x2, RZ ;\n"), 0U);
}

TEST(ConstantLoads, AtLoadedAddressesAreAssumedToBeUnlike) {
  const std::string load = "MOV R2, c[0x0][0x210] ;\nMOV R3, c[0x0][0x214] ;\nLDG.E R4, [R2.64] ;\n";
  EXPECT_EQ(addresses(load), 32U);
  EXPECT_EQ(addresses(load, "answer { line: 5 sectors: 3 }"), 3U);
  EXPECT_EQ(addresses(load, "answer { line: 4 value: 8 }"), 0U);
  EXPECT_THAT(addresses(load, "answer { line: 4 uniform: 4 }"), testing::AllOf(testing::Ge(2U), testing::Le(4U)));
  const auto imported = import_lines(load + "LDC R8, c[0x3][R4] ;\nEXIT ;\n", kLaunch);
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->report.assumed,
              testing::ElementsAre("line 5, LDC at an unknown address: 32 lanes at unlike addresses, one after the other"));
}

}  // namespace
}  // namespace warpfold::sass
