// warpfold profile: steps of our own making. step.json has every kind of kernel, pairs.json a known best pairing, passes.json none;
// unknown.json is pairs.json with kernels of Triton in place of the passes.

#include <gmock/gmock.h>

#include <algorithm>

#include "configs/profile.pb.h"
#include "configs/read_file.h"
#include "configs/result.pb.h"
#include "perfetto_view.h"
#include "program.h"
#include "tests/source_dir.h"
#include "tools/perfetto/step_trace.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;

const std::string kTraces = WARPFOLD_SOURCE_DIR "/configs/profiles/";

class ProfileCommand : public Program {};

TEST_F(ProfileCommand, NamesAndSimulatesTheKernelsOfAStep) {
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "step.json", "--candidates", "0"});
  EXPECT_EQ(report.gpu(), "H100 SXM5 80GB");
  EXPECT_EQ(report.launches(), 14);
  EXPECT_NEAR(report.kernel_us(), 2069.9, 0.01);
  EXPECT_NEAR(report.named_share(), 1 - 19.5 / 2069.9, 1e-6);
  EXPECT_NEAR(report.simulated_share(), 1 - (19.5 + 360) / 2069.9, 1e-6);
  ASSERT_EQ(report.kernels_size(), 7);
  for (const configs::ProfiledKernel& kernel : report.kernels()) {
    EXPECT_EQ(kernel.opaque().empty(), kernel.simulated_us() > 0) << kernel.name();
    EXPECT_EQ(kernel.opaque().empty(), !kernel.bound_by().empty()) << kernel.name();
    EXPECT_EQ(kernel.launches(), 2);
  }
  const configs::ProfiledKernel& gemm = report.kernels(1);
  EXPECT_EQ(gemm.family(), "cuBLAS GEMM (wgmma)");
  EXPECT_EQ(gemm.operator_(), "aten::addmm");
  EXPECT_THAT(gemm.reads_as(), HasSubstr("4096 x 4096 x 4096, tile 128 x 128 x 64"));
  EXPECT_EQ(gemm.beside(), 0);
  const configs::ProfiledKernel& all_reduce = report.kernels(2);
  EXPECT_EQ(all_reduce.opaque(), "its time depends on other GPUs");
  EXPECT_EQ(all_reduce.beside(), 2);
  EXPECT_NEAR(all_reduce.beside_us(), 180, 1e-9);
  EXPECT_THAT(all_reduce.beside_most(), HasSubstr("cutlass_80_tensorop"));
  EXPECT_EQ(report.kernels(6).family(), "");
}

// A CTA occupies the room that the profile states, in the scenario of the plan too.
TEST_F(ProfileCommand, ThePlanIsAScenario) {
  const Ended ended = run({"profile", kTraces + "pairs.json", "--plan", "plan.textproto"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Plan, within the error: 2 pairs of kernels on two streams save"));
  EXPECT_THAT(read("plan.textproto"), AllOf(HasSubstr("registers_per_thread: 24"), HasSubstr("priority: 1"), HasSubstr("after:")));
  const auto result = message<configs::Result>({"simulate", "plan.textproto"});
  EXPECT_EQ(result.kernels_size(), 4);
  // The two pairs together are as fast as the plan says they are.
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "pairs.json"});
  double together = 0;
  for (const configs::ProfiledPair& pair : report.pairs()) together += pair.planned() ? pair.concurrent_us() : 0;
  EXPECT_NEAR(result.total_time_us(), together, 0.02 * together);
}

// Two towers, each with a product and an addition of the same shapes, and an addition outside of both.
std::string two_towers() {
  const std::string add =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)";
  std::string events;
  int launches = 0;
  const auto launch = [&](int at, int us) {
    const std::string id = std::to_string(++launches);
    events += R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "ts": )" + std::to_string(at) +
              R"(, "dur": 1, "args": {"correlation": )" + id + "}},\n" + R"({"ph": "X", "cat": "kernel", "name": ")" + add +
              R"(", "ts": )" + std::to_string(1000 + 100 * launches) + R"(, "dur": )" + std::to_string(us) +
              R"(, "args": {"correlation": )" + id +
              R"(, "stream": 7, "grid": [32768, 1, 1], "block": [128, 1, 1], "registers per thread": 24, "shared memory": 0}},)" +
              "\n";
  };
  for (const auto& [name, begin] : {std::pair{"tower_a", 10}, {"tower_b", 30}}) {
    events += R"({"ph": "X", "cat": "user_annotation", "name": ")" + std::string(name) + R"(", "tid": 1, "ts": )" +
              std::to_string(begin) + R"(, "dur": 10, "args": {}},)" + "\n";
    launch(begin + 2, 40);
    launch(begin + 4, 40);
  }
  launch(60, 200);
  return R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [)" +
         events.substr(0, events.size() - 2) + "]}";
}

TEST_F(ProfileCommand, ARangeHasItsLaunchesAlone) {
  write("towers.json", two_towers());
  const auto whole = message<configs::ProfileReport>({"profile", "towers.json", "--candidates", "0"});
  EXPECT_EQ(whole.launches(), 5);
  ASSERT_EQ(whole.kernels_size(), 1);
  const auto range = message<configs::ProfileReport>({"profile", "towers.json", "--candidates", "0", "--range", "tower_b"});
  EXPECT_EQ(range.launches(), 2);
  EXPECT_EQ(range.kernel_us(), 80);
  EXPECT_NEAR(range.simulated_share(), 1, 1e-9);
  EXPECT_EQ(range.notes(0), "Only launches in ranges called \"tower_b\" count; the time between these ranges is in the gaps.");
  EXPECT_THAT(refused({"profile", "towers.json", "--range", "tower"}),
              HasSubstr(R"(towers.json: no range is called "tower"; there are "tower_a", "tower_b")"));
  EXPECT_THAT(refused({"profile", "towers.json", "--range", "tower_a", "--execution-trace", "e.json"}),
              HasSubstr("may carry dependences"));
}

// Ranges tell apart the launches of one kernel in two towers, and `--independent` pairs only launches of different towers.
TEST_F(ProfileCommand, RangesMayBeStatedIndependent) {
  write("towers.json", two_towers());
  const auto report = message<configs::ProfileReport>({"profile", "towers.json", "--independent", "tower_a,tower_b"});
  ASSERT_EQ(report.kernels_size(), 3);
  uint64_t stated = 0;
  for (const configs::ProfiledPair& pair : report.pairs()) {
    if (pair.not_run().find("--independent") != std::string::npos) continue;
    ++stated;
    EXPECT_EQ(pair.times(), 2);
    EXPECT_NE(pair.one_row(), 1) << "the addition outside of both towers";
  }
  EXPECT_EQ(stated, 1);
  EXPECT_EQ(report.kernels(1).notes(report.kernels(1).notes_size() - 1), "launched in range \"tower_a\"");
}

// By the execution trace, only the addition is in a chain of its own.
TEST_F(ProfileCommand, AnExecutionTraceSaysWhichLaunchesAreIndependent) {
  const auto report =
      message<configs::ProfileReport>({"profile", kTraces + "pairs.json", "--execution-trace", kTraces + "pairs_execution.json"});
  ASSERT_EQ(report.pairs_size(), 6);
  for (const configs::ProfiledPair& pair : report.pairs()) {
    const bool addition = pair.one_row() == 1;
    EXPECT_TRUE(pair.independent());
    EXPECT_EQ(pair.times(), addition ? 3 : 0);
    EXPECT_EQ(pair.not_run(), addition ? "" : "no two launches are independent by the execution trace");
    EXPECT_EQ(pair.planned(), addition && pair.other_row() == 2);
  }
  EXPECT_EQ(
      refused({"profile", kTraces + "step.json", "--execution-trace", kTraces + "pairs_execution.json"}),
      kTraces + "pairs_execution.json: no launch of " + kTraces +
          "step.json is of one of its operators; both must be recorded in the same run, the profile with its execution trace\n");
  EXPECT_EQ(refused({"profile", kTraces + "pairs.json", "--execution-trace", kTraces + "step.json"}),
            kTraces + "step.json: no list \"nodes\": expected an execution trace of torch.profiler.ExecutionTraceObserver\n");
}

// GEMMs on half of the chip gain beside passes over memory, twice as much as beside each other.
TEST_F(ProfileCommand, FindsTheKnownBestPairing) {
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "pairs.json"});
  ASSERT_EQ(report.pairs_size(), 6);
  const auto is_gemm = [&](uint32_t row) { return report.kernels(static_cast<int>(row) - 1).family().contains("GEMM"); };
  int planned = 0;
  double gain = 0;
  for (const configs::ProfiledPair& pair : report.pairs()) {
    EXPECT_FALSE(pair.independent());
    EXPECT_EQ(pair.times(), 3);
    EXPECT_GE(pair.concurrent_us(), pair.bound_us());
    if (!pair.planned()) continue;
    ++planned;
    gain += pair.gain_us();
    EXPECT_NE(is_gemm(pair.one_row()), is_gemm(pair.other_row()));
    EXPECT_TRUE(is_gemm(pair.first_row()));
  }
  EXPECT_EQ(planned, 2);
  EXPECT_NEAR(report.gain_us(), gain, 1e-9);
}

TEST_F(ProfileCommand, AStepWithoutAnyGainSaysSo) {
  const Ended ended = run({"profile", kTraces + "passes.json", "--plan", "plan.textproto"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, EndsWith("\nNo pair of the longest kernels gains more than the error by running together.\n"));
  EXPECT_TRUE(files().empty());
}

// The GEMMs on half of the chip each pair with an unknown kernel; the other possible limits of these kernels give the range of the
// gain.
TEST_F(ProfileCommand, PlansWithOpaqueLaunches) {
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "unknown.json"});
  EXPECT_EQ(report.assumed(), "FAMILY");
  ASSERT_EQ(report.pairs_size(), 6);
  for (const configs::ProfiledKernel& kernel : report.kernels()) {
    EXPECT_EQ(kernel.stand_in_us() > 0, !kernel.opaque().empty());
    EXPECT_EQ(kernel.stand_in_demand(), kernel.opaque().empty() ? "" : "DRAM");
    const double expected = kernel.opaque().empty() ? 0 : kernel.alone_us();
    EXPECT_NEAR(kernel.stand_in_us(), expected, 0.02 * expected);
  }
  int planned = 0;
  double least = 0, most = 0;
  for (const configs::ProfiledPair& pair : report.pairs()) {
    EXPECT_LE(pair.least_gain_us(), pair.gain_us());
    EXPECT_GE(pair.most_gain_us(), pair.gain_us());
    EXPECT_TRUE(pair.opaque() || pair.least_gain_us() == pair.most_gain_us());
    if (!pair.planned()) continue;
    ++planned;
    EXPECT_TRUE(pair.opaque());
    EXPECT_LT(pair.least_gain_us(), pair.most_gain_us());
    EXPECT_GT(pair.least_gain_us(), 0);
    least += pair.least_gain_us();
    most += pair.most_gain_us();
  }
  EXPECT_EQ(planned, 2);
  EXPECT_NEAR(report.opaque_gain_us(), report.gain_us(), 1e-9);
  EXPECT_NEAR(report.least_gain_us(), least, 1e-9);
  EXPECT_NEAR(report.most_gain_us(), most, 1e-9);
}

// Of one family: of whatever kind their work is, both want the same. Of kernels that no rule knows, both are assumed to want DRAM.
TEST_F(ProfileCommand, OpaqueLaunchesThatWantTheSameGainNothing) {
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "unknown.json", "--independent", "triton,triton"});
  ASSERT_EQ(report.pairs_size(), 1);
  EXPECT_EQ(report.pairs(0).not_run(), "both are opaque and of the family Triton: they are likely to want the same unit");
  EXPECT_EQ(report.gain_us(), 0);
  std::string trace = read_file(kTraces + "unknown.json").value();
  for (size_t at = trace.find("triton_"); at != std::string::npos; at = trace.find("triton_", at)) trace.replace(at, 7, "mine_");
  write("mine.json", trace);
  const auto mine = message<configs::ProfileReport>({"profile", "mine.json", "--independent", "mine,mine"});
  ASSERT_EQ(mine.pairs_size(), 1);
  EXPECT_GT(mine.pairs(0).concurrent_us(), 0);
  EXPECT_LT(mine.gain_us(), 0.02 * mine.kernel_us());
}

TEST_F(ProfileCommand, SaysHowMuchRestsOnOpaqueLaunches) {
  const Ended ended = run({"profile", kTraces + "unknown.json", "--opaque", "issue", "--plan", "plan.textproto"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("(100.0 %) rest on opaque launches being bound by the issue of instructions (#1, #3)."));
  EXPECT_THAT(read("plan.textproto"), AllOf(HasSubstr("# Kernels with `opaque` are stand-ins"), HasSubstr("demand: ISSUE")));
  EXPECT_EQ(run({"simulate", "plan.textproto"}).exit_code, 0);
  const auto out = message<configs::ProfileReport>({"profile", kTraces + "unknown.json", "--opaque", "out"});
  EXPECT_EQ(out.pairs_size(), 1);
  EXPECT_EQ(out.assumed(), "");
  EXPECT_EQ(out.opaque_gain_us(), 0);
  // Measured times are of the traced GPU.
  const auto other = message<configs::ProfileReport>({"profile", kTraces + "unknown.json", "--gpu", "b200"});
  for (const configs::ProfiledPair& pair : other.pairs()) EXPECT_FALSE(pair.opaque());
  EXPECT_THAT(refused({"profile", kTraces + "unknown.json", "--opaque", "drum"}),
              HasSubstr("--opaque: unknown choice \"drum\"; did you mean \"dram\"?"));
}

// Launches that overlap already gain nothing more.
TEST_F(ProfileCommand, OverlapsOfTheTraceHaveNoPartInThePlan) {
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "step.json"});
  for (const configs::ProfiledPair& pair : report.pairs()) {
    for (const uint32_t row : {pair.one_row(), pair.other_row()})
      EXPECT_GT(report.kernels(static_cast<int>(row) - 1).alone_us(), 0);
    EXPECT_LE(pair.times(), 2);
  }
  EXPECT_THAT(report.notes(),
              Contains(HasSubstr("Kernels that overlap others in each of their launches have no part in the plan: 634 us.")));
}

// A kernel's time has its start and end (graph_launch_cycles), and pairs' times do not.
TEST_F(ProfileCommand, TimesOfKernelsHaveTheirStartAndEnd) {
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "pairs.json"});
  EXPECT_THAT(report.notes(), Contains(HasSubstr("include 1621 cycles of a kernel's start and end")));
  const auto products =
      std::ranges::find_if(report.pairs(), [](const auto& pair) { return pair.one_row() == 2 && pair.other_row() == 4; });
  ASSERT_NE(products, report.pairs().end());
  EXPECT_NEAR(products->sequential_us() + 2 * 1621 / 1600.0, report.kernels(1).simulated_us() + report.kernels(3).simulated_us(),
              1e-3);
}

// Every launch twice: as measured, and below it with its simulated time, gaps and order kept.
TEST_F(ProfileCommand, DrawsBothTimelines) {
  const auto report =
      message<configs::ProfileReport>({"profile", kTraces + "step.json", "--candidates", "0", "--perfetto", "step.pftrace"});
  const View view(read("step.pftrace"));
  const std::string simulated = "simulated on H100 SXM5 80GB/";
  EXPECT_THAT(view.tracks(), testing::IsSupersetOf({std::string("measured/stream 7"), std::string("measured/stream 20"),
                                                    simulated + "stream 7", simulated + "stream 20"}));
  size_t launches = 0;
  for (const std::string stream : {"stream 7", "stream 20"}) {
    const auto as_measured = view.slices("measured/" + stream), as_simulated = view.slices(simulated + stream);
    ASSERT_EQ(as_measured.size(), as_simulated.size());
    launches += as_measured.size();
    for (size_t l = 0; l < as_measured.size(); ++l) {
      EXPECT_EQ(as_measured[l].name, as_simulated[l].name);
      const auto kernel = std::ranges::find(report.kernels(), as_measured[l].name, &configs::ProfiledKernel::short_name);
      const bool known = kernel != report.kernels().end() && kernel->simulated_us() > 0;
      const auto ns = static_cast<double>(as_simulated[l].end_ns - as_simulated[l].begin_ns);
      const auto measured_ns = static_cast<double>(as_measured[l].end_ns - as_measured[l].begin_ns);
      EXPECT_NEAR(ns, known ? 1000 * kernel->simulated_us() : measured_ns, 1);
    }
  }
  EXPECT_EQ(launches, 15);
}

TEST(StepTrace, OfManyLaunchesDrawsTheFirst) {
  perfetto::StepTrace step{"a step", "a GPU", {{"f", "", "unknown"}}, {}};
  for (uint32_t l = 0; l < 100'001; ++l) step.launches.push_back({0, 7, 2.0 * l, 1, 2.0 * l, 1});
  const View view(perfetto::step_trace(step));
  const std::string part = ", the first 100000 of 100001 launches and copies/stream 7";
  EXPECT_EQ(view.slices("measured" + part).size(), 100'000);
  EXPECT_EQ(view.slices("simulated on a GPU" + part).size(), 100'000);
}

TEST_F(ProfileCommand, WritesAPage) {
  const Ended ended = run({"profile", kTraces + "unknown.json", "--html", "step.html"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(read("step.html"), AllOf(HasSubstr("unknown.json on H100 SXM5 80GB: Warpfold report</title>"),
                                       HasSubstr("\"profile\":{"), HasSubstr("triton_poi_fused_add_gelu_0")));
}

// A launch may be shorter than any stand-in of as many CTAs, and a damaged profile may state a footprint that no SM has.
TEST_F(ProfileCommand, SaysWhyNoPairCanBeSimulated) {
  const auto event = [](const std::string& name, const std::string& at, const std::string& ctas) {
    return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "ts": )" + at +
           R"(, "dur": 2, "args": {"stream": 7, "grid": [)" + ctas +
           R"(, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 0}})";
  };
  write("short.json", R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [)" +
                          event("one", "10", "2147483647") + ", " + event("two", "20", "100") + "]}");
  const Ended ended = run({"profile", "short.json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("one: no stand-in: 2147483647 CTAs take at least "),
                               EndsWith("\nNo pair of the longest kernels can be simulated: the table says why.\n")));
}

TEST_F(ProfileCommand, TriesOnlyPairsThatAreSaidToBeIndependent) {
  const auto report =
      message<configs::ProfileReport>({"profile", kTraces + "pairs.json", "--independent", "xmma_gemm,CUDAFunctor_add"});
  ASSERT_EQ(report.pairs_size(), 2);
  EXPECT_TRUE(report.pairs(0).independent());
  EXPECT_TRUE(report.pairs(1).independent());
}

// On another GPU the report has no errors, and that GPU's library kernels replace the traced kernels.
TEST_F(ProfileCommand, SimulatesAnotherGpu) {
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "pairs.json", "--gpu", "b200", "--candidates", "0"});
  EXPECT_EQ(report.simulated_share(), 1);
  EXPECT_THAT(report.notes(0), HasSubstr("The trace is of \"NVIDIA H100 80GB HBM3\""));
  for (const configs::ProfiledKernel& kernel : report.kernels()) EXPECT_EQ(kernel.error(), 0);
}

// A variant of the traced GPU runs the traced kernels; the plan names its file from wherever it is written.
TEST_F(ProfileCommand, SimulatesAVariantOfTheTracedGpu) {
  write("wide.textproto", "base: \"h100_sxm\" name: \"wide\" sm { tensor { scale: 2 } }\n");
  const Ended ended = run({"profile", kTraces + "pairs.json", "--gpu", "wide.textproto", "--plan", path("plan.textproto")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("tile 128 x 128 x 64"));
  EXPECT_EQ(run({"simulate", path("plan.textproto")}).exit_code, 0);
}

// A user's table of names makes a kernel of a launch that the embedded table does not know.
TEST_F(ProfileCommand, KnowsTheKernelsOfAUsersTable) {
  write("mine.textproto",
        R"(rule { family: "mine" pattern: "^triton_poi_" sizes: STATED size { name: "elements" value: "ctas * 1024" }
      column { name: "category" value: "MEM" } column { name: "kernel" value: "pass" }
      column { name: "dims_other" value: "operation=SCALE;elements={elements};element_bytes=2" } assumption: "1,024 elements a CTA" })");
  const std::vector<std::string> plain{"profile", kTraces + "unknown.json", "--candidates", "0"};
  std::vector<std::string> named = plain;
  named.insert(named.end(), {"--names", "mine.textproto"});
  const auto before = message<configs::ProfileReport>(plain);
  const auto after = message<configs::ProfileReport>(named);
  EXPECT_GT(after.simulated_share(), before.simulated_share());
  const auto mine = std::ranges::find(after.kernels(), "mine", &configs::ProfiledKernel::family);
  ASSERT_NE(mine, after.kernels().end());
  EXPECT_EQ(mine->opaque(), "");
  EXPECT_THAT(mine->notes(), testing::Contains("1,024 elements a CTA"));
  write("wrong.textproto", "rule { pattern: \"(\" }");
  EXPECT_THAT(refused({"profile", kTraces + "unknown.json", "--names", "wrong.textproto"}),
              HasSubstr("wrong.textproto:1:8: pattern"));
  EXPECT_THAT(refused({"profile", kTraces + "unknown.json", "--names", "none.textproto"}), HasSubstr("none.textproto"));
}

TEST_F(ProfileCommand, RefusesWhatItCannotRead) {
  write("cut.json", "{\"traceEvents\": [");
  EXPECT_THAT(refused({"profile", "cut.json"}), HasSubstr("truncated: the JSON ends early; export the trace again"));
  write("unknown.json", R"([{"ph": "X", "cat": "kernel", "name": "f", "ts": 1, "dur": 1}])");
  EXPECT_THAT(refused({"profile", "unknown.json"}), HasSubstr("no GPU file for the traced GPU \"\"; name one by --gpu"));
  write("scenario.textproto", small_scenario());
  EXPECT_THAT(refused({"profile", "scenario.textproto"}),
              HasSubstr("is a scenario, and profile takes a profile of torch.profiler or Nsight"));
  EXPECT_THAT(refused({"report", kTraces + "step.json"}),
              HasSubstr("is a profile of torch.profiler or Nsight, and report takes a result"));
  EXPECT_THAT(run({"check", kTraces + "step.json"}).out, HasSubstr("valid profile (15 launches and copies, 7 kernels and shapes)"));
  EXPECT_THAT(refused({"profile", kTraces + "step.json", "--gpu", "h100_sxn"}), HasSubstr("did you mean \"h100_sxm\"?"));
  EXPECT_THAT(refused({"profile", kTraces + "step.json", "--gpu", "scenario.textproto"}),
              HasSubstr("is a scenario, and --gpu takes a GPU"));
  EXPECT_THAT(refused({"profile", "none.json"}), HasSubstr("cannot be opened"));
  EXPECT_THAT(refused({"profile", kTraces + "step.json", "--independent", "gemm"}), HasSubstr("expected two names with a comma"));
  EXPECT_THAT(refused({"profile", kTraces + "step.json", "--self-check"}), HasSubstr("are of one simulation; profile has many"));
}

}  // namespace
}  // namespace warpfold::cli
