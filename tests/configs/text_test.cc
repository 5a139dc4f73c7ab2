#include <gtest/gtest.h>

#include "configs/load.h"
#include "configs/read_file.h"
#include "scratch.h"

namespace warpfold::configs {
namespace {

std::string parse_error(const std::string& text) {
  Scenario scenario;
  const auto parsed = parse_text("s.textproto", text, scenario);
  return parsed ? "no error" : parsed.error().text();
}

TEST(DiagnosticText, LeavesOutWhatIsUnknown) {
  EXPECT_EQ((Diagnostic{"a.textproto", 3, 7, "wrong"}).text(), "a.textproto:3:7: wrong");
  EXPECT_EQ((Diagnostic{"a.textproto", 3, 0, "wrong"}).text(), "a.textproto:3: wrong");
  EXPECT_EQ((Diagnostic{"a.textproto", 0, 0, "wrong"}).text(), "a.textproto: wrong");
  EXPECT_EQ((Diagnostic{"", 0, 0, "wrong"}).text(), "wrong");
}

TEST(ParseText, ReadsValuesAndComments) {
  Scenario scenario;
  ASSERT_TRUE(parse_text("s", "name: \"a\"  # comment\nkernel { name: \"k\" philox { heads: 3 } }", scenario));
  EXPECT_EQ(scenario.name(), "a");
  EXPECT_EQ(scenario.kernel(0).philox().heads(), 3);
}

TEST(ParseText, SaysWhereAnUnknownFieldStandsAndWhatIsNear) {
  EXPECT_EQ(parse_error("name: \"x\"\nkernel {\n  philox { heads: 3 roundz: 7 }\n}\n"),
            "s.textproto:3:21: unknown field \"roundz\" in Philox; did you mean \"rounds\"?");
}

TEST(ParseText, ListsTheFieldsWhereNoneIsNear) {
  EXPECT_EQ(parse_error("policy { banana: 1 }"),
            "s.textproto:1:10: unknown field \"banana\" in Policy; known: kind, reserve, sm_share, quota, by_priority, "
            "warp_specialized, pipelined, cta_interleaved, warp_interleaved");
}

// The parser notices at the token behind the name, which here is in another line, after a comment that says the same word.
TEST(ParseText, FindsTheNameThoughTheParserHasReadOn) {
  EXPECT_EQ(parse_error("policy {\n  kind: CONCURENT  # CONCURENT is misspelt\n\n}"),
            "s.textproto:2:9: unknown value \"CONCURENT\" of kind; did you mean \"CONCURRENT\"?");
}

TEST(ParseText, RefusesValuesOfAnotherTypeOrOutOfRange) {
  EXPECT_EQ(parse_error("kernel { philox { heads: \"3\" } }"), "s.textproto:1:26: Expected integer, got: \"3\"");
  EXPECT_EQ(parse_error("kernel { philox { rounds: 5000000000 } }"), "s.textproto:1:27: Integer out of range (5000000000)");
  EXPECT_EQ(parse_error("kernel { philox { rounds: -1 } }"), "s.textproto:1:27: Expected integer, got: -");
}

TEST(ParseText, RefusesNumbersThatAreNoValueOfTheirEnum) {
  EXPECT_EQ(parse_error("name: \"s\"\npolicy { kind: 99 }"), "s.textproto:2:10: unknown value 99 of kind");
  EXPECT_EQ(parse_error("kernel { hopper_gemm { type: -1 } }"), "s.textproto:1:24: unknown value -1 of type");
}

TEST(ParseText, RefusesTextThatDoesNotStayInItsLine) {
  EXPECT_EQ(parse_error("kernel { name: \"a\\n!b\" }"), "s.textproto:1:10: name: a line break or another control character");
  for (const std::string bytes : {"\xff", "a\xc3", "\xed\xa0\x80", "\\377"})
    EXPECT_EQ(parse_error("\nname: \"" + bytes + "\""), "s.textproto:2:1: name: bytes that are no UTF-8");
  EXPECT_EQ(parse_error("name: \"Gr\u00f6\u00dfe\""), "no error");
}

TEST(ParseText, RefusesTwoValuesOfOneField) {
  EXPECT_EQ(parse_error("name: \"a\"\nname: \"b\""), "s.textproto:2:5: Non-repeated field \"name\" is specified multiple times.");
}

TEST(ParseText, RefusesTextThatIsNoText) {
  EXPECT_EQ(parse_error("{"), "s.textproto:1:1: Expected identifier, got: {");
  EXPECT_EQ(parse_error("kernel {"), "s.textproto:1:9: Expected identifier, got: ");
}

class ReadFile : public InScratchFolder {};

TEST_F(ReadFile, ReturnsAllBytes) {
  write("a.txt", "one\ntwo");
  EXPECT_EQ(read_file("a.txt").value(), "one\ntwo");
}

TEST_F(ReadFile, SaysWhyItCannot) {
  EXPECT_EQ(read_file("none.txt").error().text(), "cannot read \"none.txt\": No such file or directory");
  EXPECT_EQ(read_file(".").error().text(), "cannot read \".\": it is a directory");
}

}  // namespace
}  // namespace warpfold::configs
