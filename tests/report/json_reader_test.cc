#include "tools/report/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/result.pb.h"

namespace warpfold::report {
namespace {

std::string refusal(std::string_view text) {
  configs::Result result;
  const auto read = read_json("r.json", text, result);
  return read ? "accepted" : read.error().text();
}

TEST(JsonReader, ReadsNumbersTextsListsAndGroups) {
  configs::Result result;
  const auto read = read_json("r.json",
                              R"({"scenario": "a\"b\\\u00e9\ud83d\ude00\n", "total_cycles": 18446744073709551615,
  "total_time_us": 1.5e3, "whole_chip": true, "kernels": [{"name": "k", "cycles": "7"}, {}], "ledger": []})",
                              result);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(result.scenario(), "a\"b\\\xc3\xa9\xf0\x9f\x98\x80\n");
  EXPECT_EQ(result.total_cycles(), 18446744073709551615U);
  EXPECT_EQ(result.total_time_us(), 1500);
  EXPECT_TRUE(result.whole_chip());
  ASSERT_EQ(result.kernels_size(), 2);
  EXPECT_EQ(result.kernels(0).cycles(), 7U);
}

TEST(JsonReader, ReadsAFieldUnderItsEarlierName) {
  for (const std::string name : {"memo_hits", "shortcuts"}) {
    configs::Result result;
    ASSERT_TRUE(read_json("r.json", "{\"fold\": {\"" + name + "\": 3}}", result));
    EXPECT_EQ(result.fold().memo_hits(), 3U);
  }
  EXPECT_EQ(refusal("{\"totalCycles\": 1}"), "r.json:1:2: unknown field \"totalCycles\" in Result; did you mean \"total_cycles\"?");
}

TEST(JsonReader, ReadsEnumsByName) {
  configs::Result result;
  ASSERT_TRUE(read_json("r.json", R"({"provenance": {"scenario": {"policy": {"kind": "CARVE_OUT"}}}})", result));
  EXPECT_EQ(result.provenance().scenario().policy().kind(), configs::CARVE_OUT);
  EXPECT_EQ(refusal(R"({"provenance": {"scenario": {"policy": {"kind": "CARVE"}}}})"),
            "r.json:1:49: unknown PolicyKind \"CARVE\"; known: SEQUENTIAL, CONCURRENT, CARVE_OUT, FUSED, SM_PARTITION, PRIORITY, "
            "WARP_SPECIALIZED, PIPELINED, SLICED, CTA_INTERLEAVED, WARP_INTERLEAVED");
}

TEST(JsonReader, NamesTheNearestFieldWithItsPlace) {
  EXPECT_EQ(refusal("{\n  \"total_cycle\": 1\n}"),
            "r.json:2:3: unknown field \"total_cycle\" in Result; did you mean \"total_cycles\"?");
}

TEST(JsonReader, RefusesWhatIsNoJson) {
  EXPECT_EQ(refusal("{\"scenario\": \"a"), "r.json:1:16: damaged JSON: Missing a closing quotation mark in string.");
  EXPECT_EQ(refusal("{\"scenario\" \"a\"}"), "r.json:1:13: damaged JSON: Missing a colon after a name of object member.");
  EXPECT_EQ(refusal("{\"kernels\": [{} {}]}"), "r.json:1:17: damaged JSON: Missing a comma or ']' after an array element.");
  EXPECT_EQ(refusal("{\"scenario\": \"\\x\"}"), "r.json:1:15: damaged JSON: Invalid escape character in string.");
  EXPECT_EQ(refusal("{\"scenario\": \"\\ud83d\"}"), "r.json:1:15: damaged JSON: The surrogate pair in string is invalid.");
  EXPECT_EQ(refusal("{}\n{}"), "r.json:2:1: damaged JSON: The document root must not be followed by other values.");
  EXPECT_EQ(refusal("{"), "r.json:1:2: damaged JSON: Missing a name for object member.");
  EXPECT_EQ(refusal(""), "r.json:1:1: damaged JSON: The document is empty.");
}

// By which of the two values a reader goes is not defined (RFC 8259, section 4).
TEST(JsonReader, RefusesFieldsThatOccurTwice) {
  EXPECT_EQ(refusal("{\"total_cycles\": 1,\n \"total_cycles\": 1}"),
            "r.json:2:2: the field \"total_cycles\" occurs twice in one Result");
  EXPECT_EQ(refusal(R"({"kernels": [{"name": "a"}, {"name": "b", "name": "c"}]})"),
            "r.json:1:43: the field \"name\" occurs twice in one KernelResult");
  EXPECT_EQ(refusal(R"({"kernels": [], "kernels": []})"), "r.json:1:17: the field \"kernels\" occurs twice in one Result");
  EXPECT_EQ(refusal(R"({"fold": {"memo_hits": 3, "shortcuts": 3}})"),
            "r.json:1:27: the field \"memo_hits\" occurs twice in one Fold");
  EXPECT_EQ(refusal(R"({"provenance": {"scenario": {"kernel": [{"philox": {}, "trace": {}}]}}})"),
            "r.json:1:56: Kernel has one of \"philox\" and \"trace\"");
}

TEST(JsonReader, RefusesValuesOfAnotherType) {
  EXPECT_EQ(refusal("{\"total_cycles\": -1}"), "r.json:1:18: total_cycles takes a value of type uint64");
  EXPECT_EQ(refusal("{\"total_cycles\": 18446744073709551616}"), "r.json:1:18: total_cycles is out of range: 18446744073709551616");
  EXPECT_EQ(refusal("{\"total_time_us\": true}"), "r.json:1:19: total_time_us takes a value of type double");
  EXPECT_EQ(refusal("{\"total_time_us\": null}"), "r.json:1:19: total_time_us takes a value of type double");
  EXPECT_EQ(refusal("{\"whole_chip\": 1}"), "r.json:1:16: whole_chip takes a value of type bool");
  EXPECT_EQ(refusal("{\"scenario\": {}}"), "r.json:1:14: scenario takes a value of type string");
  EXPECT_EQ(refusal("{\"scenario\": [1]}"), "r.json:1:14: scenario takes a value of type string");
  EXPECT_EQ(refusal("{\"kernels\": {}}"), "r.json:1:13: expected a list for kernels");
  EXPECT_EQ(refusal("{\"kernels\": [[]]}"), "r.json:1:14: kernels takes a value of type message");
  EXPECT_THAT(refusal("{\"a\\\\\\\"b\\\\\": 1}"), testing::StartsWith("r.json:1:2: unknown field"));
  EXPECT_EQ(refusal("[1]"), "r.json:1:1: expected an object for Result");
  EXPECT_EQ(refusal(" 7"), "r.json:1:2: expected an object for Result");
}

TEST(JsonReader, ListsTheKeysOfTheOutermostObject) {
  EXPECT_THAT(top_keys(R"({"a": {"b": [1, "c"]}, "d": "e", "f": ["g", {"h": 1}]})"), testing::ElementsAre("a", "d", "f"));
  EXPECT_THAT(top_keys("[1]"), testing::IsEmpty());
  EXPECT_THAT(top_keys("words"), testing::IsEmpty());
}

}  // namespace
}  // namespace warpfold::report
