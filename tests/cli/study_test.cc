#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include "program.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Study : public Program {
 protected:
  Study() {
    write("s.textproto", small_scenario());
    write("study.textproto",
          "scenario_file: \"s.textproto\"\n"
          "axis { name: \"heads\" value: \"2\" value: \"4\" }\n"
          "axis { name: \"kernel.rng.philox.rounds\" value: \"5\" value: \"7\" label: \"rounds\" }\n"
          "policy: SEQUENTIAL\npolicy: CONCURRENT\n"
          "figure { name: \"map\" title: \"Don't wait\" kind: MAP x: \"heads\" y: \"kernel.rng.philox.rounds\"\n"
          "  quantity { label: \"speed-up\" speedup { of: CONCURRENT over: SEQUENTIAL } } }\n"
          "figure { name: \"times\" x: \"heads\" fixed { axis: \"kernel.rng.philox.rounds\" value: \"7\" }\n"
          "  quantity { label: \"alone\" kernel_alone { kernel: \"rng\" policy: CONCURRENT } }\n"
          "  quantity { label: \"together\" kernel_time { kernel: \"rng\" policy: CONCURRENT } }\n"
          "  quantity { label: \"slowdown\" kernel_slowdown { kernel: \"rng\" policy: CONCURRENT } } }\n");
  }
  static std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> found;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) found.push_back(cell);
    return found;
  }
  // Returns the lines of the files of finished points, one point a line, sorted.
  std::vector<std::string> points() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path("work/out/points"))) {
      if (entry.path().extension() != ".points") continue;
      for (std::string& line : lines("out/points/" + entry.path().filename().string())) found.push_back(std::move(line));
    }
    std::ranges::sort(found);
    return found;
  }
  // The only file of finished points.
  std::string points_file() const {
    for (const auto& entry : std::filesystem::directory_iterator(path("work/out/points"))) {
      if (entry.path().extension() == ".points") return "out/points/" + entry.path().filename().string();
    }
    return {};
  }
  std::vector<std::string> lines(const std::string& file) const {
    std::vector<std::string> found;
    std::istringstream text(read(file));
    for (std::string line; std::getline(text, line);) found.push_back(line);
    return found;
  }
};

TEST_F(Study, WritesATableAndAPictureForEachFigure) {
  const Ended ended = run({"study", "study.textproto", "--output", "out"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, HasSubstr("out/map.svg"));
  const auto map = lines("out/map.csv");
  ASSERT_EQ(map.size(), 5);
  EXPECT_EQ(map[0], "heads,kernel.rng.philox.rounds,estimator,speed-up");
  EXPECT_THAT(map[1], StartsWith("2,5,simulation,"));
  EXPECT_THAT(map[4], StartsWith("4,7,simulation,"));
  EXPECT_THAT(read("out/map.svg"), HasSubstr("Don't wait"));
  const auto times = lines("out/times.csv");
  ASSERT_EQ(times.size(), 3);
  const auto row = cells(times[2]);
  EXPECT_NEAR(std::stod(row[4]) / std::stod(row[3]), std::stod(row[5]), 1e-3);  // slowdown: time over time alone
}

// Without a folder, the same points as a table.
TEST_F(Study, PrintsItsPointsAndKeepsNoFolderUnlessAskedTo) {
  const std::string csv = run({"study", "study.textproto", "--output", "out", "--format", "csv"}).out;
  std::filesystem::remove_all(path("work/out"));
  const auto files = [this] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path("work"))) names.insert(entry.path().filename().string());
    return names;
  };
  const auto before = files();
  const Ended ended = run({"study", "study.textproto"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto words = [](const std::string& line) {
    std::istringstream text(line);
    return std::vector<std::string>(std::istream_iterator<std::string>(text), {});
  };
  std::istringstream table(ended.out);
  std::istringstream rows(csv);
  size_t compared = 0;
  for (std::string line, row; std::getline(table, line) && std::getline(rows, row) && !line.empty(); ++compared) {
    const auto first = words(line);
    const auto expected = cells(row);
    ASSERT_GE(first.size(), 4U) << line;
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(first[i], expected[i]) << line;
  }
  EXPECT_GT(compared, 4U);
  EXPECT_EQ(run({"study", "study.textproto", "--format", "csv"}).out, csv);
  EXPECT_EQ(files(), before);
}

TEST_F(Study, SaysWhatTheScenarioSays) {
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out"}).exit_code, 0);
  const std::string heads = "heads=4";
  ASSERT_EQ(run({"compare", "s.textproto", "--set", heads, "--output", "c.csv", "--policies", "sequential,concurrent"}).exit_code,
            0);
  constexpr size_t kTotalTime = 4;
  const auto compared = lines("c.csv");
  const double sequential = std::stod(cells(compared[1])[kTotalTime]);
  const double concurrent = std::stod(cells(compared[3])[kTotalTime]);
  EXPECT_NEAR(std::stod(cells(lines("out/map.csv")[4]).back()), sequential / concurrent, 1e-4);
}

TEST_F(Study, KeepsWhatIsFinishedAndRedoesWhatHasChanged) {
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out"}).exit_code, 0);
  const std::vector<std::string> first = points();
  const std::string table = read("out/map.csv");
  ASSERT_EQ(first.size(), 4);
  // Nothing is simulated again, and nothing is left of the work but the points.
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out"}).exit_code, 0);
  EXPECT_EQ(points(), first);
  EXPECT_FALSE(std::filesystem::exists(path("work/out/points/claims")));
  // A run that replays everything has other points, and so has another GPU.
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out", "--fold", "off"}).exit_code, 0);
  EXPECT_EQ(points().size(), 8);
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out", "--set", "gpu.clock_mhz=1000"}).exit_code, 0);
  EXPECT_EQ(points().size(), 12);
  // The points of the first run still count.
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out"}).exit_code, 0);
  EXPECT_EQ(points().size(), 12);
  EXPECT_EQ(read("out/map.csv"), table);
}

// As a killed process, or a full disk, leaves it.
TEST_F(Study, MakesAnewWhatWasHalfWritten) {
  ASSERT_EQ(run({"study", "study.textproto", "--output", "out", "--jobs", "1"}).exit_code, 0);
  const std::string table = read("out/map.csv");
  const std::string file = points_file();
  const std::string text = read(file);
  const size_t second = text.find('\n') + 1;
  const std::string without_end = text.substr(0, text.size() - 1);
  const std::string changed = text.substr(0, second + 40) + "?" + text.substr(second + 41);
  for (const std::string& damaged :
       {text.substr(0, second), text.substr(0, second + 100), without_end, changed, std::string("?\n")}) {
    write(file, damaged);
    ASSERT_EQ(run({"study", "study.textproto", "--output", "out"}).exit_code, 0);
    EXPECT_EQ(read("out/map.csv"), table);
    EXPECT_EQ(read(file), damaged);  // a process never changes another process's file
    for (const auto& entry : std::filesystem::directory_iterator(path("work/out/points"))) {
      if (entry.path() != path("work/" + file)) std::filesystem::remove_all(entry.path());
    }
  }
}

TEST_F(Study, WithABadPointSimulatesNothing) {
  const Ended ended = run({"study", "study.textproto", "--output", "out", "--set", "kernel.rng.philox.threshold_bits=9"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, StartsWith("study.textproto:1:1: study study at heads=2,kernel.rng.philox.rounds=5: --set kernel.rng."));
  EXPECT_THAT(ended.err, HasSubstr("threshold_bits"));
  EXPECT_FALSE(std::filesystem::exists(path("work/out/points")));
  EXPECT_EQ(run({"study", "none.textproto"}).exit_code, 2);
}

// At the value of the grid, at the scenario's name or, in that, at the workload.
TEST_F(Study, NamesThePlaceOfAMistake) {
  const std::string text = read("study.textproto");
  const auto with = [&](const std::string& old, const std::string& now) {
    std::string changed = text;
    write("study.textproto", changed.replace(changed.find(old), old.size(), now));
    return run({"study", "study.textproto", "--output", "out"}).err;
  };
  EXPECT_EQ(
      with("value: \"5\"", "value: \"6\""),
      "study.textproto:3:41: study study at heads=2,kernel.rng.philox.rounds=6: --set kernel.rng.philox.rounds=6: rounds must "
      "be one of 3, 5, 7, 10, not 6\n");
  EXPECT_THAT(
      with("policy: CONCURRENT", "policy: CONCURRENT\npolicy: FUSED"),
      StartsWith("study.textproto:1:1: study study at heads=2,kernel.rng.philox.rounds=5: s.textproto:12:1: policy FUSED: "));
}

TEST_F(Study, OfTheConfigsGoesByItsName) {
  std::filesystem::create_directories(path("work/configs/studies"));
  write("configs/studies/one_pair.textproto", "scenario_file: \"../../s.textproto\"\n");
  EXPECT_THAT(run({"study", "one-pair"}).err, StartsWith("configs/studies/one_pair.textproto"));
  const Ended misspelt = run({"study", "one-piar"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_EQ(misspelt.err, "there is neither a file \"one-piar\" nor a study of that name; did you mean \"one_pair\"?\n");
  EXPECT_EQ(run({"study", "none.textproto"}).err, "cannot read \"none.textproto\": No such file or directory\n");
}

TEST_F(Study, RefusesWhatWouldComeToNothing) {
  const auto error = [this](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"study", "study.textproto", "--output", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  };
  EXPECT_EQ(error({"--set", "heads=3"}), "--set heads=3: the study varies heads itself\n");
  EXPECT_EQ(run({"study", "study.textproto", "--output", ""}).err, "--output: the folder's name is empty\n");
  std::string study = read("study.textproto");
  study.replace(study.find("kernel: \"rng\""), 13, "kernel: \"rgn\"");
  write("study.textproto", study);
  EXPECT_EQ(
      error({}),
      "study.textproto:9:3: study study, figure times: CONCURRENT launches no kernel called \"rgn\"; did you mean \"rng\"?\n");
}

}  // namespace
}  // namespace warpfold::cli
