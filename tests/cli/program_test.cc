#include "program.h"
#include "tests/source_dir.h"
#include "tools/warpfold/failure.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Invocations : public Program {
 protected:
  Invocations() { write("s.textproto", small_scenario()); }
  // The one line of a failure with that exit code; anything else comes back with the whole story.
  std::string error(const std::vector<std::string>& arguments, int exit_code = kUserError) const {
    const Ended result = run(arguments);
    const bool one_line = result.err.ends_with('\n') && result.err.find('\n') == result.err.size() - 1;
    if (result.exit_code != exit_code || !result.out.empty() || !one_line) {
      return "exit code " + std::to_string(result.exit_code) + ", out: " + result.out + ", err: " + result.err;
    }
    return result.err.substr(0, result.err.size() - 1);
  }
};

TEST_F(Invocations, ForHelpSucceed) {
  EXPECT_THAT(run({"--help"}).out, AllOf(StartsWith("Usage: warpfold COMMAND"), HasSubstr("simulate"), HasSubstr("Examples:")));
  for (const std::string command : {"simulate", "compare", "whatif", "model", "roofline", "check"}) {
    for (const auto& arguments : {std::vector<std::string>{command, "--help"}, {command, "-h"}, {"help", command}}) {
      const Ended result = run(arguments);
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_THAT(result.out, AllOf(StartsWith("Usage: warpfold " + command), HasSubstr("Examples:")));
    }
  }
  EXPECT_THAT(run({"trace", "--help"}).out, HasSubstr("dump|stats|check|write|format|slice|diff|export"));
  for (const std::string action : {"dump", "stats", "check", "write", "format", "slice", "diff", "export"}) {
    EXPECT_THAT(run({"trace", action, "--help"}).out, AllOf(StartsWith("Usage: warpfold trace " + action), HasSubstr("Examples:")));
  }
}

TEST_F(Invocations, ForTheVersionSucceed) {
  const Ended result = run({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "warpfold " WARPFOLD_VERSION "\n");
}

TEST_F(Invocations, WithUnknownWordsGetANearMiss) {
  EXPECT_EQ(error({}), "a command is missing; see warpfold --help");
  EXPECT_EQ(error({"simulat"}), "unknown command \"simulat\"; did you mean \"simulate\"?");
  EXPECT_EQ(error({"--versio"}), "unknown option --versio; did you mean \"--version\"?");
  EXPECT_EQ(error({"simulate", "s.textproto", "--fromat", "json"}), "unknown option --fromat; did you mean \"--format\"?");
  EXPECT_EQ(error({"simulate", "s.textproto", "--forma", "json"}), "unknown option --forma; did you mean \"--format\"?");
  EXPECT_EQ(error({"trace", "dumb", "x"}), "unknown command \"trace dumb\"; did you mean \"dump\"?");
  EXPECT_EQ(error({"trace"}),
            "trace: dump, stats, check, write, format, slice, diff or export is missing; see warpfold trace --help");
  EXPECT_EQ(error({"simulate", "s.textproto", "--format", "jsn"}), "unknown format \"jsn\"; did you mean \"json\"?");
  EXPECT_EQ(error({"compare", "s.textproto", "--policies", "concurent"}),
            "--policies: unknown policy \"concurent\"; did you mean \"concurrent\"?");
  EXPECT_EQ(error({"compare", "s.textproto", "--policies", "concurrent,CONCURRENT"}), "--policies: CONCURRENT is given twice");
  EXPECT_THAT(error({"compare", "s.textproto", "--policies", ""}),
              testing::StartsWith("--policies: unknown policy \"\"; known: sequential, concurrent, carve_out, "));
}

// Found without a simulation: requirements of a policy that the scenario does not meet.
TEST_F(Invocations, OfPoliciesThatCannotBeCarriedOutAreRefused) {
  const std::string refused = "s.textproto:12:1: policy FUSED: no attention with dropout STORED_BITS runs after kernel \"first\"";
  for (const std::string command : {"check", "simulate"}) {
    EXPECT_EQ(error({command, "s.textproto", "--set", "policy.kind=FUSED"}), refused);
  }
}

// --policy NAME is the policy that --set policy.kind=KIND names.
TEST_F(Invocations, RunUnderThePolicyThatTheyName) {
  EXPECT_THAT(run({"simulate", "s.textproto"}).out, HasSubstr(" under policy CONCURRENT."));
  EXPECT_THAT(run({"simulate", "s.textproto", "--policy", "sequential"}).out, HasSubstr(" under policy SEQUENTIAL."));
  for (const std::string command : {"hot", "roofline"}) {
    EXPECT_THAT(run({command, "s.textproto", "--policy", "sequential"}).out, HasSubstr("policy SEQUENTIAL"));
  }
  for (const std::string command : {"simulate", "hot", "roofline"}) {
    EXPECT_EQ(error({command, "s.textproto", "--policy", "sequentiel"}),
              "--policy: unknown policy \"sequentiel\"; did you mean \"sequential\"?");
  }
}

// At the workload, the share or the policy, wherever it is found.
TEST_F(Invocations, OfScenariosThatCannotBeCarriedOutNameThePlace) {
  write("place.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                           "/configs/gpus/h100_sxm.textproto\"\n"
                           "kernel { name: \"rng\" philox { heads: 1 queries: 1024 keys: 512 } }\n"
                           "kernel { name: \"gemm\" stream: 1\n"
                           "  hopper_gemm { m: 1024 n: 1024 k: 1024 type: BF16 } }\n"
                           "policy {\n"
                           "  reserve { kernel: \"gemm\" register_percent: 20 warp_slot_percent: 20 }\n"
                           "  reserve { kernel: \"rng\" register_percent: 20 warp_slot_percent: 0.1 }\n"
                           "  sm_share { kernel: \"rng\" percent: 0.1 }\n"
                           "  pipelined { segments: 3 }\n"
                           "  quota { kernel: \"rng\" warps: 1 }\n"
                           "}\n");
  const auto under = [this](const std::string& policy) {
    return error({"check", "place.textproto", "--set", "policy.kind=" + policy});
  };
  EXPECT_THAT(under("CARVE_OUT"), StartsWith("place.textproto:7:3: policy CARVE_OUT: the reservation for kernel \"rng\""));
  EXPECT_THAT(under("SLICED"), StartsWith("place.textproto:10:3: policy SLICED: a CTA of kernel \"rng\" does not fit its quota"));
  EXPECT_THAT(under("SM_PARTITION"), StartsWith("place.textproto:8:3: policy SM_PARTITION: the share of kernel \"rng\""));
  EXPECT_THAT(error({"check", "place.textproto", "--set", "policy.kind=PIPELINED", "--set", "kernel.gemm.after=rng"}),
              StartsWith("place.textproto:2:1: policy PIPELINED: the 1024 queries of kernel \"rng\""));
  const std::string large = "place.textproto:4:3: ";
  const std::string stages = "kernel gemm: hopper_gemm: 30 stages";
  for (const std::string command : {"check", "simulate", "compare", "whatif"}) {
    EXPECT_THAT(error({command, "place.textproto", "--set", "kernel.gemm.hopper_gemm.stages=30"}),
                AllOf(StartsWith(large + "policy "), HasSubstr(stages)));
  }
  EXPECT_THAT(error({"model", "place.textproto", "--set", "kernel.gemm.hopper_gemm.stages=30"}), StartsWith(large + stages));
  EXPECT_THAT(error({"trace", "write", "place.textproto", "-o", "k.wft", "--set", "kernel.gemm.hopper_gemm.stages=30"}),
              StartsWith(large + stages));
}

TEST_F(Invocations, ForTheWholeChipFoldNothing) {
  EXPECT_EQ(error({"simulate", "s.textproto", "--sms", "al"}), "--sms: unknown choice \"al\"; did you mean \"all\"?");
  EXPECT_EQ(error({"compare", "s.textproto", "--sms", "some"}), "--sms: unknown choice \"some\"; known: classes, all");
  EXPECT_EQ(error({"simulate", "s.textproto", "--sms", "all", "--fold", "exact"}),
            "--sms all replays every instruction; it takes --fold auto or off, not exact");
  EXPECT_EQ(error({"compare", "s.textproto", "--sms", "all", "--fold", "shadow"}),
            "--sms all replays every instruction; it takes --fold auto or off, not shadow");
  for (const std::string fold : {"auto", "off"}) {
    const Ended result = run({"simulate", "s.textproto", "--sms", "all", "--fold", fold});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("folding: off; 100.00 % of the instructions simulated"));
  }
}

TEST_F(Invocations, WithTooFewOrTooManyWordsFail) {
  EXPECT_EQ(error({"simulate"}), "SCENARIO is missing; see --help");
  EXPECT_EQ(error({"simulate", "s.textproto", "t.textproto"}), "unexpected argument \"t.textproto\"");
  EXPECT_EQ(error({"check"}), "FILE is missing; see --help");
  EXPECT_EQ(error({"simulate", "s.textproto", "--set"}), "the required argument for option '--set' is missing");
}

TEST_F(Invocations, WithMistakesInFilesNameThePlace) {
  EXPECT_EQ(error({"simulate", "none.textproto"}), "cannot read \"none.textproto\": No such file or directory");
  write("bad.textproto", "name: \"x\"\nkernel {\n  philox { roundz: 7 }\n}\n");
  EXPECT_EQ(error({"simulate", "bad.textproto"}),
            "bad.textproto:3:12: unknown field \"roundz\" in Philox; did you mean \"rounds\"?");
  write("open.textproto", "name: \"x\"\nkernel {\n  philox { rounds: 7 }\npolicy { kind: SEQUENTIAL }\n");
  EXPECT_EQ(error({"simulate", "open.textproto"}),
            "open.textproto:4:1: unknown field \"policy\" in Kernel: Scenario has one; is a } missing before it?");
  EXPECT_EQ(error({"simulate", "s.textproto", "--set", "kernel.rng.philox.rouds=7"}),
            "--set kernel.rng.philox.rouds=7: unknown field \"rouds\" in Philox; did you mean \"rounds\"?");
  EXPECT_EQ(error({"compare", "s.textproto", "--set", "heads=0"}), "--set heads=0: heads must be at least 1, not 0");
  EXPECT_EQ(error({"simulate", "s.textproto", "--set", "gpu.architecture=sm_60"}).find("sm_60") == std::string::npos, false);
}

// Text in another encoding must not make libraries talk beside our one line.
TEST_F(Invocations, WithBytesThatAreNoTextGetOneLine) {
  write("bytes.textproto", "name: \"\xff\xfe\"\n");
  EXPECT_THAT(error({"simulate", "bytes.textproto"}), StartsWith("bytes.textproto"));
  write("zero.textproto", std::string("name: \"a\"\n\0\0", 12));
  EXPECT_THAT(error({"simulate", "zero.textproto"}), StartsWith("zero.textproto:2:1: "));
}

TEST_F(Invocations, WithKernelsThatDoNotFitNameTheKernel) {
  // 1024 threads, 32 warps, where an SM has four.
  EXPECT_THAT(error({"simulate", "s.textproto", "--set", "kernel.first.philox.threads_per_cta=1024", "--set",
                     "kernel.first.philox.ctas_per_sm=1", "--set", "gpu.sub_core.warp_slots=1", "--set", "gpu.sm.warp_slots=4"}),
              AllOf(StartsWith("s.textproto:3:1: "), HasSubstr("first"), HasSubstr("fit")));
}

TEST_F(Invocations, ThatDeadlockReportWhoWaits) {
  write("stuck.wfs", stuck_kernel());
  ASSERT_EQ(run({"trace", "write", "stuck.wfs", "--output", "stuck.wft"}).exit_code, 0);
  write("stuck.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                           "/configs/gpus/h100_sxm.textproto\"\n"
                           "kernel { name: \"hung\" trace { path: \"stuck.wft\" } }\n");
  const Ended result = run({"simulate", "stuck.textproto", "--output", "result.json"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("hung"));
  const Ended of_all = run({"simulate", "stuck.textproto", "--sms", "all", "--output", "result.json"});
  EXPECT_EQ(of_all.exit_code, 3);
  EXPECT_THAT(of_all.err, AllOf(HasSubstr("hung"), HasSubstr("SM 0:")));
  EXPECT_THAT(files(), ElementsAre("s.textproto", "stuck.textproto", "stuck.wfs", "stuck.wft"));
}

TEST_F(Invocations, ThatFailLeaveTheOldOutput) {
  write("result.json", "precious");
  EXPECT_NE(error({"simulate", "s.textproto", "--set", "heads=0", "--output", "result.json"}), "");
  EXPECT_EQ(read("result.json"), "precious");
  EXPECT_THAT(files(), ElementsAre("result.json", "s.textproto"));
}

TEST_F(Invocations, WriteWhatALinkPointsTo) {
  write("result.json", "old");
  std::filesystem::permissions(path("work/result.json"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("result.json", path("work/link.json"));
  EXPECT_EQ(run({"simulate", "s.textproto", "--output", "link.json"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("work/link.json")));
  EXPECT_THAT(read("result.json"), StartsWith("{"));
  EXPECT_EQ(std::filesystem::status(path("work/result.json")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_NE(error({"simulate", "s.textproto", "--format", "json", "--output", "/dev/full"}), "");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Invocations, WithTwoOutputsInOneFileAreRefused) {
  std::filesystem::create_symlink("result.json", path("work/link.json"));
  std::filesystem::create_symlink("link.json", path("work/chain.json"));
  const auto both = [this](const std::string& first, const std::string& second) {
    return error({"simulate", "s.textproto", "--output", first, "--perfetto", second});
  };
  const std::string same = ": the same file as --perfetto result.json";
  EXPECT_EQ(both("result.json", "result.json"), "--output result.json" + same);
  EXPECT_EQ(both("./none/../result.json", "result.json"), "--output ./none/../result.json" + same);
  EXPECT_EQ(both("chain.json", "result.json"), "--output chain.json" + same) << "through links to what is not there yet";
  EXPECT_EQ(error({"simulate", "s.textproto", "--html", "x", "--perfetto", "x"}), "--html x: the same file as --perfetto x");
  EXPECT_EQ(error({"validate", "rows.csv", "--html", "x.svg", "--plot", "x.svg"}), "--html x.svg: the same file as --plot x.svg");
  EXPECT_THAT(files(), ElementsAre("chain.json", "link.json", "s.textproto"));
  EXPECT_EQ(run({"simulate", "s.textproto", "--output", "/dev/null", "--format", "json", "--html", "/dev/null"}).exit_code, 0);
  EXPECT_EQ(run({"simulate", "s.textproto", "--output", "chain.json"}).exit_code, 0);
  EXPECT_THAT(read("result.json"), StartsWith("{"));
}

TEST_F(Invocations, WithBadOutputsFail) {
  EXPECT_EQ(error({"simulate", "s.textproto", "--output", "result.xml"}),
            "--output result.xml: the name says no format; end it in .txt, .json or .csv, or give --format");
  EXPECT_EQ(error({"simulate", "s.textproto", "--output", "none/result.json"}, kCannotWrite),
            "cannot write \"none/result.json\": No such file or directory");
  EXPECT_EQ(error({"simulate", "s.textproto", "--output", ".", "--format", "json"}, kCannotWrite),
            "cannot write \".\": it is a directory");
  EXPECT_EQ(error({"trace", "write", "s.textproto"}), "--output is missing; see --help");
  EXPECT_EQ(error({"trace", "write", "s.textproto", "--output", "k.json"}), "--output k.json: a trace's name ends in .wft or .wfs");
}

}  // namespace
}  // namespace warpfold::cli
