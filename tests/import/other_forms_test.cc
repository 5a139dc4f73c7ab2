// Listings as JSON (nvdisasm -json) and as CSV (Nsight Compute's source page).
#include "traces/import/other_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace warpfold::sass {
namespace {

using testing::HasSubstr;

constexpr const char* kLaunch = "grid { x: 1 } block { x: 32 }";

Expected<Imported> import_text(const std::string& file, const std::string& text, const std::string& launch = kLaunch) {
  configs::KernelLaunch description;
  if (auto parsed = configs::parse_text("launch.textproto", launch, description); !parsed) return std::unexpected(parsed.error());
  return import_listing(file, text, description, {});
}

std::string error_of(const std::string& file, const std::string& text, const std::string& launch = kLaunch) {
  const auto imported = import_text(file, text, launch);
  return imported ? "" : imported.error().text();
}

// A loop of three passes.
std::string json(const std::string& last = R"({"opcode":"EXIT","other-attributes":{"control-flow":"True"}})") {
  return R"([{"ELF":{"layout-id":4,"ei_osabi":51,"ei_abiversion":7},"SM":{"version":{"major":8,"minor":9}},)"
         R"("SchemaVersion":{"major":12,"minor":8,"revision":0},"Producer":"nvdisasm","Description":""},)"
         R"([{"function-name":"_Z1kv","start":0,"length":112,"other-attributes":[],"sass-instructions":[)"
         R"({"opcode":"MOV","operands":"R0,0x0"},{"opcode":"BRA","operands":"0x30"},{"opcode":""},{"opcode":"IADD3","operands":"R0,R0,0x1,RZ","extra":""},)"
         R"({"opcode":"ISETP.LT.AND","operands":"P0,PT,R0,0x3,PT"},{"predicate":"@P0","opcode":"BRA","operands":"0x30"},)" +
         last + "]}]]";
}

// As `jq .` prints it: a line for each member, element and closing bracket, but for empty arrays.
std::string on_lines(const std::string& text) {
  std::string result;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    const bool opens = !quoted && (c == '[' || c == '{');
    const bool closes = !quoted && (c == ']' || c == '}');
    const bool empty = closes && (text[i - 1] == '[' || text[i - 1] == '{');
    if (closes && !empty) result += "\n" + std::string(static_cast<size_t>(2 * --depth), ' ');
    if (closes && empty) --depth;
    result += c;
    if (opens) ++depth;
    const bool next_closes = i + 1 < text.size() && (text[i + 1] == ']' || text[i + 1] == '}');
    if ((opens && !next_closes) || (!quoted && c == ',')) result += "\n" + std::string(static_cast<size_t>(2 * depth), ' ');
  }
  return result;
}

TEST(JsonListing, IsReadWithItsGapsAndItsArchitecture) {
  for (const std::string& text : {json(), on_lines(json())}) {
    const auto imported = import_text("k.json", text);
    ASSERT_TRUE(imported) << message_of(imported);
    EXPECT_EQ(imported->kernel.architecture, "sm_89");
    EXPECT_EQ(imported->kernel.name, "_Z1kv");
    EXPECT_EQ(traces::issued_instructions(imported->kernel), 2U + 3 * 3 + 1);
  }
  EXPECT_THAT(error_of("k.json", "[{},[{\"function-name\":\"k\",\"sass-instructions\":[{\"opcode\":\"\"}]}]]",
                       std::string("architecture: \"sm_80\" ") + kLaunch),
              HasSubstr("unknown opcode \"GAP\""));
}

TEST(JsonListing, LinesAreTheFilesOrThoseOfJq) {
  const std::string bad = json(R"({"opcode":"EXYT"})");
  const std::string of_one_line = error_of("k.json", bad);
  EXPECT_THAT(of_one_line, HasSubstr("unknown opcode \"EXYT\" of sm_89"));
  EXPECT_EQ(of_one_line, error_of("k.json", on_lines(bad)));
  const std::string lines = on_lines(bad);
  const auto line = 1 + std::count(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(lines.find("EXYT")), '\n');
  EXPECT_THAT(of_one_line, testing::StartsWith("k.json:" + std::to_string(line) + ":"));
  EXPECT_THAT(import_text("k.json", json())->report.assumed, testing::ElementsAre(HasSubstr("lines are those of jq . FILE")));
  EXPECT_THAT(import_text("k.json", on_lines(json()))->report.assumed, testing::IsEmpty());
}

TEST(JsonListing, HasItsControlCodesInExtra) {
  const auto imported = import_text("k.json", json(R"({"opcode":"EXIT","extra":"?trans5"})"));
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(traces::issued_instructions(imported->kernel), 12U);
}

TEST(JsonListing, ThatIsBrokenIsRefusedAtItsPlace) {
  EXPECT_THAT(error_of("k.json", "[{"), testing::StartsWith("k.json:1:3: expected a string"));
  EXPECT_THAT(error_of("k.json", "[{}\n, [{\"function-name\": \"k\","), HasSubstr("k.json:2:26: expected a string"));
  EXPECT_THAT(error_of("k.json", "[{}, [{\"function-name\": \"k\n"), HasSubstr("a string with a control character"));
  EXPECT_THAT(error_of("k.json", "[{}, [{\"function-name\": \"k"), HasSubstr("the text breaks off inside a string"));
  EXPECT_THAT(error_of("k.json", "[{\"a\":\"\\q\"}]"), HasSubstr("an unknown escape in a string"));
  EXPECT_THAT(error_of("k.json", "[{}, [{}]]"), HasSubstr("a function without function-name"));
  EXPECT_THAT(error_of("k.json", "[{} 3]"), HasSubstr("expected , or ]"));
  EXPECT_THAT(error_of("k.json", "[{}] x"), HasSubstr("more behind the end of the JSON"));
  EXPECT_THAT(error_of("k.json", "[{\"SM\":{\"version\":{\"major\":\"8\"}}}]"), HasSubstr("expected a whole number"));
  EXPECT_THAT(error_of("k.json", "[{},[{\"function-name\":\"k\",\"sass-instructions\":[{\"opcode\":\"A;\"}]}]]"),
              HasSubstr("an instruction with a line break or ;"));
  EXPECT_THAT(error_of("k.json", "[{},[{\"sass-instructions\":[{\"opcode\":\"EXIT\"}],\"function-name\":\"k\"}]]"),
              HasSubstr("a function's name stands behind its instructions"));
  EXPECT_THAT(error_of("k.json", "[{\"a\":" + std::string(100, '[')), HasSubstr("values inside each other more than 64 deep"));
}

const std::string kRows =
    "==PROF== Connected to process 1\n\"Kernel Name\",\"k(int *, int)\",\n\"#\",\"Address\",\"Source\",\"# Samples\"\n"
    "\"1\",\"0x7fc48541d900\",\"      MOV R0, 0x0 \",\"1\"\n\"2\",\"0x7fc48541d910\",\"      IADD3 R0, R0, 0x1, RZ \",\"1,000\"\n"
    "\"3\",\"0x7fc48541d920\",\"      ISETP.LT.AND P0, PT, R0, 0x3, PT \",\"1\"\n"
    "\"4\",\"0x7fc48541d930\",\"@P0   BRA 0x7fc48541d910 \",\"1\"\n";

TEST(CsvListing, HasARowForEachInstruction) {
  const std::string launch = std::string("architecture: \"sm_80\" ") + kLaunch;
  const auto imported = import_text("k.csv", kRows + "\"5\",\"0x7fc48541d940\",\"      EXIT \",\"1\"\n", launch);
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(imported->report.function, "k(int *, int)");
  EXPECT_EQ(traces::issued_instructions(imported->kernel), 1U + 3 * 3 + 1);
  EXPECT_THAT(error_of("k.csv", kRows, kLaunch), HasSubstr("state it, as architecture: \"sm_80\""));
}

TEST(CsvListing, ThatIsBrokenIsRefusedAtItsRow) {
  const std::string launch = std::string("architecture: \"sm_80\" ") + kLaunch;
  EXPECT_THAT(error_of("k.csv", kRows + "\"5\",\"0x7fc48541d940\",\"EXYT\",\"1\"\n", launch),
              HasSubstr("k.csv:8:1: unknown opcode \"EXYT\""));
  EXPECT_THAT(error_of("k.csv", kRows + "\"5\",\"there\",\"EXIT\",\"1\"\n", launch),
              HasSubstr("k.csv:8:1: expected an address in hexadecimal, not \"there\""));
  EXPECT_THAT(error_of("k.csv", kRows + "\"5\",\"0x10\",\"EXIT\",\"1\"\n", launch), HasSubstr("lies before the first one"));
  EXPECT_THAT(error_of("k.csv", "Address,Source\n,\"x[i] = 1;\"\n", launch),
              HasSubstr("no instruction; export the page with ncu --page source --csv --print-source sass"));
}

}  // namespace
}  // namespace warpfold::sass
