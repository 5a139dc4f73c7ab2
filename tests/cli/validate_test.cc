#include <gmock/gmock.h>

#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;

class Validate : public Program {
 protected:
  Ended draw(const std::string& cells) const {
    write("rows.csv", "id,category,gpu,dtype,M,N,K,value,unit\n" + cells + "\n");
    return run({"validate", "rows.csv", "--gpus", WARPFOLD_SOURCE_DIR "/configs/gpus", "--plot", "rows.svg"});
  }
};

// One point spans no axis: gnuplot would warn, on the terminal.
TEST_F(Validate, DrawsOneRowInSilence) {
  const Ended one = draw("a,GEMM,H100,bf16,512,512,512,10,us");
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(one.err, "");
  EXPECT_THAT(read("rows.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(read("rows.gp"), HasSubstr(":20.00]\nset yrange ["));
}

TEST_F(Validate, SaysThatThereIsNothingToDraw) {
  const Ended none = draw("a,GEMM,GTX 1080,bf16,512,512,512,10,us");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err, "--plot rows.svg: no row has a simulated time to draw\n");
  EXPECT_THAT(none.out, HasSubstr("no GPU file for GTX 1080: a"));
  EXPECT_THAT(files(), testing::ElementsAre("rows.csv"));
}

TEST_F(Validate, OfNoRowIsRefused) {
  write("rows.csv", "id,category,gpu,time_ms\na,GEMM,GTX 1080,1\n");
  const Ended none = run({"validate", "rows.csv", "--gpu", "H100"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err, "no row matches --gpu and --kernel\n");
}

}  // namespace
}  // namespace warpfold::cli
