#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "program.h"

namespace warpfold::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class StudyQuestions : public Program {
 protected:
  StudyQuestions() { write("s.textproto", small_scenario()); }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream rows(text);
    for (std::string line; std::getline(rows, line);) found.push_back(line);
    return found;
  }
  static std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> found;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) found.push_back(cell);
    return found;
  }
  // The first `columns` cells of each row but the head.
  static std::vector<std::string> rows(const std::string& csv, size_t columns) {
    std::vector<std::string> found;
    for (const std::string& line : lines_of(csv)) {
      std::string row;
      const auto all = cells(line);
      for (size_t c = 0; c < columns; ++c) row += (c == 0 ? "" : ",") + all[c];
      found.push_back(row);
    }
    found.erase(found.begin());
    return found;
  }
  // A column of the simulated runs, by name.
  static std::vector<double> column(const std::string& csv, const std::string& name) {
    const auto all = lines_of(csv);
    const auto head = cells(all.front());
    const auto which = static_cast<size_t>(std::ranges::find(head, name) - head.begin());
    std::vector<double> values;
    for (size_t i = 1; i < all.size(); ++i) {
      if (all[i].find(",simulation,") != std::string::npos) values.push_back(std::stod(cells(all[i]).at(which)));
    }
    return values;
  }
};

TEST_F(StudyQuestions, AScenarioWithAxesIsATable) {
  const Ended ended = run({"study", "s.textproto", "--axis", "heads=2..8 times 2", "--axis", "gpu.sm_count=100,132", "--policies",
                           "sequential,concurrent", "--format", "csv", "--output", "out"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              StartsWith("heads,gpu.sm_count,policy,estimator,total_time_us,energy_j,stored_bits_mb,fold,error_bound,first_us,"
                         "first_alone_us,first_slowdown,first_bound_by,rng_us,rng_alone_us,rng_slowdown,rng_bound_by\n"));
  EXPECT_THAT(rows(ended.out, 4),
              ElementsAre("2,100,SEQUENTIAL,simulation", "2,100,CONCURRENT,simulation", "2,132,SEQUENTIAL,simulation",
                          "2,132,CONCURRENT,simulation", "4,100,SEQUENTIAL,simulation", "4,100,CONCURRENT,simulation",
                          "4,132,SEQUENTIAL,simulation", "4,132,CONCURRENT,simulation", "8,100,SEQUENTIAL,simulation",
                          "8,100,CONCURRENT,simulation", "8,132,SEQUENTIAL,simulation", "8,132,CONCURRENT,simulation"));
  EXPECT_GT(column(ended.out, "total_time_us").at(0), column(ended.out, "total_time_us").at(1));
  // The same as JSON, and without policies the scenario's own.
  const Ended json = run({"study", "s.textproto", "--axis", "heads=2..4 times 2", "--format", "json", "--output", "out"});
  EXPECT_THAT(json.out, HasSubstr("\"format\": 1"));
  EXPECT_THAT(json.out, HasSubstr("\"study\": \"s\""));
  EXPECT_THAT(json.out, HasSubstr("\"policy\": \"CONCURRENT\""));
  EXPECT_THAT(json.out, testing::Not(HasSubstr("SEQUENTIAL")));
}

TEST_F(StudyQuestions, AxesOverGpusZipsAndConditions) {
  write("study.textproto",
        "scenario_file: \"s.textproto\"\n"
        "axis { name: \"gpu\" value: \"h100_sxm\" value: \"a100_sxm\" }\n"
        "axis { name: \"heads\" value: \"2..8 times 2\" along { name: \"kernel.rng.philox.rounds\" value: \"5\" value: \"7\" "
        "value: \"10\" } }\n"
        "where: \"gpu == 'h100_sxm' or heads != 4\"\n");
  const Ended ended = run({"study", "study.textproto", "--format", "csv", "--output", "out"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(rows(ended.out, 3), ElementsAre("h100_sxm,2,5", "h100_sxm,4,7", "h100_sxm,8,10", "a100_sxm,2,5", "a100_sxm,8,10"));
  const Ended alone = run({"study", "s.textproto", "--gpu", "a100_sxm", "--axis", "heads=8", "--set", "kernel.rng.philox.rounds=10",
                           "--format", "csv", "--output", "alone"});
  EXPECT_EQ(column(alone.out, "total_time_us").front(), column(ended.out, "total_time_us").back());
}

TEST_F(StudyQuestions, ThePlaceOfAGpuThatIsNotThere) {
  write("study.textproto", "scenario_file: \"s.textproto\"\naxis { name: \"gpu\" value: \"h100_sxn\" }\n");
  const Ended ended = run({"study", "study.textproto"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, StartsWith("study.textproto:2:20: study study at gpu=h100_sxn: "));
  EXPECT_THAT(ended.err, HasSubstr("h100_sxm"));
}

TEST_F(StudyQuestions, LeastValueByBisection) {
  write("study.textproto",
        "scenario_file: \"s.textproto\"\n"
        "axis { name: \"heads\" value: \"2\" value: \"4\" }\n"
        "axis { name: \"gpu.sm_count\" value: \"8..132 step 2\" }\n"
        "least { name: \"sms\" axis: \"gpu.sm_count\" such_that: \"total_time_us <= 2\" }\n"
        "least { name: \"never\" axis: \"gpu.sm_count\" such_that: \"total_time_us <= 0.5\" }\n");
  const Ended ended = run({"study", "study.textproto", "--format", "csv", "--output", "out"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const size_t simulated = rows(ended.out, 2).size();
  EXPECT_LE(simulated, 14);  // of 126
  const auto found = lines_of(read("out/sms.csv"));
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0], "heads,least gpu.sm_count");
  EXPECT_EQ(read("out/never.csv"), "heads,least gpu.sm_count\n2,\n4,\n");
  EXPECT_THAT(run({"study", "study.textproto"}).out, HasSubstr("\nLeast gpu.sm_count such that total_time_us <= 2\n  heads"));
  // The value is right: its run is fast enough, and that of the value before is not.
  for (size_t i = 1; i < found.size(); ++i) {
    const auto row = cells(found[i]);
    const std::string sms = row.at(1);
    const Ended around =
        run({"study", "s.textproto", "--axis", "heads=" + row[0], "--axis",
             "gpu.sm_count=" + std::to_string(std::stoi(sms) - 2) + "," + sms, "--format", "csv", "--output", "out"});
    const auto times = column(around.out, "total_time_us");
    EXPECT_GT(times.at(0), 2);
    EXPECT_LE(times.at(1), 2);
  }
}

TEST_F(StudyQuestions, FrontOfTimeAgainstSms) {
  write("study.textproto",
        "scenario_file: \"s.textproto\"\n"
        "axis { name: \"gpu.sm_count\" value: \"33\" value: \"66\" value: \"132\" }\n"
        "policy: SEQUENTIAL\npolicy: CONCURRENT\n"
        "front { name: \"front\" title: \"Time against SMs\" minimize: \"total_time_us\" minimize: \"gpu.sm_count\" }\n");
  const Ended ended = run({"study", "study.textproto", "--output", "out"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("out/front.svg  Time against SMs\n\nPareto front front: "));
  EXPECT_THAT(run({"study", "study.textproto"}).out, HasSubstr(ended.out.substr(ended.out.find("\nPareto front"))));
  EXPECT_THAT(read("out/front.svg"), HasSubstr("Pareto front"));
  const auto front = lines_of(read("out/front.csv"));
  EXPECT_EQ(front.front(), "gpu.sm_count,policy,total_time_us,error_bound,label");
  // In order of time: no run is both slower and larger than another one.
  for (size_t i = 2; i < front.size(); ++i) EXPECT_LT(std::stod(cells(front[i])[0]), std::stod(cells(front[i - 1])[0]));
  // Each run that is left out is dominated by a run that is not.
  const Ended all = run({"study", "study.textproto", "--format", "csv", "--output", "out"});
  for (const std::string& line : lines_of(all.out)) {
    const auto run = cells(line);
    if (run[2] != "simulation") continue;
    EXPECT_TRUE(std::any_of(front.begin() + 1, front.end(), [&](const std::string& kept) {
      const auto best = cells(kept);
      return std::stod(best[0]) <= std::stod(run[0]) && std::stod(best[2]) <= std::stod(run[3]);
    })) << line;
  }
}

TEST_F(StudyQuestions, FrontOfTimeAgainstEnergy) {
  const std::string study =
      "scenario_file: \"s.textproto\"\n"
      "axis { name: \"gpu.sm_count\" value: \"66\" value: \"132\" }\n"
      "policy: SEQUENTIAL\npolicy: CONCURRENT\n"
      "front { name: \"front\" minimize: \"total_time_us\" minimize: \"energy_j\" }\n";
  write("study.textproto", study);
  const Ended fixed_clock = run({"study", "study.textproto", "--output", "out"});
  EXPECT_EQ(fixed_clock.exit_code, 2);
  EXPECT_EQ(fixed_clock.err, "front front: no run has all of its measures; energy_j needs gpu.clock: POWER\n");
  const Ended ended = run({"study", "study.textproto", "--output", "out", "--set", "gpu.clock=POWER", "--format", "csv"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto energies = column(ended.out, "energy_j");
  EXPECT_EQ(energies.size(), 4);
  EXPECT_GT(*std::ranges::min_element(energies), 0);
  const auto front = lines_of(read("out/front.csv"));
  EXPECT_EQ(front.front(), "gpu.sm_count,policy,total_time_us,energy_j,error_bound,label");
  for (size_t i = 2; i < front.size(); ++i) EXPECT_LT(std::stod(cells(front[i])[3]), std::stod(cells(front[i - 1])[3]));
}

TEST_F(StudyQuestions, PointsOfAFrontHaveLabelsInTableFilesAndChart) {
  write("study.textproto",
        "scenario_file: \"s.textproto\"\n"
        "axis { name: \"gpu.sm_count\" value: \"66\" value: \"132\" }\naxis { name: \"heads\" value: \"4\" }\n"
        "policy: SEQUENTIAL\npolicy: CONCURRENT\n"
        "front { name: \"cost\" minimize: \"total_time_us\" minimize: \"2 * gpu.sm_count + heads\" }\n");
  const Ended ended = run({"study", "study.textproto", "--output", "out"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Pareto front cost: "));
  const auto front = lines_of(read("out/cost.csv"));
  EXPECT_EQ(front.front(), "gpu.sm_count,heads,policy,total_time_us,2 * gpu.sm_count + heads,error_bound,label");
  ASSERT_GE(front.size(), 3);
  const std::string json = run({"study", "study.textproto", "--output", "out", "--format", "json"}).out;
  const std::string chart = read("out/cost.gp");
  for (size_t i = 1; i < front.size(); ++i) {
    const auto row = cells(front[i]);
    EXPECT_EQ(std::stod(row[4]), 2 * std::stod(row[0]) + 4);
    const std::string label = "gpu.sm_count=" + row[0] + ", " + row[2];
    EXPECT_THAT(front[i], HasSubstr(",\"" + label + "\""));
    EXPECT_THAT(ended.out, HasSubstr(label));
    EXPECT_THAT(chart, HasSubstr("\"" + label + "\"\n"));
    EXPECT_THAT(json, HasSubstr("\"label\": \"" + label + "\""));
  }
  EXPECT_THAT(chart, HasSubstr("with labels"));
}

TEST_F(StudyQuestions, AMeasureIsANumberAtEveryPoint) {
  const auto error = [this](const std::string& measure) {
    write("study.textproto",
          "scenario_file: \"s.textproto\"\naxis { name: \"heads\" value: \"4\" }\n"
          "front { name: \"front\" minimize: \"total_time_us\"\n  minimize: \"" +
              measure + "\" }\n");
    return refused({"study", "study.textproto", "--output", "out"});
  };
  EXPECT_EQ(error("heads *"), "study.textproto:4:3: \"heads *\", character 8: expected a name, a number or a text\n");
  EXPECT_EQ(error("heads + time"),
            "study.textproto:4:3: \"heads + time\", character 9: no \"time\"; known: heads, total_time_us, "
            "energy_j, stored_bits_mb\n");
  EXPECT_EQ(error("heads > 1"), "study.textproto:4:3: \"heads > 1\", character 1: expected a number\n");
  EXPECT_EQ(error("1 / (heads - 4)"), "front front: \"1 / (heads - 4)\" is no finite number at heads=4\n");
}

TEST_F(StudyQuestions, RefusesAValueThatAnAxisHasAlready) {
  EXPECT_EQ(refused({"study", "s.textproto", "--axis", "heads=1,2,2.0"}),
            "--axis \"heads=1,2,2.0\", character 11: axis \"heads\" has 2.0 twice, once as 2\n");
}

TEST_F(StudyQuestions, RandomSamplesAreTheSameForTheSameSeed) {
  const auto sample = [&](const std::string& seed) {
    write("study.textproto",
          "scenario_file: \"s.textproto\"\naxis { name: \"heads\" value: \"1..30\" }\nsample { random: 5 seed: " + seed + " }\n");
    return rows(run({"study", "study.textproto", "--format", "csv", "--output", "out"}).out, 1);
  };
  const auto first = sample("1");
  EXPECT_EQ(first.size(), 5);
  EXPECT_EQ(sample("1"), first);
  EXPECT_NE(sample("2"), first);
}

// Two kernels of which the second one grows: far from where the winner changes nothing is simulated.
TEST_F(StudyQuestions, RefinesWhereTheFastestPolicyChanges) {
  write("study.textproto",
        "scenario_file: \"s.textproto\"\n"
        "axis { name: \"heads\" value: \"1..65\" }\n"
        "policy: SEQUENTIAL\npolicy: CONCURRENT\n"
        "sample { where_the_fastest_policy_changes: true }\n");
  const Ended ended = run({"study", "study.textproto", "--format", "csv", "--output", "out"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Ended all = run({"study", "s.textproto", "--axis", "heads=1..65", "--policies", "sequential,concurrent", "--format", "csv",
                         "--output", "out"});
  const auto times = column(all.out, "total_time_us");
  std::vector<int> simulated;
  for (const std::string& row : rows(ended.out, 1)) simulated.push_back(std::stoi(row));
  // If the winner changes between neighbours of the coarse grid, a pair of neighbours on both sides of a change is simulated.
  const auto concurrent_wins = [&](int heads) {
    return times.at(static_cast<size_t>(2 * heads - 1)) < times.at(static_cast<size_t>(2 * heads - 2));
  };
  for (int coarse = 1; coarse < 65; coarse += 16) {
    EXPECT_TRUE(std::ranges::find(simulated, coarse) != simulated.end()) << coarse;
    if (concurrent_wins(coarse) == concurrent_wins(coarse + 16)) continue;
    bool pair = false;
    for (int heads = coarse; heads < coarse + 16; ++heads) {
      pair = pair || (concurrent_wins(heads) != concurrent_wins(heads + 1) && std::ranges::count(simulated, heads) > 0 &&
                      std::ranges::count(simulated, heads + 1) > 0);
    }
    EXPECT_TRUE(pair) << coarse;
  }
  EXPECT_LT(simulated.size(), 2 * 65);
}

TEST_F(StudyQuestions, RefusesOptionsThatDoNotGoTogether) {
  write("study.textproto", "scenario_file: \"s.textproto\"\naxis { name: \"heads\" value: \"1\" }\n");
  const auto error = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"study", "study.textproto"});
    const Ended ended = run(more);
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  };
  EXPECT_EQ(error({"--where", "heads < 1"}), "--where goes with --axis; a study's file has its own\n");
  EXPECT_EQ(error({"--policies", "fused"}), "--policies goes with --axis; a study's file has its own\n");
  EXPECT_EQ(error({"--format", "parquet"}), "--format: a study is written as csv or json, not as \"parquet\"; known: csv, json\n");
  EXPECT_EQ(error({"--wait"}), "--wait goes with --slurm\n");
  EXPECT_EQ(error({"--partition", "cpu"}), "--partition goes with --slurm\n");
  EXPECT_EQ(error({"--slurm", "--collect"}), "--collect draws a study that --slurm submitted: give one of the two\n");
  EXPECT_EQ(error({"--slurm", "--output", "out", "--array-size", "0"}), "--array-size takes a number from 1, not \"0\"\n");
  EXPECT_EQ(error({"--collect", "--output", "out"}), "--collect: 0 of 1 points are in out/points\n");
  EXPECT_EQ(error({"--slurm"}), "--slurm goes with --output FOLDER, where the tasks keep their points\n");
  EXPECT_EQ(error({"--collect"}), "--collect goes with --output FOLDER, where the tasks keep their points\n");
  write("study.textproto", "scenario_file: \"s.textproto\"\naxis { name: \"heads\" value: \"1\" }\nwhere: \"heads > 1\"\n");
  EXPECT_EQ(error({}), "study study: no point of its grid is left\n");
}

// sbatch gives its reason in several lines, a diagnostic in one.
TEST_F(StudyQuestions, ARefusalOfSlurmIsOneLine) {
  write("sbatch", "#!/bin/sh\necho 'error: no partition' >&2\necho 'error: not submitted' >&2\nexit 1\n");
  std::filesystem::permissions(path("work/sbatch"), std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  setenv("PATH", (std::filesystem::path(path("work/sbatch")).parent_path().string() + ":" + before).c_str(), 1);
  const Ended ended = run({"study", "s.textproto", "--axis", "heads=1,2", "--output", "out", "--slurm"});
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err, "--slurm: error: no partition; error: not submitted\n");
}

// A task's script has the command line in a comment, whatever its arguments are.
TEST_F(StudyQuestions, ACommandLineOfSeveralLinesIsNoScript) {
  write("sbatch", "#!/bin/sh\necho 7\n");
  std::filesystem::permissions(path("work/sbatch"), std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  setenv("PATH", (std::filesystem::path(path("work/sbatch")).parent_path().string() + ":" + before).c_str(), 1);
  const Ended ended =
      run({"study", "s.textproto", "--axis", "heads=1,2", "--output", "out", "--slurm", "--sbatch", "--qos=a\ntouch b"});
  setenv("PATH", before.c_str(), 1);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  size_t scripts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("work/out/slurm"))) {
    if (entry.path().extension() != ".sh") continue;
    ++scripts;
    const auto lines = lines_of(read("out/slurm/" + entry.path().filename().string()));
    ASSERT_EQ(lines.size(), 3);
    EXPECT_THAT(lines[1], StartsWith("# A task of: "));
    EXPECT_THAT(lines[2], StartsWith("exec "));
  }
  EXPECT_EQ(scripts, 1);
}

// A point at which a condition is none would be left out unseen.
TEST_F(StudyQuestions, RefusesAConditionThatIsNoneAtSomePoint) {
  EXPECT_EQ(refused({"study", "s.textproto", "--axis", "heads=1,2,abc", "--where", "heads < 8"}),
            "--where \"heads < 8\": \"heads < 8\", character 1: expected a number at heads=abc\n");
  write("study.textproto",
        "scenario_file: \"s.textproto\"\n"
        "axis { name: \"heads\" value: \"1\" value: \"2\" along { name: \"seed\" value: \"0\" value: \"none\" } }\n"
        "where: \"heads > 1 or seed == 0\"\n");
  EXPECT_EQ(refused({"study", "study.textproto"}),
            "study.textproto:3:1: \"heads > 1 or seed == 0\", character 14: expected a number at heads=2\n");
}

}  // namespace
}  // namespace warpfold::cli
