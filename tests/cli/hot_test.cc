// warpfold hot: instructions, their costs, and the waits of warps at them.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "configs/result.pb.h"
#include "program.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Row = std::map<std::string, std::string>;

// The text of an instruction is the last column, and the only one that may be quoted.
std::vector<Row> rows_of(const std::string& csv) {
  const auto fields = [](const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    return cells;
  };
  std::istringstream in(csv);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> columns = fields(line.substr(0, line.find_last_not_of("\r\n") + 1));
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = fields(line);
    Row& row = rows.emplace_back();
    for (size_t c = 0; c < columns.size(); ++c) row[columns[c]] = cells.at(c);
  }
  return rows;
}

class Hot : public Program {
 protected:
  Hot() { write("s.textproto", small_scenario()); }
  std::string hot(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"hot", "s.textproto"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run(arguments);
    if (ended.exit_code != 0) throw std::runtime_error(ended.err);
    return ended.out;
  }
};

TEST_F(Hot, InstructionsSumToTheirKernel) {
  const auto result = message<configs::Result>({"simulate", "s.textproto"});
  const std::vector<Row> rows = rows_of(hot({"--listing", "--format", "csv"}));
  for (const configs::KernelResult& kernel : result.kernels()) {
    uint64_t issued = 0;
    uint64_t warp_cycles = 0;
    double percent = 0;
    std::map<std::string, uint64_t> states;
    for (const Row& row : rows) {
      if (row.at("kernel") != kernel.name()) continue;
      EXPECT_EQ(row.at("issued"), row.at("selected"));
      issued += std::stoull(row.at("issued"));
      warp_cycles += std::stoull(row.at("warp_cycles"));
      percent += std::stod(row.at("percent_of_role"));
      for (const configs::StateCycles& state : kernel.states()) states[state.state()] += std::stoull(row.at(state.state()));
    }
    EXPECT_EQ(issued, kernel.instructions_issued());
    EXPECT_EQ(warp_cycles, kernel.resident_warp_cycles());
    EXPECT_NEAR(percent, 100, 0.1) << "one role";
    for (const configs::StateCycles& state : kernel.states())
      EXPECT_EQ(states[state.state()], state.warp_cycles()) << state.state();
  }
}

TEST_F(Hot, TheHottestComeFirst) {
  const std::vector<Row> rows = rows_of(hot({"--top", "7", "--kernel", "rng", "--format", "csv"}));
  ASSERT_EQ(rows.size(), 7);
  for (size_t r = 1; r < rows.size(); ++r)
    EXPECT_GE(std::stoull(rows[r - 1].at("warp_cycles")), std::stoull(rows[r].at("warp_cycles")));
  const std::vector<Row> all = rows_of(hot({"--listing", "--kernel", "rng", "--format", "csv"}));
  uint64_t most = 0;
  for (size_t r = 0; r < all.size(); ++r) {
    EXPECT_EQ(all[r].at("position"), std::to_string(r));
    most = std::max<uint64_t>(most, std::stoull(all[r].at("warp_cycles")));
  }
  EXPECT_EQ(std::stoull(rows.front().at("warp_cycles")), most);
}

TEST_F(Hot, ShowsLoopsAndReasons) {
  const std::string listing = hot({"--listing", "--kernel", "rng"});
  EXPECT_THAT(listing, AllOf(HasSubstr("loop passes {"), HasSubstr("| "), HasSubstr("EXIT"), HasSubstr("wait"),
                             Not(HasSubstr("first, role"))));
  EXPECT_THAT(hot({"--top", "3"}), AllOf(HasSubstr("first, role"), HasSubstr("rng, role"), Not(HasSubstr("loop passes {"))));
}

TEST_F(Hot, MistakesAreTheUsers) {
  const auto error = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"hot", "s.textproto"});
    const Ended ended = run(more);
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  };
  EXPECT_THAT(error({"--kernel", "rgn"}), AllOf(HasSubstr("no kernel \"rgn\""), HasSubstr("rng")));
  EXPECT_THAT(error({"--role", "nobody"}), HasSubstr("no role \"nobody\""));
  EXPECT_THAT(error({"--top", "none"}), HasSubstr("--top takes a number"));
  EXPECT_THAT(error({"--top", "0"}), HasSubstr("--top takes a number"));
}

}  // namespace
}  // namespace warpfold::cli
