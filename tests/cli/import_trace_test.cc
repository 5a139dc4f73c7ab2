// Traces of other tools from the command line: imported, exported, sliced, compared.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ForeignTraces : public Program {
 protected:
  void SetUp() override {
    write("s.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                         "/configs/gpus/a100_sxm.textproto\"\n"
                         "kernel { name: \"rng\" philox { heads: 1 queries: 64 keys: 256 rounds: 7 threshold_bits: 8 } }\n");
  }
  const std::string gpu_ = WARPFOLD_SOURCE_DIR "/configs/gpus/a100_sxm.textproto";
};

TEST_F(ForeignTraces, GoOutAndComeInAgain) {
  ASSERT_EQ(run({"trace", "export", "s.textproto", "--output", "out"}).exit_code, 0);
  EXPECT_EQ(read("out/kernelslist.g"), "kernel-1.traceg\n");
  const Ended imported = run({"import-trace", "out/kernelslist.g", "--gpu", gpu_, "--output", "in"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(imported.err, "");  // progress is for terminals
  EXPECT_THAT(imported.out, AllOf(HasSubstr("kernel-1.traceg: "), HasSubstr("MB/s"), HasSubstr("rolled into")));
  const Ended simulated = run({"simulate", "in/scenario.textproto"});
  EXPECT_EQ(simulated.exit_code, 0) << simulated.err;
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  EXPECT_EQ(run({"trace", "diff", "k.wft", "in/kernel-1.wft"}).out, "");
  EXPECT_THAT(run({"trace", "diff", "k.wft", "in/kernel-1.wft", "--all"}).out, HasSubstr("STG.E"));
}

TEST_F(ForeignTraces, MemcpyLinesStayAndCompressedFilesAreFound) {
  ASSERT_EQ(run({"trace", "export", "s.textproto", "--output", "out"}).exit_code, 0);
  write("out/kernelslist.g", "MemcpyHtoD,0x00007f3354c00000,800000\nkernel-1.traceg\nkernel-2.traceg\n");
  const Ended missing = run({"import-trace", "out/kernelslist.g", "--gpu", gpu_, "--output", "in"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.err, "out/kernelslist.g:3:1: out/kernel-2.traceg does not exist, nor compressed as .xz, .gz or .zst\n");
  write("out/kernelslist.g", "MemcpyHtoD,0x00007f3354c00000,800000\nkernel-1.traceg\n");
  ASSERT_EQ(run({"import-trace", "out/kernelslist.g", "--gpu", gpu_, "--output", "in"}).exit_code, 0);
  EXPECT_THAT(read("in/scenario.textproto"), HasSubstr("# MemcpyHtoD,0x00007f3354c00000,800000\n"));
}

TEST_F(ForeignTraces, ScenariosNameTheGpuAsTheOptionDoes) {
  ASSERT_EQ(run({"trace", "export", "s.textproto", "--output", "out"}).exit_code, 0);
  ASSERT_EQ(run({"import-trace", "out/kernelslist.g", "--output", "in"}).exit_code, 0);
  EXPECT_THAT(read("in/scenario.textproto"), HasSubstr("gpu_file: \"a100_sxm\"\n"));
  const Ended simulated = run({"simulate", "in/scenario.textproto"});
  EXPECT_EQ(simulated.exit_code, 0) << simulated.err;
}

TEST_F(ForeignTraces, ThatAreBrokenHaveOneLineAndExitWithTwo) {
  write("t.traceg", "-kernel name = k\n-nregs = 21955\n-binary version = 80\n#BEGIN_TB\n");
  const Ended broken = run({"import-trace", "t.traceg", "--gpu", gpu_, "--output", "k.wft"});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, AllOf(testing::StartsWith("t.traceg:2:1: nregs = 21955"), testing::EndsWith("\n")));
  EXPECT_EQ(run({"import-trace", "t.traceg", "--gpu", gpu_, "--output", "k.json"}).err,
            "--output k.json: a trace's name ends in .wft or .wfs\n");
  EXPECT_EQ(run({"import-trace", "t.traceg"}).err, "--output is missing; see --help\n");
}

TEST_F(ForeignTraces, PartsOfKernels) {
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  EXPECT_THAT(run({"trace", "stats", "k.wft", "--by", "loop"}).out, AllOf(HasSubstr("all"), HasSubstr("rolled")));
  EXPECT_THAT(run({"trace", "stats", "k.wft", "--by", "stream", "--format", "csv"}).out, HasSubstr("rng,mask,write,"));
  ASSERT_EQ(run({"trace", "slice", "k.wft", "--role", "rng", "--loop", "1", "--ctas", "0", "--output", "part.wfs"}).exit_code, 0);
  EXPECT_THAT(read("part.wfs"), AllOf(HasSubstr("*1\n"), Not(HasSubstr("S2R"))));
  EXPECT_EQ(run({"trace", "slice", "k.wft", "--role", "rgn", "--output", "p.wfs"}).err,
            "k.wft: no role called \"rgn\"; did you mean \"rng\"?\n");
  EXPECT_THAT(run({"trace", "slice", "k.wft", "--role", "rng", "--loop", "3", "--output", "p.wfs"}).err,
              HasSubstr("has no loop 3"));
  EXPECT_THAT(run({"trace", "slice", "k.wft", "--ctas", "9-3", "--output", "p.wfs"}).err,
              HasSubstr("expected a number or a range"));
  EXPECT_THAT(run({"trace", "slice", "k.wft", "--ctas", "0-999999", "--output", "p.wfs"}).err, HasSubstr("counted from 0"));
}

}  // namespace
}  // namespace warpfold::cli
