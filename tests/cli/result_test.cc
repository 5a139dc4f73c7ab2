#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "configs/result.pb.h"
#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

template <typename Message>
Message from_json(const std::string& text) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &message);
  if (!status.ok()) throw std::runtime_error(status.ToString() + " in " + text);
  return message;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Results : public Program {
 protected:
  Results() { write("s.textproto", small_scenario()); }
  configs::Result simulate(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"simulate", "s.textproto", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended result = run(arguments);
    if (result.exit_code != 0) throw std::runtime_error(result.err);
    return from_json<configs::Result>(result.out);
  }
};

TEST_F(Results, AreTheSameBytesEveryTime) {
  for (const std::string format : {"table", "json", "csv"}) {
    const Ended first = run({"simulate", "s.textproto", "--format", format});
    const Ended second = run({"simulate", "s.textproto", "--format", format});
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.err, "");
    EXPECT_GT(first.out.size(), 100);
    EXPECT_EQ(first.out, second.out);
  }
}

// The command line is recorded and differs.
TEST_F(Results, DoNotDependOnJobs) {
  const std::string policies = "all";
  for (const std::string sms : {"classes", "all"}) {
    std::vector<std::string> outputs;
    for (const std::string jobs : {"1", "2", "5"}) {
      const Ended result =
          run({"compare", "s.textproto", "--policies", policies, "--sms", sms, "--format", "json", "--jobs", jobs});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      std::string kept;
      for (const std::string& line : lines_of(result.out)) {
        if (line.find("\"command_line\"") == std::string::npos) kept += line + "\n";
      }
      EXPECT_THAT(kept, HasSubstr("\"total_cycles\""));
      outputs.push_back(std::move(kept));
    }
    EXPECT_EQ(outputs[0], outputs[1]);
    EXPECT_EQ(outputs[0], outputs[2]);
  }
}

TEST_F(Results, SayHowManySmsWereSimulated) {
  const configs::Result of_classes = simulate({});
  const configs::Result of_all = simulate({"--sms", "all"});
  EXPECT_FALSE(of_classes.whole_chip());
  EXPECT_EQ(of_classes.sms_simulated(), of_classes.sm_classes());
  EXPECT_TRUE(of_all.whole_chip());
  EXPECT_EQ(of_all.sms_simulated(), 132);
  EXPECT_EQ(of_all.sm_classes(), of_classes.sm_classes());
  EXPECT_EQ(of_all.instructions_replayed(), 2 * of_all.instructions_issued());  // together, and each kernel alone
  EXPECT_EQ(of_all.fold().mode(), "off");
}

TEST_F(Results, InJsonHaveNumbersForCounters) {
  const Ended result = run({"simulate", "s.textproto", "--format", "json"});
  EXPECT_THAT(result.out, testing::ContainsRegex("\"total_cycles\": [0-9]+,"));
  EXPECT_THAT(result.out, Not(HasSubstr("\"total_cycles\": \"")));
}

TEST_F(Results, ConserveWarpCycles) {
  const configs::Result result = simulate({});
  ASSERT_EQ(result.kernels_size(), 2);
  for (const configs::KernelResult& kernel : result.kernels()) {
    uint64_t sum = 0;
    for (const configs::StateCycles& state : kernel.states()) sum += state.warp_cycles();
    EXPECT_EQ(sum, kernel.resident_warp_cycles());
    EXPECT_EQ(kernel.states(0).state(), "selected");
    EXPECT_EQ(kernel.states(0).warp_cycles(), kernel.instructions_issued());
    EXPECT_EQ(kernel.cycles(), kernel.end_cycle() - kernel.start_cycle());
    EXPECT_DOUBLE_EQ(kernel.time_us(), static_cast<double>(kernel.cycles()) / 1600);
  }
  EXPECT_EQ(result.instructions_issued(), result.kernels(0).instructions_issued() + result.kernels(1).instructions_issued());
}

TEST_F(Results, OfSequentialRunsAreNotSlowedDown) {
  const configs::Result result = simulate({"--set", "policy.kind=SEQUENTIAL"});
  EXPECT_EQ(result.policy(), "SEQUENTIAL");
  for (const configs::KernelResult& kernel : result.kernels()) {
    EXPECT_EQ(kernel.cycles(), kernel.solo_cycles());
    EXPECT_EQ(kernel.slowdown_vs_solo(), 1);
    EXPECT_NE(kernel.bound_by(), "");
  }
  EXPECT_GE(result.kernels(1).start_cycle(), result.kernels(0).end_cycle());
}

// Two in a row: the gap between them is the GPU's for the kind of launch, and a kernel alone waits for nothing.
TEST_F(Results, HaveTheGapOfTheirLaunches) {
  const auto gap = [this](const std::string& kind) {
    const configs::Result result = simulate({"--set", "policy.kind=SEQUENTIAL", "--set", "launch=" + kind});
    EXPECT_EQ(result.kernels(0).start_cycle(), 0);
    return result.kernels(1).start_cycle() - result.kernels(0).end_cycle();
  };
  const configs::Gpu gpu = simulate({}).provenance().scenario().gpu();
  EXPECT_EQ(gap("STREAM"), gpu.kernel_launch_cycles());
  EXPECT_EQ(gap("GRAPH"), gpu.graph_launch_cycles());
  EXPECT_EQ(gap("PROGRAMMATIC"), gpu.programmatic_launch_cycles());
  const configs::Result early = simulate({"--set", "policy.kind=SEQUENTIAL", "--set", "launch=PROGRAMMATIC"});
  EXPECT_EQ(early.kernels(0).cycles(), early.kernels(0).solo_cycles());
}

TEST_F(Results, RecordHowTheyCameAbout) {
  const configs::Result result = simulate({"--set", "heads=16"});
  EXPECT_EQ(result.scenario(), "s");
  EXPECT_EQ(result.gpu(), "H100 SXM5 80GB");
  const configs::Provenance& provenance = result.provenance();
  EXPECT_EQ(provenance.version(), WARPFOLD_VERSION);
  EXPECT_EQ(provenance.command_line(), "warpfold simulate s.textproto --format json --set heads=16");
  EXPECT_EQ(provenance.scenario().kernel(1).philox().heads(), 16);
  EXPECT_EQ(provenance.scenario().gpu().sm_count(), 132);
  EXPECT_THAT(provenance.trace_hash(), ElementsAre(testing::MatchesRegex("[0-9a-f]{16}"), testing::MatchesRegex("[0-9a-f]{16}")));
  EXPECT_NE(provenance.trace_hash(0), provenance.trace_hash(1));
}

TEST_F(Results, CanBeReproducedFromThemselves) {
  const configs::Result result = simulate({"--set", "heads=16"});
  write("again.textproto", result.provenance().scenario().DebugString());
  const Ended again = run({"simulate", "again.textproto", "--format", "json"});
  configs::Result second = from_json<configs::Result>(again.out);
  second.mutable_provenance()->set_command_line(result.provenance().command_line());
  EXPECT_EQ(second.DebugString(), result.DebugString());
}

TEST_F(Results, ComeFromAnotherGpuWhereOneIsGiven) {
  EXPECT_EQ(simulate({"--gpu", WARPFOLD_SOURCE_DIR "/configs/gpus/h200_sxm.textproto"}).gpu(), "H200 SXM5 141GB");
}

TEST_F(Results, InCsvHaveOneRowForEachKernel) {
  const std::vector<std::string> lines = lines_of(run({"simulate", "s.textproto", "--format", "csv"}).out);
  ASSERT_EQ(lines.size(), 3);
  EXPECT_THAT(lines[0], testing::StartsWith("scenario,policy,gpu,total_cycles,"));
  for (const std::string& line : lines) EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(lines[0], ','));
  EXPECT_THAT(lines[1], testing::StartsWith("s,CONCURRENT,H100 SXM5 80GB,"));
}

TEST_F(Results, ForPeopleNameStatesResourcesAndCulprits) {
  const Ended result = run({"simulate", "s.textproto"});
  EXPECT_THAT(result.out, AllOf(testing::StartsWith("s on H100 SXM5 80GB takes 1.27 us under policy CONCURRENT.\n"),
                                HasSubstr("\nKernels\n"), HasSubstr("\nWarp states, %"), HasSubstr("\nResources, %"),
                                HasSubstr("\nContention ledger"), HasSubstr("itself")));
}

TEST_F(Results, GoToTheFileInTheFormatOfItsName) {
  write("result.json", "old");
  const Ended result = run({"simulate", "s.textproto", "--output", "result.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_GT(from_json<configs::Result>(read("result.json")).total_cycles(), 0);
  EXPECT_EQ(run({"simulate", "s.textproto", "--output", "result.csv"}).exit_code, 0);
  EXPECT_THAT(read("result.csv"), testing::StartsWith("scenario,"));
  EXPECT_EQ(run({"simulate", "s.textproto", "--output", "result.csv", "--format", "json"}).exit_code, 0);
  EXPECT_GT(from_json<configs::Result>(read("result.csv")).total_cycles(), 0);
  EXPECT_THAT(files(), ElementsAre("result.csv", "result.json", "s.textproto"));
}

TEST_F(Results, OfPoliciesStandSideBySide) {
  const std::vector<std::string> compare{"compare", "s.textproto", "--policies", "sequential,concurrent,carve_out"};
  const Ended table = run(compare);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, testing::StartsWith("Run the kernels side by side (CONCURRENT): 1.27 us, "));
  const std::vector<std::string> lines = lines_of(table.out.substr(table.out.find("policy  ")));
  ASSERT_GE(lines.size(), 4);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("policy  "), HasSubstr("rank"), HasSubstr("speed-up"), HasSubstr("first slowdown"),
                              HasSubstr("limited by")));
  EXPECT_THAT(lines[1], testing::ContainsRegex("^SEQUENTIAL +[1-3] +[0-9.]+ +1\\.000 "));
  EXPECT_THAT(lines[2], testing::StartsWith("CONCURRENT"));
  EXPECT_THAT(lines[3], testing::StartsWith("CARVE_OUT"));

  auto as_csv = compare;
  as_csv.insert(as_csv.end(), {"--format", "csv"});
  const std::vector<std::string> rows = lines_of(run(as_csv).out);
  EXPECT_THAT(rows[0], HasSubstr(",instructions_replayed,rank,tie_fastest,tie_slower,tie_told_apart_from,"));
  for (const std::string& row : rows) EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(rows[0], ','));

  auto as_json = compare;
  as_json.insert(as_json.end(), {"--format", "json"});
  const auto comparison = from_json<configs::Comparison>(run(as_json).out);
  ASSERT_EQ(comparison.results_size(), 3);
  EXPECT_EQ(comparison.results(1).total_cycles(), simulate({}).total_cycles());
  EXPECT_EQ(comparison.results(2).policy(), "CARVE_OUT");
  EXPECT_GT(comparison.results(0).rank(), comparison.results(1).rank()) << "one after the other is slower";
}

// `all` lists policies that do not apply with the reason; to ask for one by name is an error.
TEST_F(Results, OfAllPoliciesLeaveOutThoseThatDoNotApply) {
  const Ended table = run({"compare", "s.textproto", "--policies", "all"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("\nSM_PARTITION "), HasSubstr("\nSLICED "), Not(HasSubstr("\nFUSED "))));
  EXPECT_THAT(table.out, HasSubstr("\nnot run: policy WARP_SPECIALIZED: there is more than one Philox kernel"));
  const auto comparison =
      from_json<configs::Comparison>(run({"compare", "s.textproto", "--policies", "all", "--format", "json"}).out);
  EXPECT_EQ(comparison.results_size() + comparison.skipped_size(), configs::PolicyKind_descriptor()->value_count());
  for (const configs::Result& result : comparison.results()) {
    EXPECT_EQ(result.alone_size(), 2);
    EXPECT_NE(result.reason(), "") << result.policy();
  }
  const Ended named = run({"compare", "s.textproto", "--policies", "sequential,fused"});
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_EQ(named.err, "s.textproto:12:1: policy FUSED: no attention with dropout STORED_BITS runs after kernel \"first\"\n");
}

// A fault of the scenario itself is reported for any choice of policies.
TEST_F(Results, OfAllPoliciesNeedAScenarioWithoutMistakes) {
  const Ended ended = run({"compare", "s.textproto", "--policies", "all", "--set", "policy.pipelined.segments=1"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err, "--set policy.pipelined.segments=1: segments must be from 2 to 256, not 1\n");
}

class Traces : public Results {};

TEST_F(Traces, AreWrittenPrintedMeasuredAndChecked) {
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wfs"}).exit_code, 0);
  EXPECT_EQ(run({"trace", "dump", "k.wft"}).out, read("k.wfs"));
  const std::string rng = run({"trace", "dump", "k.wft", "--kernel", "rng"}).out;
  EXPECT_THAT(rng, AllOf(HasSubstr("kernel rng"), Not(HasSubstr("kernel first"))));
  EXPECT_EQ(run({"trace", "check", "k.wft", "k.wfs"}).out, "k.wft: valid, 2 kernels\nk.wfs: valid, 2 kernels\n");
  for (const std::string by : {"kernel", "role", "pipe", "opcode", "loop", "stream"}) {
    const Ended stats = run({"trace", "stats", "k.wft", "--by", by, "--format", "csv"});
    EXPECT_EQ(stats.exit_code, 0) << stats.err;
    EXPECT_THAT(lines_of(stats.out).at(1), testing::StartsWith("first,"));
  }
}

TEST_F(Traces, IssueWhatTheyCount) {
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  const std::string stats = run({"trace", "stats", "k.wft", "--format", "json"}).out;
  const configs::Result result = simulate({});
  for (const configs::KernelResult& kernel : result.kernels()) {
    EXPECT_THAT(stats, HasSubstr("\"issued\": " + std::to_string(kernel.instructions_issued()) + ","));
  }
}

TEST_F(Traces, RunLikeTheKernelsTheyWereWrittenFrom) {
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  write("t.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                       "/configs/gpus/h100_sxm.textproto\"\n"
                       "kernel { name: \"first\" trace { path: \"k.wft\" kernel: \"first\" } }\n"
                       "kernel { name: \"rng\" stream: 1 trace { path: \"k.wft\" kernel: \"rng\" } }\n"
                       "policy { kind: CONCURRENT }\n");
  const auto from_trace = from_json<configs::Result>(run({"simulate", "t.textproto", "--format", "json"}).out);
  const configs::Result generated = simulate({});
  EXPECT_EQ(from_trace.total_cycles(), generated.total_cycles());
  EXPECT_THAT(from_trace.provenance().trace_hash(), testing::ElementsAreArray(generated.provenance().trace_hash()));
}

TEST_F(Traces, ThatAreBadAreRefused) {
  write("bad.wft", "no trace");
  const Ended bad = run({"trace", "check", "bad.wft"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, testing::StartsWith("bad.wft: "));
  const Ended missing = run({"trace", "stats", "none.wfs"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.err, "none.wfs: cannot read the trace: No such file or directory\n");
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  EXPECT_EQ(run({"trace", "dump", "k.wft", "--kernel", "rgn"}).err, "--kernel: no kernel called \"rgn\"; did you mean \"rng\"?\n");
  EXPECT_EQ(run({"trace", "stats", "k.wft", "--by", "opcod"}).err,
            "--by: unknown kind of row \"opcod\"; did you mean \"opcode\"?\n");
}

// IADD3 needs four cycles to its consumer; a stall count of one lets the next instruction read the old R4.
TEST_F(Traces, WithUnprotectedDependencesAreRefused) {
  write("stale.wfs",
        "kernel stale architecture=sm_90 registers=32 shared_memory=0 cluster=1\n"
        "  class all\n"
        "  grid all*1\n"
        "  role only warps=1\n"
        "    [B------:R-:W-:-:S01] IADD3 R4, R5, R6, RZ ;\n"
        "    [B------:R-:W-:-:S05] IADD3 R7, R4, R6, RZ ;\n"
        "    [B------:R-:W-:-:S05] EXIT ;\n"
        "  end\n"
        "end\n");
  const Ended result = run({"trace", "check", "stale.wfs"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "stale.wfs:6:5: kernel \"stale\", role only, instruction 2: IADD3 may issue 1 cycles after IADD3, which has a result "
            "latency of 4; "
            "such dependences in the block: 1\n");
}

class Validation : public Results {};

TEST_F(Validation, TellsScenariosGpusAndTracesApart) {
  ASSERT_EQ(run({"trace", "write", "s.textproto", "--output", "k.wft"}).exit_code, 0);
  const std::string h800 = WARPFOLD_SOURCE_DIR "/configs/gpus/h800_sxm.textproto";
  const Ended result = run({"check", "s.textproto", h800, "k.wft"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "s.textproto: valid scenario s on H100 SXM5 80GB\n" + h800 +
                            ": valid GPU H800 SXM5 80GB\nk.wft: valid trace of 2 kernels\n");
}

TEST_F(Validation, ReportsMistakesByTheSchemaThatIsMeant) {
  write("gpu.textproto", "name: \"g\"\narchitecture: \"sm_90\"\nsm_cout: 3\n");
  EXPECT_EQ(run({"check", "gpu.textproto"}).err,
            "gpu.textproto:3:1: unknown field \"sm_cout\" in Gpu; did you mean \"sm_count\"?\n");
  write("scenario.textproto", "name: \"g\"\ngpu_file: \"x\"\nkernl {}\n");
  EXPECT_EQ(run({"check", "scenario.textproto"}).err,
            "scenario.textproto:3:1: unknown field \"kernl\" in Scenario; did you mean \"kernel\"?\n");
  write("derived.textproto", "base: \"" WARPFOLD_SOURCE_DIR "/configs/gpus/a100_sxm.textproto\"\nname: \"\"\n");
  EXPECT_EQ(run({"check", "derived.textproto"}).err, "derived.textproto:2:1: name is missing\n");
}

TEST_F(Validation, KnowsTheArchitecturesThatHaveTables) {
  write("gpu.textproto", "base: \"" WARPFOLD_SOURCE_DIR "/configs/gpus/a100_sxm.textproto\"\narchitecture: \"sm_60\"\n");
  const Ended result = run({"check", "gpu.textproto"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(testing::StartsWith("gpu.textproto: "), HasSubstr("sm_60")));
}

}  // namespace
}  // namespace warpfold::cli
