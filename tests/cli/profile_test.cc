// warpfold profile: steps of our own making. step.json has every kind of kernel, pairs.json a known best pairing, passes.json none.

#include <gmock/gmock.h>

#include <algorithm>

#include "configs/profile.pb.h"
#include "configs/result.pb.h"
#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
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
  EXPECT_THAT(ended.out, HasSubstr("Plan: 2 pairs of kernels on two streams would save"));
  EXPECT_THAT(read("plan.textproto"), AllOf(HasSubstr("registers_per_thread: 24"), HasSubstr("priority: 1"), HasSubstr("after:")));
  const auto result = message<configs::Result>({"simulate", "plan.textproto"});
  EXPECT_EQ(result.kernels_size(), 4);
  // The two pairs together are as fast as the plan says they are.
  const auto report = message<configs::ProfileReport>({"profile", kTraces + "pairs.json"});
  double together = 0;
  for (const configs::ProfiledPair& pair : report.pairs()) together += pair.planned() ? pair.concurrent_us() : 0;
  EXPECT_NEAR(result.total_time_us(), together, 0.02 * together);
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
  EXPECT_THAT(ended.out, EndsWith("\nNo pair of the longest kernels gains anything by running together.\n"));
  EXPECT_TRUE(files().empty());
}

TEST_F(ProfileCommand, TriesOnlyPairsThatAreSaidToBeIndependent) {
  const auto report =
      message<configs::ProfileReport>({"profile", kTraces + "pairs.json", "--independent", "xmma_gemm,CUDAFunctor_add"});
  ASSERT_EQ(report.pairs_size(), 2);
  EXPECT_TRUE(report.pairs(0).independent());
  EXPECT_TRUE(report.pairs(1).independent());
}

// Another GPU: no errors, and the library's kernels there in place of those that were traced.
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
