#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <sstream>

#include "configs/result.pb.h"
#include "program.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The small scenario, simulated and saved.
class Report : public Program {
 protected:
  Report() {
    write("pair.textproto", small_scenario());
    save("a.json", {});
  }
  void save(const std::string& file, const std::vector<std::string>& more) const {
    std::vector<std::string> words{"simulate", "pair.textproto", "--output", file};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
  }
};

TEST_F(Report, IsOneScreenForTwoKernels) {
  const Ended ended = run({"report", "a.json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_LE(std::ranges::count(ended.out, '\n'), 24);
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(ended.out, HasSubstr("bound by CTA starts"));
  EXPECT_THAT(ended.out, HasSubstr("warp time, mostly "));
}

TEST_F(Report, GivesTheSameResultAgainAsJsonAndCsv) {
  EXPECT_EQ(run({"report", "a.json", "--format", "json"}).out, read("a.json"));
  EXPECT_EQ(run({"report", "a.json", "--format", "csv"}).out, run({"simulate", "pair.textproto", "--format", "csv"}).out);
}

TEST_F(Report, SaysWhatChangedFromOneResultToAnother) {
  save("b.json", {"--set", "heads=16"});
  const Ended ended = run({"report", "a.json", "b.json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("A: a.json\nB: b.json\n"));
  EXPECT_THAT(ended.out, HasSubstr("total time"));
  EXPECT_THAT(run({"report", "a.json", "b.json", "--format", "json"}).out, HasSubstr("\"field_a\": \"A.result.total_time_us\""));
  EXPECT_THAT(run({"report", "a.json", "b.json", "--format", "csv"}).out,
              StartsWith("group,what,unit,a,b,change,relative,share_of_total,field_a,field_b\ntotal,total time,us,"));
  EXPECT_THAT(run({"report", "a.json", "a.json"}).out, HasSubstr("All figures are equal."));
}

TEST_F(Report, ShowsAComparisonAgain) {
  const std::vector<std::string> compare{"compare", "pair.textproto", "--policies", "all"};
  std::vector<std::string> saved = compare;
  saved.insert(saved.end(), {"--output", "c.json"});
  ASSERT_EQ(run(saved).exit_code, 0);
  EXPECT_EQ(run({"report", "c.json"}).out, run(compare).out);
}

// SM shares that the scenario leaves open are tried, and the output says which ones were taken.
TEST_F(Report, ComparesPoliciesAtTheirBest) {
  const std::vector<std::string> compare{"compare", "pair.textproto", "--policies", "sm_partition", "--format", "json"};
  std::vector<std::string> fixed = compare;
  fixed.emplace_back("--fixed");
  configs::Comparison best;
  configs::Comparison by_default;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(run(compare).out, &best).ok());
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(run(fixed).out, &by_default).ok());
  EXPECT_EQ(by_default.taken_size(), 0);
  ASSERT_EQ(best.taken_size(), 1);
  const configs::TakenSettings& taken = best.taken(0);
  EXPECT_EQ(taken.policy(), "SM_PARTITION");
  EXPECT_GE(taken.tried(), 5U);  // the default, and bisection of 32 shares that the driver makes
  EXPECT_LE(taken.tried(), 9U);
  EXPECT_LE(best.results(0).total_time_us(), by_default.results(0).total_time_us() * 1.01);
  std::vector<std::string> stated = fixed;
  if (!taken.settings().empty()) {
    std::string text = read("pair.textproto");
    const std::string kind = "kind: CONCURRENT\n";
    write("stated.textproto", text.insert(text.find(kind) + kind.size(), taken.settings() + "\n"));
    stated[1] = "stated.textproto";
  }
  configs::Comparison same;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(run(stated).out, &same).ok());
  EXPECT_EQ(same.results(0).total_cycles(), best.results(0).total_cycles());
}

// Results of several files have no policies to be called by, and no ranks but among each other.
TEST_F(Report, NamesAndRanksTheRunsOfSeveralFiles) {
  ASSERT_EQ(run({"simulate", "pair.textproto", "--policy", "sequential", "--output", "slow.json"}).exit_code, 0);
  write("again.json", read("a.json"));
  const Ended ended = run({"report", "slow.json", "a.json", "again.json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("times as fast as slow.json; tied with\n  again.json (the same time); "));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\nrun +rank +total us"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\nslow.json +3 "));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\na.json +1 "));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\nagain.json +1 "));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\n +1 +again.json +a.json +0\\.00 +0\\.00\n"));
}

// Numbers of estimated runs are those of one file: the first run of another file is another one, whose error adds up.
TEST_F(Report, TakesEstimatedRunsOfSeveralFilesForDifferentOnes) {
  std::string estimated = read("a.json");
  const std::string none = "\"estimated\": []";
  ASSERT_THAT(estimated, HasSubstr(none));
  estimated.replace(estimated.find(none), none.size(), R"("estimated": [{"run": 1, "cycles": 1000, "error_bound": 0.5}])");
  for (const std::string file : {"b.json", "c.json", "d.json"}) write(file, estimated);
  const Ended ended = run({"report", "b.json", "c.json", "d.json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("\n +1 +c.json +b.json +0\\.00 +[1-9][0-9]*\\.[0-9]+\n"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\n +1 +d.json +b.json +0\\.00 +[1-9][0-9]*\\.[0-9]+\n"));
  EXPECT_THAT(ended.out, HasSubstr("\n--fold exact would resolve "));
}

// A comparison of a version that saved no ties.
TEST_F(Report, FindsTheTiesOfASavedComparison) {
  ASSERT_EQ(run({"compare", "pair.textproto", "--policies", "all", "--output", "c.json"}).exit_code, 0);
  std::string saved = read("c.json");
  const std::string shown = run({"report", "c.json"}).out;
  ASSERT_THAT(shown, HasSubstr("\nTies: "));
  for (size_t at = saved.find("\"tie\""); at != std::string::npos; at = saved.find("\"tie\"")) {
    const size_t end = saved.find('}', at);
    saved.erase(at, saved.find_first_not_of(", \n", end + 1) - at);
  }
  write("before.json", saved);
  EXPECT_EQ(run({"report", "before.json"}).out, shown);
}

// A result that a comparison ranked beside one without a rank.
TEST_F(Report, IsOneTableOfUnlikeResults) {
  std::string ranked = read("a.json");
  const std::string rank = "\"rank\": 0";
  ASSERT_THAT(ranked, HasSubstr(rank));
  write("ranked.json", ranked.replace(ranked.find(rank), rank.size(), "\"rank\": 7"));
  for (const auto& files : {std::vector<std::string>{"a.json", "ranked.json"}, {"ranked.json", "a.json"}}) {
    const Ended ended = run({"report", files[0], files[1], files[0], "--format", "csv"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(",rank,"));
    EXPECT_THAT(ended.out, HasSubstr(",7,"));
    EXPECT_THAT(ended.out, HasSubstr(",,"));
  }
}

TEST_F(Report, WritesAPageBesideWhatItPrints) {
  const Ended ended = run({"report", "a.json", "--html", "a.html"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(read("a.html"), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(run({"report", "a.json", "--html", "a.html", "--format", "csv"}).out, StartsWith("scenario,"));
  EXPECT_EQ(run({"simulate", "pair.textproto", "--html", "s.html"}).exit_code, 0);
  EXPECT_EQ(run({"compare", "pair.textproto", "--html", "c.html"}).exit_code, 0);
  EXPECT_THAT(read("s.html"), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(read("c.html"), StartsWith("<!DOCTYPE html>"));
}

TEST_F(Report, NamesWhatIsWrongWithItsInput) {
  const auto refusal = [this](const std::string& text) {
    write("bad.json", text);
    const Ended ended = run({"report", "bad.json", "--html", "bad.html"});
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    return ended.err;
  };
  EXPECT_EQ(refusal("words"), "bad.json:1:1: damaged JSON: Invalid value.\n");
  EXPECT_EQ(refusal("{\n \"kernels\": [{\"cycle\": 1}]}"),
            "bad.json:2:15: unknown field \"cycle\" in KernelResult; did you mean \"cycles\"?\n");
  EXPECT_EQ(refusal("{\"at\": [], \"key\": \"\", \"run\": []}"),
            "bad.json:1:1: expected a result of simulate, compare or model (--format json), found a point of a study\n");
  const std::string kinds = "bad.json:1:1: expected a result of simulate, compare or model (--format json), found ";
  EXPECT_EQ(refusal("{\"version\": \"1\", \"model\": {}, \"tensor_tflops\": 1}"), kinds + "a report of a layer\n");
  EXPECT_EQ(refusal("{\"version\": \"1\", \"rows\": [], \"unmapped\": []}"), kinds + "a validation\n");
  EXPECT_EQ(refusal("[{}]"),
            "bad.json:1:1: expected a result of simulate, compare or model (--format json), found a list: the rows of a table\n");
  EXPECT_EQ(refusal("{\"results\": []}"),
            "bad.json:1:1: expected a result of simulate, compare or model (--format json), found a comparison without results\n");
  EXPECT_EQ(refusal(""), "bad.json:1:1: expected a result of simulate, compare or model (--format json), found an empty file\n");
  // Changed by hand: tables take all kernels to have the same states, pages a number to be one.
  EXPECT_EQ(refusal(R"({"kernels": [{"name": "a", "states": [{"state": "wait"}]}, {"name": "b", "states": []}]})"),
            "bad.json:1:1: expected a result of simulate, compare or model (--format json), found one that does not hold together: "
            "kernel \"b\" has other states than kernel \"a\"\n");
  EXPECT_THAT(refusal(R"({"results": [{"kernels": []}]})"), HasSubstr("a comparison with a result without kernels"));
  EXPECT_THAT(refusal(R"({"kernels": [{"name": "a"}], "model": {}})"),
              HasSubstr("kernel \"a\" of the limiter model has no limiters"));
  EXPECT_THAT(refusal(R"({"kernels": [{"name": "a"}], "what_if": {}})"), HasSubstr("what_if has no resources"));
  EXPECT_THAT(refusal(R"({"kernels": [{"name": "a"}], "power": {}})"), HasSubstr("power is of 0 kernels, the result of 1"));
  for (const std::string number : {"nan", "inf", "-inf"})
    EXPECT_THAT(refusal("{\"total_time_us\": " + number + "}"),
                AllOf(HasSubstr("bad.json:1:"), HasSubstr("damaged JSON: Invalid value.")));
  EXPECT_EQ(refusal("{\"total_time_us\": 1e999}"), "bad.json:1:19: damaged JSON: Number too big to be stored in double.\n");
  EXPECT_THAT(run({"report", "none.json"}).err, HasSubstr("none.json"));
  EXPECT_THAT(files(), Not(testing::Contains("bad.html")));
}

}  // namespace
}  // namespace warpfold::cli
