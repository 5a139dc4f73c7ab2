// The facts about an access that its opcode states.

#include <gtest/gtest.h>

#include "traces/access/opcode_access.h"

namespace warpfold::traces::access {
namespace {

TEST(Opcode, HasTheWidthOfALane) {
  EXPECT_EQ(access_bytes("LDG.E.128.SYS"), 16);
  EXPECT_EQ(access_bytes("LDS.U8"), 1);
  EXPECT_EQ(access_bytes("STG.E.64"), 8);
  EXPECT_EQ(access_bytes("LDG.E.CONSTANT"), 4);
  EXPECT_EQ(access_bytes("LDSM.16.M88.4"), 16);
  EXPECT_EQ(access_bytes("LDGSTS.E.BYPASS.LTC128B.128"), 16);
}

TEST(Opcode, SaysWhetherL1IsLookedInto) {
  using isa::Behaviour;
  EXPECT_EQ(access_of(Behaviour::kLoadGlobal, "LDG.E.64"), Access::kGlobalLoad);
  EXPECT_EQ(access_of(Behaviour::kLoadGlobal, "LDG.E.STRONG.GPU"), Access::kGlobalLoadPastL1);
  EXPECT_EQ(access_of(Behaviour::kCopyAsync, "LDGSTS.E.BYPASS.LTC128B.128"), Access::kGlobalLoadPastL1);
  EXPECT_EQ(access_of(Behaviour::kCopyAsync, "LDGSTS.E.LTC128B"), Access::kGlobalLoad);
  EXPECT_EQ(access_of(Behaviour::kStoreGlobal, "STG.E"), Access::kGlobalStore);
  EXPECT_EQ(access_of(Behaviour::kStoreGlobal, "STL"), Access::kLocal);
}

}  // namespace
}  // namespace warpfold::traces::access
