// warpfold cycles: the states of each warp of a sub-core, cycle by cycle.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "configs/result.pb.h"
#include "program.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class Cycles : public Program {
 protected:
  Cycles() { write("s.textproto", small_scenario()); }
  Ended cycles(std::vector<std::string> more) const {
    more.insert(more.begin(), {"cycles", "s.textproto"});
    return run(more);
  }
};

TEST_F(Cycles, ShowsARowForEachWarpAndTheInstructionsIssued) {
  const Ended shown = cycles({"--count", "60"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("policy CONCURRENT\nCycles "), HasSubstr("A letter a cycle: I issues"),
                               ContainsRegex("(first|rng) +[0-9]+ +[a-z]+ +[0-9]+ +[A-Za-z.:]+ *\n"), HasSubstr("\nIssued\n"),
                               HasSubstr("IMAD.WIDE.U32")));
}

// Spans of a warp tile the window: each begins where the one before ends.
TEST_F(Cycles, SpansOfAWarpTileTheWindow) {
  const Ended csv = cycles({"--from", "600", "--count", "200", "--format", "csv"});
  ASSERT_EQ(csv.exit_code, 0) << csv.err;
  std::istringstream in(csv.out);
  std::string line;
  std::getline(in, line);
  EXPECT_THAT(line, HasSubstr("from,until,state,sub_core,kernel,cta_slot,role,warp,instruction"));
  std::map<std::string, int> end;
  int issues = 0;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::vector<std::string> cells(9);
    for (std::string& cell : cells) std::getline(fields, cell, ',');
    std::string warp = cells[4];
    for (const size_t c : {5, 6, 7}) warp.append(" ").append(cells[c]);
    const int from = std::stoi(cells[0]);
    if (end.contains(warp)) {
      EXPECT_EQ(from, end[warp]) << line;
    }
    end[warp] = std::stoi(cells[1]);
    EXPECT_GE(from, 600);
    EXPECT_LE(end[warp], 800);
    issues += cells[2] == "selected" ? 1 : 0;
  }
  EXPECT_GE(end.size(), 3U);
  EXPECT_GT(issues, 60);
  EXPECT_LE(issues, 200);
}

TEST_F(Cycles, AWindowBeyondTheRunIsRefused) {
  const auto total = message<configs::Result>({"simulate", "s.textproto"}).total_cycles();
  EXPECT_THAT(refused({"cycles", "s.textproto", "--from", "4000000"}),
              HasSubstr("--from 4000000: the run ends after " + std::to_string(total) + " cycles"));
}

TEST_F(Cycles, SubCoresAndClassesThatTheMachineLacksAreRefused) {
  EXPECT_THAT(refused({"cycles", "s.textproto", "--sub-core", "4"}), HasSubstr("--sub-core"));
  EXPECT_THAT(refused({"cycles", "s.textproto", "--sm-class", "131"}),
              ContainsRegex("--sm-class 131: the run has [0-9]+ classes of SMs"));
  EXPECT_THAT(refused({"cycles", "s.textproto", "--count", "0"}), HasSubstr("--count"));
}

}  // namespace
}  // namespace warpfold::cli
