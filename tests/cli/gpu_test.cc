// warpfold gpu: list, show, diff, new; and every GPU file runs kernels that any GPU has.

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;

const std::string kGpus = std::string(WARPFOLD_SOURCE_DIR) + "/configs/gpus/";

class GpuCommand : public Program {};

std::vector<std::string> gpu_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kGpus)) files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

TEST_F(GpuCommand, ListsEveryFileOfAFolder) {
  const Ended ended = run({"gpu", "list", kGpus});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const std::string& file : gpu_files()) EXPECT_THAT(ended.out, HasSubstr(std::filesystem::path(file).stem().string()));
}

TEST_F(GpuCommand, ShowsAndComparesFieldByField) {
  const Ended shown = run({"gpu", "show", kGpus + "b200.textproto"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("tensor_memory_columns"));
  const Ended compared = run({"gpu", "diff", kGpus + "h100_sxm.textproto", kGpus + "h200_sxm.textproto"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("dram.bandwidth_gb_per_s"));
}

TEST_F(GpuCommand, MakesAMachineThatRuns) {
  const Ended made =
      run({"gpu", "new", "wide", "--base", kGpus + "h100_sxm.textproto", "--set", "sm_count=264", "-o", "wide.textproto"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  write("scenario.textproto",
        "name: \"s\" gpu_file: \"wide.textproto\" kernel { name: \"k\" elementwise { operation: COPY elements: 65536 } }");
  EXPECT_EQ(run({"simulate", "scenario.textproto"}).exit_code, 0);
}

TEST_F(GpuCommand, NamesItsBaseAsItWasGiven) {
  EXPECT_EQ(run({"gpu", "new", "wide", "--base", "h100_sxm", "--set", "sm_count=264", "-o", "wide.textproto"}).exit_code, 0);
  EXPECT_THAT(read("wide.textproto"), HasSubstr("base: \"h100_sxm\""));
  EXPECT_EQ(
      run({"check", "wide.textproto", "h100_sxm", "qkv_philox_small"}).out,
      "wide.textproto: valid GPU wide\nh100_sxm: valid GPU H100 SXM5 80GB\nqkv_philox_small: valid scenario qkv_philox_small on "
      "H100 SXM5 80GB\n");
  EXPECT_EQ(run({"check", "h100_sxn"}).exit_code, 2);
}

TEST_F(GpuCommand, RefusesAMachineThatContradictsItself) {
  const Ended ended = run({"gpu", "new", "wide", "--base", kGpus + "h100_sxm.textproto", "--set",
                           "sm.tensor.wgmma_columns_per_clk=4", "-o", "wide.textproto"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("shared memory gives 128"));
  EXPECT_FALSE(std::filesystem::exists("wide.textproto"));
}

// One is bound by DRAM, the other by the SM.
TEST_F(GpuCommand, EveryGpuCopiesAndDrawsRandomNumbers) {
  for (const std::string& file : gpu_files()) {
    write("scenario.textproto",
          "name: \"s\" gpu_file: \"" + file +
              "\" kernel { name: \"copy\" elementwise { operation: COPY elements: 67108864 element_bytes: 4 } }"
              " kernel { name: \"rng\" philox { heads: 4 queries: 1024 keys: 1024 } } policy { kind: SEQUENTIAL }");
    const Ended ended = run({"simulate", "scenario.textproto", "--format", "json"});
    EXPECT_EQ(ended.exit_code, 0) << file << ": " << ended.err;
  }
}

}  // namespace
}  // namespace warpfold::cli
