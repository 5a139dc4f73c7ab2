// The lines of the log, and that no result depends on them.

#include <gmock/gmock.h>

#include <cstdlib>

#include "program.h"
#include "tests/source_dir.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Log : public Program {
 protected:
  Log() {
    unsetenv("WARPFOLD_LOG");
    write("s.textproto", small_scenario());
  }
  ~Log() override { unsetenv("WARPFOLD_LOG"); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
};

TEST_F(Log, IsSilentUnlessAsked) {
  const Ended ended = run({"simulate", "s.textproto"});
  EXPECT_EQ(ended.exit_code, kSuccess);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(run({"simulate", "s.textproto", "--log-level", "off"}).err, "");
}

TEST_F(Log, LeavesResultsAsTheyAre) {
  const Ended silent = run({"simulate", "s.textproto", "--format", "json"});
  for (const std::string level : {"info", "debug"}) {
    const Ended logged = run({"--log-level", level, "simulate", "s.textproto", "--format", "json"});
    EXPECT_EQ(logged.out, silent.out) << level;
    EXPECT_NE(logged.err, "") << level;
    ASSERT_EQ(setenv("WARPFOLD_LOG", level.c_str(), 1), 0);
    const Ended by_variable = run({"simulate", "s.textproto", "--format", "json"});
    EXPECT_EQ(by_variable.out, silent.out) << level;
    EXPECT_NE(by_variable.err, "") << level;
    unsetenv("WARPFOLD_LOG");
  }
}

TEST_F(Log, NamesFilesSimulationsAndTimes) {
  const Ended ended = run({"simulate", "s.textproto", "--log-level=info"});
  EXPECT_THAT(ended.err, AllOf(HasSubstr(" info: read s.textproto, "), HasSubstr("h100_sxm.textproto"), HasSubstr(" cycles; "),
                               HasSubstr(" SMs simulated, "), HasSubstr(" info: simulate: "), Not(HasSubstr(" debug: "))));
}

TEST_F(Log, SaysWhichSimulationsShareTheirRuns) {
  const Ended ended = run({"compare", "s.textproto", "--policies", "sequential,concurrent", "--log-level=info"});
  EXPECT_THAT(ended.err, HasSubstr("policy SEQUENTIAL: 1 of its 2 runs are shared with simulations above"));
}

TEST_F(Log, SaysWhichTileWasTakenAndOfWhich) {
  write("gemm.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                          "/configs/gpus/h100_sxm.textproto\"\n"
                          "kernel { name: \"mm\" hopper_gemm { m: 512 n: 512 k: 512 tile: AUTO library: \"cuBLAS\" } }\n");
  const Ended ended = run({"simulate", "gemm.textproto", "--log-level", "debug"});
  EXPECT_EQ(ended.exit_code, kSuccess);
  EXPECT_THAT(ended.err, AllOf(HasSubstr(" info: mm: "), HasSubstr("taken: "), HasSubstr(" debug: mm: ")));
}

TEST_F(Log, OptionOutranksTheVariable) {
  ASSERT_EQ(setenv("WARPFOLD_LOG", "debug", 1), 0);
  EXPECT_EQ(run({"simulate", "s.textproto", "--log-level", "off"}).err, "");
}

TEST_F(Log, LevelsAreKnown) {
  EXPECT_EQ(refused({"simulate", "s.textproto", "--log-level", "inf"}),
            "--log-level: unknown level \"inf\"; did you mean \"info\"?\n");
  EXPECT_EQ(refused({"list", "--log-level"}), "the required argument for option '--log-level' is missing\n");
  ASSERT_EQ(setenv("WARPFOLD_LOG", "debugg", 1), 0);
  EXPECT_EQ(refused({"list"}), "WARPFOLD_LOG: unknown level \"debugg\"; did you mean \"debug\"?\n");
}

}  // namespace
}  // namespace warpfold::cli
