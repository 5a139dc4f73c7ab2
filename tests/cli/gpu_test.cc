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

// Two GPUs with a mistake, one without, and files of other kinds.
TEST_F(GpuCommand, ListsTheGpusOfAFolderWithOtherFiles) {
  std::filesystem::create_directory(path("work/machines"));
  write("machines/good.textproto", "base: \"h100_sxm\"\nname: \"good\"\n");
  write("machines/negative.textproto", "base: \"h100_sxm\"\nsm_count: -1\n");
  write("machines/small.textproto", "base: \"h100_sxm\"\nname: \"small\"\nsm_count: 0\n");
  write("machines/scenario.textproto", small_scenario());
  write("machines/notes.md", "GPUs to come\n");
  const Ended ended = run({"gpu", "list", "machines", "--format", "csv"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.out, testing::StartsWith("file,name,arch,"));
  EXPECT_EQ(std::ranges::count(ended.out, '\n'), 2);
  EXPECT_THAT(ended.out, HasSubstr("\ngood,good,sm_90,"));
  EXPECT_THAT(ended.err, testing::StartsWith("gpu list: skipped 2 files that are no GPU files\nmachines/negative.textproto:2:"));
  EXPECT_THAT(ended.err, HasSubstr("\nmachines/small.textproto:3:1: sm_count must be from 1 to 4096, not 0\n"));
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

// m64n128 at full rate: 16 wavefronts of A and 32 of B in 64 cycles, 96 B a cycle.
TEST_F(GpuCommand, NamesTheTilesThatAFasterTensorCoreStarves) {
  const Ended faster =
      run({"gpu", "new", "faster", "--base", "h100_sxm", "--set", "sm.tensor.scale=1.5", "-o", "faster.textproto"});
  EXPECT_EQ(faster.exit_code, 0);
  EXPECT_THAT(faster.out, HasSubstr("faster.textproto: m64n128 needs 144 B of operands a cycle, shared memory gives 128\n"));
  EXPECT_THAT(faster.out, testing::Not(HasSubstr("m64n256")));
  EXPECT_THAT(faster.out, testing::Not(HasSubstr("m64n32")));  // starved in the base as well
  const Ended fed = run({"gpu", "new", "fed", "--base", "h100_sxm", "--set", "sm.tensor.scale=1.5", "--set",
                         "sm.shared_memory.scale=1.5", "-o", "fed.textproto"});
  EXPECT_THAT(fed.out, testing::Not(HasSubstr("operands")));
}

TEST_F(GpuCommand, StatesWhatANewMachineRestsOn) {
  const auto said = [this](std::vector<std::string> settings) {
    std::vector<std::string> arguments{"gpu", "new", "n", "--base", "h100_sxm", "-o", "n.textproto"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.out;
  };
  EXPECT_EQ(said({"sm_count=120"}), "");
  EXPECT_EQ(said({"dram.bandwidth_gb_per_s=4000", "data_sheet.memory_gb_per_s=4000"}),
            "n.textproto: dram.bandwidth_gb_per_s 4000 is that of the pins; reads alone achieve the base's 95 % of it, 3800 GB/s "
            "(dram.efficiency_percent)\n");
  EXPECT_EQ(
      said({"dram.bandwidth_gb_per_s=4000", "dram.efficiency_percent=90"}),
      "n.textproto: dram.bandwidth_gb_per_s is 4000 and data_sheet.memory_gb_per_s 3350: the first is simulated, and a result "
      "above the second carries a warning\n");
  EXPECT_EQ(said({"clock_mhz=1980"}),
            "n.textproto: clock_mhz 1980 is not below data_sheet.tensor_clock_mhz, 1830: is it the boost clock? The clock that "
            "tensor-heavy kernels sustain is 1600 of 1830 on the base\n");
  EXPECT_EQ(said({"clock_mhz=1700"}), "");
  EXPECT_EQ(said({"data_sheet.tensor_clock_mhz=2000"}),
            "n.textproto: clock_mhz stays at the base's 1600; the clock of the data sheet is not simulated\n");
  // FFMA holds the pipe for 2 cycles: at 1.5 times the rate for 1.333, which is 2 again.
  const std::string rates = said({"sub_core.fma_heavy.scale=1.5"});
  EXPECT_THAT(rates, testing::StartsWith("n.textproto: sub_core.fma_heavy.scale 1.5: cycles of an instruction are rounded up: "));
  EXPECT_THAT(rates, HasSubstr(" 1.333 to 2"));
  EXPECT_EQ(said({"sub_core.fma_heavy.scale=2"}).find("1.333"), std::string::npos);
}

// The copy is bound by DRAM, the random numbers by the SM.
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
