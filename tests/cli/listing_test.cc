// Kernels that a scenario imports from listings, from the command line: every command takes them, and mistakes are located.

#include <gmock/gmock.h>

#include <regex>

#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string kKernels = WARPFOLD_SOURCE_DIR "/configs/kernels/";
const std::string kScenario = WARPFOLD_SOURCE_DIR "/configs/scenarios/row_sums_philox.textproto";
const std::string kGpu = WARPFOLD_SOURCE_DIR "/configs/gpus/a100_sxm.textproto";
const std::string kSmall = "kernel.sums.listing.description.parameter.rows.value=1728";

class Listing : public Program {};

TEST_F(Listing, GivesTheKernelThatImportWrites) {
  const Ended imported = run({"import", kKernels + "elementwise_sm_80.sass", "--launch", kKernels + "row_sums.textproto", "--set",
                              "parameter.rows.value=1728", "--gpu", kGpu, "--output", "sums.wft"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const std::string gpu = "gpu_file: \"" + kGpu + "\"\nname: \"s\"\n";
  write("trace.textproto", gpu + "kernel { name: \"sums\" trace { path: \"sums.wft\" } }\n");
  write("listing.textproto", gpu + "kernel { name: \"sums\" listing { path: \"" + kKernels + "elementwise_sm_80.sass\" launch: \"" +
                                 kKernels + "row_sums.textproto\" } }\n");
  const Ended trace = run({"hot", "trace.textproto", "--format", "csv"});
  const Ended listing = run({"hot", "listing.textproto", "--set", kSmall, "--format", "csv"});
  ASSERT_EQ(listing.exit_code, 0) << listing.err;
  // But for the listing's lines, which a trace file does not keep.
  EXPECT_THAT(listing.out, HasSubstr("configs/kernels/elementwise_sm_80.sass:"));
  EXPECT_EQ(trace.out, std::regex_replace(listing.out, std::regex(",[^,\"]*elementwise_sm_80.sass:[0-9]+,"), ",,"));
}

TEST_F(Listing, ResultsRepeatWhatIsAssumed) {
  write("k.sass", ".text.k:\nMOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64] ;\nLDS R5, [R4] ;\nEXIT ;\n");
  write("k.launch",
        "architecture: \"sm_80\" grid { x: 108 } block { x: 32 } shared_memory_bytes: 4096 array { name: \"x\" bytes: 4 } "
        "parameter { array: \"x\" }\n");
  const std::string gpu = "gpu_file: \"" + kGpu + "\"\n";
  write("listing.textproto", gpu + "kernel { name: \"k\" listing { path: \"k.sass\" launch: \"k.launch\" } }\n");
  EXPECT_THAT(run({"simulate", "listing.textproto"}).out, HasSubstr("assumed of k: line 5, LDS at an unknown address: 32 lanes"));
  for (const std::string file : {"k.wft", "k.wfs"}) {
    ASSERT_EQ(run({"import", "k.sass", "--launch", "k.launch", "--output", file}).exit_code, 0);
    write("trace.textproto", gpu + "kernel { name: \"k\" trace { path: \"" + file + "\" } }\n");
    EXPECT_THAT(run({"simulate", "trace.textproto"}).out, HasSubstr("assumed of k: line 5, LDS at an unknown address"));
  }
}

TEST_F(Listing, HotNamesLinesOfTheListingAndOfTheSource) {
  write("lines.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR "/configs/gpus/a100_sxm.textproto\"\n" +
                               ("kernel { name: \"sums\" listing { path: \"" + kKernels) +
                               "elementwise_lines_sm_80.sass\" launch: \"" + kKernels + "row_sums.textproto\" } }\n");
  const Ended table = run({"hot", "lines.textproto", "--set", kSmall, "--listing"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, ContainsRegex("waits for +line +source +instruction"));
  EXPECT_THAT(table.out, ContainsRegex("elementwise_lines_sm_80.sass:[0-9]+ +elementwise.cu:19 .*LDG"));
  EXPECT_THAT(table.out, ContainsRegex("sm_30_intrinsics.hpp:449 in elementwise.cu:21 .*SHFL"));
  const Ended csv = run({"hot", "lines.textproto", "--set", kSmall, "--listing", "--format", "csv"});
  EXPECT_THAT(csv.out, HasSubstr(",line,source,inlined_at,text"));
  EXPECT_THAT(csv.out, HasSubstr(",sm_30_intrinsics.hpp:449,elementwise.cu:21,"));
  EXPECT_THAT(run({"hot", kScenario, "--set", kSmall, "--kernel", "rng"}).out, Not(ContainsRegex("line  ")));
}

TEST_F(Listing, MeetsTheCachesOfTheGpuThatImportNames) {
  const std::vector<std::string> import{"import", kKernels + "elementwise_sm_80.sass", "--launch", kKernels + "row_sums.textproto"};
  const auto with = [&](const std::string& gpu) {
    std::vector<std::string> command = import;
    command.insert(command.end(), {"--gpu", gpu});
    return run(command);
  };
  EXPECT_THAT(run(import).out, Not(HasSubstr("reuse")));
  EXPECT_THAT(with(kGpu).out, HasSubstr("reuse in L2 followed for one line in 11, on 108 of 108 SMs, in 2 of 2 waves of CTAs\n"));
  EXPECT_EQ(with("none.textproto").exit_code, 2);
  EXPECT_THAT(with("none.textproto").err, HasSubstr("none.textproto"));
}

TEST_F(Listing, IsTakenByEveryCommand) {
  const std::vector<std::vector<std::string>> commands{{"check", kScenario},
                                                       {"simulate", kScenario},
                                                       {"compare", kScenario, "--policies", "sequential,concurrent,sliced"},
                                                       {"roofline", kScenario},
                                                       {"model", kScenario},
                                                       {"hot", kScenario, "--top", "2"},
                                                       {"whatif", kScenario, "--resources", "alu"}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--set", kSmall});
    const Ended ended = run(command);
    EXPECT_EQ(ended.exit_code, 0) << command.front() << ": " << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("sums")) << command.front();
  }
}

TEST_F(Listing, HasMistakesLocated) {
  const auto message = [&](const std::string& setting) { return run({"simulate", kScenario, "--set", setting}).err; };
  EXPECT_THAT(message("kernel.sums.listing.description.grid.x=0"), HasSubstr("--set kernel.sums.listing.description.grid.x=0: "));
  EXPECT_THAT(message("kernel.sums.listing.path=none.sass"), HasSubstr("--set kernel.sums.listing.path=none.sass: "));
  write("k.sass", "\t.target\tsm_80\n.text.k:\n  LDC R0, c[0x0][0x160]\n  EXIT ;\n");
  write("k.textproto", "grid { x: 1 }\nblock { x: 32 }\nparameter { array: \"none\" }\n");
  write("s.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                       "/configs/gpus/a100_sxm.textproto\"\n"
                       "kernel { name: \"k\" listing { path: \"k.sass\" launch: \"k.textproto\" } }\n");
  EXPECT_THAT(run({"simulate", "s.textproto"}).err, HasSubstr("k.sass:3"));
  write("k.sass", "\t.target\tsm_80\n.text.k:\n  EXIT ;\n");
  EXPECT_THAT(run({"simulate", "s.textproto"}).err, HasSubstr("k.textproto:3:13: "));
}

}  // namespace
}  // namespace warpfold::cli
