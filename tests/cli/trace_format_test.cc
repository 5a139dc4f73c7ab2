// warpfold trace format: prints, writes in place, checks.

#include <gmock/gmock.h>

#include "program.h"

namespace warpfold::cli {
namespace {

const std::string kTidy =
    "kernel k architecture=sm_90\n  class all\n  grid all*1\n  role r warps=1\n    # The end.\n    EXIT ;\n  end\nend\n";

class TraceFormat : public Program {
 protected:
  TraceFormat() {
    write("tidy.wfs", kTidy);
    write("untidy.wfs", "kernel k architecture=sm_90\nclass all\ngrid all *1\nrole r warps=1\n# The end.\nEXIT\nend\nend\n");
  }
};

TEST_F(TraceFormat, PrintsTheLayout) {
  const Ended ended = run({"trace", "format", "untidy.wfs"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, kTidy);
}

TEST_F(TraceFormat, WritesFilesInPlace) {
  const Ended ended = run({"trace", "format", "-i", "untidy.wfs", "tidy.wfs"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(read("untidy.wfs"), kTidy);
}

TEST_F(TraceFormat, ChecksAndWritesNothing) {
  EXPECT_EQ(run({"trace", "format", "--check", "tidy.wfs"}).exit_code, 0);
  const Ended ended = run({"trace", "format", "--check", "untidy.wfs", "tidy.wfs"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err, "not formatted: untidy.wfs\n");
  EXPECT_NE(read("untidy.wfs"), kTidy);
  EXPECT_EQ(run({"trace", "format", "--check", "-i", "tidy.wfs"}).exit_code, 2);
}

}  // namespace
}  // namespace warpfold::cli
