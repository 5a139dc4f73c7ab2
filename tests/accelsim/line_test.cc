// Every kind of line, by tracer version.

#include <gtest/gtest.h>

#include "traces/accelsim/trace_line.h"

namespace warpfold::traces::accelsim {
namespace {

TraceLine parsed(std::string_view line, const LineForm& form = {}) {
  TraceLine out;
  const auto problem = parse_line(line, form, out);
  EXPECT_FALSE(problem) << *problem << " in " << line;
  return out;
}

std::string problem_of(std::string_view line, const LineForm& form = {}) {
  TraceLine out;
  return parse_line(line, form, out).value_or("none");
}

TEST(Line, WithoutMemory) {
  const TraceLine line = parsed("0040 ffffffff 0 ISETP.GE.U32.AND 1 R2 0 1024");
  EXPECT_EQ(line.pc, 0x40);
  EXPECT_EQ(line.mask, 0xffffffff);
  EXPECT_EQ(line.opcode, "ISETP.GE.U32.AND");
  EXPECT_EQ(line.destinations.count, 0);
  ASSERT_EQ(line.sources.count, 1);
  EXPECT_EQ(line.sources.names[0], "R2");
  EXPECT_EQ(line.immediate, 1024);
  EXPECT_FALSE(line.has_addresses);
}

TEST(Line, AListOfAddresses) {
  const TraceLine line = parsed("0010 00000005 1 R2 LDG.E 1 R4 4 0 0x1000 0x2000 0");
  EXPECT_EQ(line.access.addresses[0], 0x1000);
  EXPECT_EQ(line.access.addresses[2], 0x2000);
}

TEST(Line, BaseAndStride) {
  const TraceLine line = parsed("00a0 ffffffff 1 R12 LDG.E.128.SYS 1 R2 16 1 0x7f580face400 16 0");
  EXPECT_EQ(line.access.addresses[0], 0x7f580face400);
  EXPECT_EQ(line.access.addresses[31], 0x7f580face400 + 31 * 16);
}

TEST(Line, BaseAndDeltasToTheLaneBefore) {
  const TraceLine line = parsed("05e0 0000000f 0 LDGSTS.E.BYPASS.LTC128B.128 2 R9 R10 16 2 0x1000 16 -32 784 0");
  EXPECT_EQ(line.access.addresses[1], 0x1010);
  EXPECT_EQ(line.access.addresses[2], 0x0ff0);
  EXPECT_EQ(line.access.addresses[3], 0x1300);
}

TEST(Line, NoLaneHasOneAddressAllTheSame) {
  EXPECT_TRUE(parsed("0080 00000000 1 R6 LDG.E.64 1 R28 8 1 0x0 0 0").has_addresses);
  EXPECT_TRUE(parsed("0080 00000000 1 R6 LDG.E.64 1 R28 8 2 0x0 0").has_addresses);
  EXPECT_TRUE(parsed("0080 00000000 1 R6 LDG.E.64 1 R28 8 0 0").has_addresses);
}

TEST(Line, ImmediatesMayBeAbsentUpToVersionFour) {
  EXPECT_EQ(problem_of("0040 ffffffff 0 NOP 0 0", {.version = 4}), "none");
  EXPECT_NE(problem_of("0040 ffffffff 0 NOP 0 0", {.version = 5}), "none");
  EXPECT_EQ(problem_of("0010 00000003 1 R2 LDG.E 1 R4 4 2 0x1000 4", {.version = 3}), "none");
}

TEST(Line, LeadingNumbersOfRawTraces) {
  const TraceLine line = parsed("1 2 3 4 0040 ffffffff 0 NOP 0 0 0", {.version = 2, .leading = 4});
  EXPECT_EQ(line.leading, (std::array<uint64_t, 4>{1, 2, 3, 4}));
  parsed("1 2 3 4 17 5 0040 ffffffff 0 NOP 0 0 0", {.version = 5, .leading = 6});
  parsed("1 2 3 4 5 6 7 8 9 10 11 0040 ffffffff 0 NOP 0 0 0", {.version = 6, .leading = 11});
  parsed("77 0040 ffffffff 0 NOP 0 0 0", {.version = 5, .leading = 0, .line_number = true});
}

TEST(Line, VersionSixHasAllRegistersAndValues) {
  const LineForm six{.version = 6};
  const TraceLine line = parsed("0040 ffffffff 2 P0 P7 ISETP.GE.AND 3 R2 UR4 P7 0 16 0 Val 1 5 32 1 2 3", six);
  EXPECT_EQ(line.destinations.names[0], "P0");
  EXPECT_EQ(line.sources.names[1], "UR4");
  EXPECT_EQ(line.immediate, 16);
  parsed("0040 ffffffff 1 R24 HGMMA.64x128x16.F32 2 R24 UR8 1 0 0 NoVal", six);
}

TEST(Line, BulkCopies) {
  const LineForm six{.version = 6};
  TraceLine line = parsed("0100 00000001 0 UTMALDG.2D 2 UR8 UR4 16 0x400 0 32768 0 3 2 0x7f0000000000 0x7f0000000080 0 NoVal", six);
  EXPECT_TRUE(line.bulk);
  EXPECT_EQ(line.bulk_bytes, 32768);
  line = parsed("0100 00000001 0 UTMALDG.2D.MULTICAST 2 UR8 UR4 16 0x400 1 0x3 16384 0 4 0x7f0000000000 3 128 128 0 NoVal", six);
  EXPECT_EQ(line.bulk_bytes, 16384);
  EXPECT_NE(problem_of("0100 00000001 0 UTMALDG.2D 2 UR8 UR4 16 0x400 0 32768 0 3 2 0x7f0000000000", six), "none");
}

TEST(Line, ReplayMarkersAreShort) { EXPECT_EQ(parsed("0100 ffffffff 0 REPLAY_START 0", {.version = 6}).opcode, "REPLAY_START"); }

TEST(Line, MasksAndAddressesAgree) {
  for (const char* line :
       {"0010 00000007 1 R2 LDG.E 1 R4 4 0 0x1000 0x2000 0", "0010 00000001 1 R2 LDG.E 1 R4 4 0 0x1000 0x2000 0x3000 0",
        "0010 0000000f 1 R2 LDG.E 1 R4 4 2 0x1000 4 4 0", "0010 00000003 1 R2 LDG.E 1 R4 4 2 0x1000 4 4 0"}) {
    EXPECT_NE(problem_of(line).find("the mask has"), std::string::npos) << line << ": " << problem_of(line);
  }
}

TEST(Line, SaysWhatIsMissing) {
  EXPECT_NE(problem_of("zz ffffffff 0 NOP 0 0 0").find("PC"), std::string::npos);
  EXPECT_NE(problem_of("0040 fffffffff 0 NOP 0 0 0").find("mask"), std::string::npos);
  EXPECT_NE(problem_of("0040 ffffffff 2 R1 NOP 0 0 0").find("2 destination registers"), std::string::npos);
  EXPECT_NE(problem_of("0040 ffffffff 99 R1 NOP 0 0 0").find("at most 16"), std::string::npos);
  EXPECT_NE(problem_of("0040 ffffffff 0 17 0 0 0").find("opcode"), std::string::npos);
  EXPECT_NE(problem_of("0040 ffffffff 0 LDG.E 1 R4 4 7 0x1000 0").find("mode 7"), std::string::npos);
  EXPECT_NE(problem_of("0040 ffffffff 0 NOP 0 0 0 17").find("more on the line"), std::string::npos);
  EXPECT_NE(problem_of("").find("PC"), std::string::npos);
}

}  // namespace
}  // namespace warpfold::traces::accelsim
