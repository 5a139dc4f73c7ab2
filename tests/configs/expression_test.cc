#include "configs/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace warpfold::configs {
namespace {

std::string said(const std::string& text) {
  static const std::map<std::string, Word, std::less<>> words{
      {"a", 3.0},    {"b", 4.0}, {"gpu", std::string("h100_sxm")}, {"gpu.sm_count", 132.0}, {"FUSED.total_time_us", 2.5},
      {"notes", 1.0}};
  const Words known{.find = [](std::string_view name) -> std::optional<Word> {
                      const auto found = words.find(name);
                      return found == words.end() ? std::nullopt : std::optional(found->second);
                    },
                    .known = {"a", "b", "gpu"}};
  const auto held = holds(text, known);
  if (!held) return held.error().message;
  return *held ? "true" : "false";
}

TEST(Expression, Compares) {
  EXPECT_EQ(said("a < b"), "true");
  EXPECT_EQ(said("a<=3"), "true");
  EXPECT_EQ(said("a >= b"), "false");
  EXPECT_EQ(said("a > b"), "false");
  EXPECT_EQ(said("a == 3.0"), "true");
  EXPECT_EQ(said("a != 3"), "false");
  EXPECT_EQ(said("gpu == 'h100_sxm'"), "true");
  EXPECT_EQ(said("gpu != 'h100_sxm'"), "false");
  EXPECT_EQ(said("gpu.sm_count == 132"), "true");
  EXPECT_EQ(said("FUSED.total_time_us / 2 < 1.3"), "true");
}

TEST(Expression, ComputesFromLeftToRightWithProductsFirst) {
  EXPECT_EQ(said("a + b * 2 == 11"), "true");
  EXPECT_EQ(said("(a + b) * 2 == 14"), "true");
  EXPECT_EQ(said("a - b - 1 == -2"), "true");
  EXPECT_EQ(said("8 / b / 2 == 1"), "true");
  EXPECT_EQ(said("7 % a == 1"), "true");
  EXPECT_EQ(said("-a + 1e1 == 7"), "true");
}

TEST(Expression, AndBindsBeforeOr) {
  EXPECT_EQ(said("a == 3 or b == 0 and b == 1"), "true");
  EXPECT_EQ(said("(a == 3 or b == 0) and b == 1"), "false");
  EXPECT_EQ(said("not a == 3"), "false");
  EXPECT_EQ(said("not (a == 3 and b == 3)"), "true");
  EXPECT_EQ(said("not not a == 3"), "true");
  EXPECT_EQ(said("notes == 1"), "true");  // a name that begins as a word does
}

TEST(Expression, NamesTheMistakeAndItsPlace) {
  EXPECT_EQ(said(""), "\"\", character 1: expected a name, a number or a text");
  EXPECT_EQ(said("a = 3"), "\"a = 3\", character 3: expected an operator or the end");
  EXPECT_EQ(said("a <"), "\"a <\", character 4: expected a name, a number or a text");
  EXPECT_EQ(said("(a < 1"), "\"(a < 1\", character 7: expected )");
  EXPECT_EQ(said("a < 'x'"), "\"a < 'x'\", character 4: expected a number");
  EXPECT_EQ(said("gpu < 'x'"), "\"gpu < 'x'\", character 1: expected a number");
  EXPECT_EQ(said("gpu == 'x"), "\"gpu == 'x\", character 8: a text without its end");
  EXPECT_EQ(said("a + 1"), "\"a + 1\", character 1: expected a condition, such as a <= b");
  EXPECT_EQ(said("a and b"), "\"a and b\", character 6: expected a condition, such as a <= b");
  EXPECT_EQ(said("c < 1"), "\"c < 1\", character 1: no \"c\"; did you mean \"a\"?");
}

TEST(Expression, ComputesNumbers) {
  const Words words{.find = [](std::string_view name) -> std::optional<Word> {
                      if (name == "a") return 3.0;
                      if (name == "kernel.my-rng.rounds") return 7.0;
                      if (name == "gpu") return std::string("h100_sxm");
                      return std::nullopt;
                    },
                    .known = {"a", "gpu"}};
  const auto number = [&](const std::string& text) { return number_of(text, words); };
  EXPECT_EQ(number("a").value(), 3);
  EXPECT_EQ(number("2 * (a + 1) / 4").value(), 2);
  EXPECT_EQ(number("kernel.my-rng.rounds").value(), 7);  // a name as a whole
  EXPECT_EQ(number("gpu").error().message, "\"gpu\", character 1: expected a number");
  EXPECT_EQ(number("a < 4").error().message, "\"a < 4\", character 1: expected a number");
  EXPECT_EQ(number("a 4").error().message, "\"a 4\", character 3: expected an operator or the end");
}

TEST(Expression, NestsOnlySoDeep) {
  const auto nested = [](int depth) { return std::string(depth, '(') + "a == 3" + std::string(depth, ')'); };
  EXPECT_EQ(said(nested(100)), "true");
  EXPECT_EQ(said(nested(101)), "\"" + nested(101).substr(0, 77) + "...\", character 102: nested more than 100 deep");
  std::string negations;
  for (int i = 0; i < 101; ++i) negations += "not ";
  EXPECT_THAT(said(negations + "a == 3"), testing::HasSubstr("nested more than 100 deep"));
  EXPECT_THAT(said(std::string(1'000'000, '-') + "1 == 1"), testing::HasSubstr("nested more than 100 deep"));
}

}  // namespace
}  // namespace warpfold::configs
