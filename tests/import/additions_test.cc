// Additions in L2: how many passes over sectors they are, and how many sectors the launch adds to.
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "support.h"

namespace warpfold::sass {
namespace {

// Of a warp of 64 CTAs of 256 threads, which adds to y at the byte offset in R4.
isa::Effect addition(const std::string& offset, const std::string& bytes) {
  const auto imported = import_lines("S2R R0, SR_TID.X ;\n" + offset +
                                         "IADD3 R2, P0, R4, c[0x0][0x160], RZ ;\nIADD3.X R3, RZ, c[0x0][0x164], RZ, P0, !PT ;\n"
                                         "RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5 ;\nEXIT ;\n",
                                     "architecture: \"sm_80\" grid { x: 64 } block { x: 256 } array { name: \"y\" bytes: " + bytes +
                                         " } parameter { array: \"y\" }");
  EXPECT_TRUE(imported) << message_of(imported);
  if (!imported) return {};
  for (const traces::Node& node : imported->kernel.roles.at(0).body) {
    for (const isa::Instruction& instruction : std::get<traces::Block>(node).code) {
      if (instruction.mnemonic.starts_with("RED.")) return instruction.effect;
    }
  }
  ADD_FAILURE() << "no addition";
  return {};
}

TEST(AdditionsOfListings, ToOneWordPassOneByOne) {
  const isa::Effect effect = addition("MOV R4, RZ ;\n", "4");
  EXPECT_EQ(effect.bytes, 32U);
  EXPECT_EQ(effect.l2_passes, 32U);
  EXPECT_EQ(effect.l2_sectors, 1U);
}

TEST(AdditionsOfListings, ToAWordALanePassASectorEach) {
  const isa::Effect effect = addition("IMAD.SHL.U32 R4, R0, 0x4, RZ ;\n", "1024");
  EXPECT_EQ(effect.bytes, 128U);
  EXPECT_EQ(effect.l2_passes, 0U);  // one for each sector
  EXPECT_EQ(effect.l2_sectors, 32U);
}

TEST(AdditionsOfListings, OfEightLanesToAWord) {
  const isa::Effect effect = addition("SHF.R.U32.HI R4, RZ, 0x3, R0 ;\nIMAD.SHL.U32 R4, R4, 0x4, RZ ;\n", "128");
  EXPECT_EQ(effect.bytes, 32U);
  EXPECT_EQ(effect.l2_passes, 8U);
  EXPECT_EQ(effect.l2_sectors, 4U);
}

}  // namespace
}  // namespace warpfold::sass
