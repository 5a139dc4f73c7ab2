#include "configs/axis_values.h"

#include <gtest/gtest.h>

#include "configs/study_of_scenario.h"
#include "scratch.h"

namespace warpfold::configs {
namespace {

std::string text_of(const std::string& written) {
  const auto values = axis_values(written);
  if (!values) return values.error().message;
  std::string text;
  for (const std::string& value : *values) text += (text.empty() ? "" : " ") + value;
  return text;
}

TEST(AxisValues, OfRanges) {
  EXPECT_EQ(text_of("100..160 step 10"), "100 110 120 130 140 150 160");
  EXPECT_EQ(text_of("100..165 step 20"), "100 120 140 160");
  EXPECT_EQ(text_of("1..4"), "1 2 3 4");
  EXPECT_EQ(text_of("4..1"), "4 3 2 1");
  EXPECT_EQ(text_of("-1..1 step 0.5"), "-1 -0.5 0 0.5 1");
  EXPECT_EQ(text_of("0.1..0.5 step 0.1"), "0.1 0.2 0.3 0.4 0.5");
  EXPECT_EQ(text_of("1..64 times 2"), "1 2 4 8 16 32 64");
  EXPECT_EQ(text_of("8..1 times 2"), "8 4 2 1");
  EXPECT_EQ(text_of("1..100 times 3"), "1 3 9 27 81");
  EXPECT_EQ(text_of("1..1000 log 4"), "1 10 100 1000");
  EXPECT_EQ(text_of("1..10 log 3"), "1 3 10");
  EXPECT_EQ(text_of("0.5..2 log 3"), "0.5 1 2");
  EXPECT_EQ(text_of("1..2 log 9"), "1 2");  // whole numbers, each once
}

TEST(AxisValues, OtherTextIsItself) {
  EXPECT_EQ(text_of("7"), "7");
  EXPECT_EQ(text_of("../traces/a.wft"), "../traces/a.wft");
  EXPECT_EQ(text_of("a..b"), "a..b");
  EXPECT_EQ(text_of(""), "");
}

TEST(AxisValues, NamesWhatIsWrong) {
  EXPECT_EQ(text_of("1..9 step 0"), "step takes a number above 0: the ends say which way it goes");
  EXPECT_EQ(text_of("1..9 times 1"), "times takes a number above 1: the ends say which way it goes");
  EXPECT_EQ(text_of("0..9 times 2"), "times takes ends above 0");
  EXPECT_EQ(text_of("1..9 log 1"), "log takes how many values, from 2");
  EXPECT_EQ(text_of("0..9 log 2"), "log takes ends above 0");
  EXPECT_EQ(text_of("1..9 stop 2"), "a range goes by step, times or log, not \"stop\"; did you mean \"step\"?");
  EXPECT_EQ(text_of("1..9 step"), "a range is \"FIRST..LAST step NUMBER\", with step, times or log, not \"1..9 step\"");
  EXPECT_EQ(text_of("1..1e9"), "more than 100000 values");
  EXPECT_EQ(text_of("1e-300..1e300 log 3"), "the ends of log are too far apart");
}

class StudyAxes : public InScratchFolder {
 protected:
  static std::string error_of(const std::string& axes) {
    write("study.textproto", "scenario_file: \"s.textproto\"\npolicy: SEQUENTIAL\n" + axes);
    const auto study = load_study("study.textproto");
    return study ? "no error" : study.error().text();
  }
};

TEST_F(StudyAxes, AreExpandedWhenTheStudyIsRead) {
  write(
      "study.textproto",
      "scenario_file: \"s.textproto\"\naxis { name: \"a\" value: \"1..3\" value: \"9\" along { name: \"b\" value: \"4..1\" } }\n");
  const auto study = load_study("study.textproto");
  ASSERT_TRUE(study) << study.error().text();
  const Axis& axis = study->axis(0);
  EXPECT_EQ(axis.value_size(), 4);
  EXPECT_EQ(axis.along(0).value(3), "1");
  EXPECT_EQ(axis.written(2), 0);
  EXPECT_EQ(axis.written(3), 1);
}

TEST_F(StudyAxes, MistakesHaveTheirPlace) {
  EXPECT_EQ(error_of("axis { name: \"a\" value: \"1\" value: \"1..3 step -1\" }"),
            "study.textproto:3:29: step takes a number above 0: the ends say which way it goes");
  EXPECT_EQ(error_of("axis { name: \"a\" value: \"1..3\" value: \"2\" }"), "study.textproto:3:32: axis \"a\" has 2 twice");
  EXPECT_EQ(error_of("axis { name: \"a\" value: \"1..3\"\n value: \"2.0\" }"),
            "study.textproto:4:2: axis \"a\" has 2.0 twice, once as 2");
  EXPECT_EQ(error_of("axis { name: \"a\" value: \"1..3\" along { name: \"b\" value: \"1\" } }"),
            "study.textproto:3:32: axis \"a\" has 3 values, and along with it \"b\" has 1");
  EXPECT_EQ(error_of("axis { name: \"a\" value: \"1\" along { name: \"a\" value: \"1\" } }"),
            "study.textproto:3:37: \"a\" varies twice");
  EXPECT_EQ(error_of("axis { name: \"a\" value: \"1..60000\" value: \"60001..100001\" }"),
            "study.textproto:3:36: more than 100000 values");
  EXPECT_EQ(error_of("axis { name: \"a\" value: \"1..50000\" }\naxis { name: \"b\" value: \"1..50000\" }"),
            "study.textproto:4:1: the grid has more than 1000000 points");
  EXPECT_EQ(error_of("axis { name: \"a\" value: \"1\" along { value: \"1\" } }"),
            "study.textproto:3:29: what varies along with axis \"a\" has no name");
}

TEST_F(StudyAxes, QuestionsMayNameWhatTheStudyHas) {
  const std::string axis = "axis { name: \"a\" value: \"1\" }\n";
  EXPECT_EQ(error_of(axis + "where: \"b < 1\""), "study.textproto:4:1: \"b < 1\", character 1: no \"b\"; did you mean \"a\"?");
  EXPECT_EQ(error_of(axis + "where: \"a\""), "study.textproto:4:1: \"a\", character 1: expected a condition, such as a <= b");
  EXPECT_EQ(error_of(axis + "front { name: \"f\" minimize: \"a\" }"), "study.textproto:4:1: a front has two measures or more");
  EXPECT_EQ(error_of(axis + "front { minimize: \"a\" }"), "study.textproto:4:1: a front has no name");
  EXPECT_EQ(error_of(axis + "front { name: \"f\" minimize: \"a\" maximize: \"energy\" }"),
            "study.textproto:4:33: \"energy\", character 1: no \"energy\"; did you mean \"energy_j\"?");
  EXPECT_EQ(error_of(axis + "front { name: \"f\" minimize: \"a\" maximize: \"total_time_us +\" }"),
            "study.textproto:4:33: \"total_time_us +\", character 16: expected a name, a number or a text");
  EXPECT_EQ(error_of(axis + "front { name: \"f\" minimize: \"a\" minimize: \"2 * (a + total_time_us)\" }"), "no error");
  EXPECT_EQ(error_of(axis + "least { axis: \"a\" }"), "study.textproto:4:1: a search has no name");
  EXPECT_EQ(error_of(axis + "least { name: \"l\" axis: \"b\" }"),
            "study.textproto:4:19: no axis called \"b\"; did you mean \"a\"?");
  EXPECT_EQ(error_of(axis + "least { name: \"l\" axis: \"a\" such_that: \"total_time < 1\" }"),
            "study.textproto:4:29: \"total_time < 1\", character 1: no \"total_time\"; did you mean \"total_time_us\"?");
  EXPECT_EQ(error_of(axis + "sample { where_the_fastest_policy_changes: true }"),
            "study.textproto:4:1: one policy alone is the fastest everywhere");
  EXPECT_EQ(error_of(axis + "sample { random: 1 where_the_fastest_policy_changes: true }"),
            "study.textproto:4:1: a sample is random, or where the fastest policy changes: one of the two");
  EXPECT_EQ(error_of(axis + "sample { random: 1 } least { name: \"l\" axis: \"a\" such_that: \"a < 1\" }"),
            "study.textproto:4:1: a sample is for studies without figures and searches: those say which points they want");
}

TEST_F(StudyAxes, OfTheCommandLine) {
  write("s.textproto", "");
  const auto error = [](const std::vector<std::string>& axes, const std::vector<std::string>& where) {
    const auto study = study_of_scenario("s.textproto", axes, where, {SEQUENTIAL});
    return study ? "no error" : study.error().text();
  };
  EXPECT_EQ(error({"a=1,2,4..8 times 2"}, {"a != 2"}), "no error");
  EXPECT_EQ(error({"a"}, {}), "--axis takes NAME=VALUE,VALUE,..., such as 'gpu.sm_count=100..160 step 10', not \"a\"");
  EXPECT_EQ(error({"a=1", "b=3..1 step 0"}, {}),
            "--axis \"b=3..1 step 0\", character 3: step takes a number above 0: the ends say which way it goes");
  EXPECT_EQ(error({"a=1"}, {"c < 1"}), "--where \"c < 1\": \"c < 1\", character 1: no \"c\"; did you mean \"a\"?");
  EXPECT_EQ(study_of_scenario("s.textproto", {"a=1,2,4..8 times 2"}, {}, {})->axis(0).value_size(), 4);
}

}  // namespace
}  // namespace warpfold::configs
