// Numbers that an answer draws: trip counts by a distribution.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "configs/lengths.h"
#include "support.h"

namespace warpfold::sass {
namespace {

using testing::HasSubstr;

// Each thread runs the loop as often as the value that it loads in line 4 says, at least once.
constexpr const char* kLoop =
    "MOV R0, RZ ;\nMOV R2, c[0x0][0x160] ;\nLDG.E R4, [R2.64] ;\n.L_1:\nIADD3 R0, R0, 0x1, RZ ;\nISETP.LT.AND P0, PT, R0, R4, PT "
    ";\n@P0 BRA `(.L_1) ;\nEXIT ;\n";
const std::string kLaunch =
    "architecture: \"sm_80\" grid { x: 64 } block { x: 256 } array { name: \"x\" bytes: 4096 } parameter { array: \"x\" } answer { "
    "line: 4 sectors: 1 } ";

// Returns the trips of the eight warps of a CTA; a warp's trips are those of its lane with the most.
std::vector<uint64_t> trips(const std::string& answer) {
  const auto imported = import_lines(kLoop, kLaunch + answer);
  EXPECT_TRUE(imported) << message_of(imported);
  std::vector<uint64_t> result;
  if (!imported) return result;
  for (const traces::Role& role : imported->kernel.roles) {
    for (uint32_t warp = 0; warp < role.warps; ++warp)
      result.push_back(counts_of(role.body, imported->kernel.cta_classes.at(0))["IADD3"]);
  }
  return result;
}

TEST(Draws, ZipfIsMostlySmall) {
  const std::vector<uint64_t> zipf = trips("answer { line: 4 zipf: 1000 }");
  ASSERT_EQ(zipf.size(), 8U);
  EXPECT_EQ(zipf, trips("answer { line: 4 zipf: 1000 }"));
  uint64_t of_zipf = 0;
  uint64_t of_uniform = 0;
  for (const uint64_t each : zipf) of_zipf += each;
  for (const uint64_t each : trips("answer { line: 4 uniform: 1000 }")) of_uniform += each;
  // The largest of 32: 970 of 1000 if all are equally likely; 0.5^(1/32) of the logarithm, about 850, by Zipf.
  EXPECT_NEAR(static_cast<double>(of_uniform) / 8, 970, 30);
  EXPECT_LT(of_zipf, of_uniform);
  EXPECT_GT(of_zipf / 8, 500U);
}

TEST(Draws, LengthsAreThoseOfTheFile) {
  for (const uint64_t each : trips("answer { line: 4 lengths: \"rows.txt\" length: 7 length: 12 }")) EXPECT_EQ(each, 12U);
  const auto imported = import_lines(kLoop, kLaunch + "answer { line: 4 lengths: \"rows.txt\" length: 7 }");
  ASSERT_TRUE(imported);
  EXPECT_THAT(
      imported->report.assumed,
      testing::ElementsAre("line 4, LDG.E: of addresses that hang on the numbers drawn, all are taken to be equally likely"));
}

TEST(Draws, AreRefusedWithoutNumbers) {
  EXPECT_THAT(message_of(import_lines(kLoop, kLaunch + "answer { line: 4 lengths: \"rows.txt\" }")),
              HasSubstr("the file of lengths is read beside a launch description"));
  EXPECT_THAT(message_of(import_lines(kLoop, kLaunch + "answer { line: 4 zipf: 0 }")), HasSubstr("zipf must be from 1 to 1000000"));
  EXPECT_THAT(message_of(import_lines(kLoop, kLaunch + "answer { line: 4 zipf: 1000001 }")), HasSubstr("zipf must be"));
}

TEST(Draws, FilesAreReadBesideTheDescription) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/draws_rows.txt") << "# rows\n3 5\n\n9\n";
  std::ofstream(folder + "/draws.textproto") << kLaunch << "answer { line: 4 lengths: \"draws_rows.txt\" }";
  const auto launch = configs::load_kernel_launch(folder + "/draws.textproto", {});
  ASSERT_TRUE(launch);
  EXPECT_THAT(launch->answer(1).length(), testing::ElementsAre(3, 5, 9));
  std::ofstream(folder + "/draws_rows.txt") << "3\n4 many\n";
  const auto wrong = configs::load_kernel_launch(folder + "/draws.textproto", {});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("draws_rows.txt:2:3: expected a number from 0 to 4294967295, not \"many\""));
}

TEST(Draws, FilesOfLengthsAreChecked) {
  const auto message = [](std::string_view text) {
    const auto numbers = configs::parse_lengths("rows.txt", text);
    return numbers ? std::string() : numbers.error().text();
  };
  EXPECT_EQ(message("1 2\n3"), "");
  EXPECT_THAT(message(""), HasSubstr("rows.txt:1:1: no number"));
  EXPECT_THAT(message("# none\n"), HasSubstr("no number"));
  EXPECT_THAT(message("1\n 4294967296\n"), HasSubstr("rows.txt:2:2: expected a number"));
  EXPECT_THAT(message("-1"), HasSubstr("expected a number"));
  std::string many;
  for (size_t i = 0; i <= configs::kMostLengths; ++i) many += "1\n";
  EXPECT_THAT(message(many), HasSubstr("rows.txt:1000001:1: more than 1000000 numbers"));
}

}  // namespace
}  // namespace warpfold::sass
