// warpfold model: its output, its use of a simulation, and its refusals.

#include <gmock/gmock.h>

#include <filesystem>
#include <stdexcept>

#include "configs/load.h"
#include "configs/result.pb.h"
#include "program.h"
#include "tests/source_dir.h"
#include "tools/warpfold/figures/chain.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kPair = WARPFOLD_SOURCE_DIR "/configs/scenarios/qkv_philox_small.textproto";

class Model : public Program {
 protected:
  configs::Result model(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "model");
    return message<configs::Result>(arguments);
  }
  std::string refusal(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "model");
    return refused(arguments);
  }
};

std::vector<std::string> composition_names(const configs::Result& result) {
  std::vector<std::string> names;
  for (const configs::Composition& each : result.model().compositions()) names.push_back(each.name());
  return names;
}

// 528 tiles of 8 wgmma steps of 64 cycles for 22 k-blocks on 132 SMs: four for each.
TEST_F(Model, SaysWhatEachKernelIsBoundByInOrder) {
  const configs::Result result = model({kPair, "--interference", "none"});
  EXPECT_EQ(result.estimator(), "limiter_model");
  ASSERT_EQ(result.kernels_size(), 2);
  EXPECT_EQ(result.kernels(0).bound_by(), "wgmma");
  EXPECT_EQ(result.kernels(0).cycles(), 4 * 22 * 8 * 64);
  EXPECT_EQ(result.kernels(1).bound_by(), "fma_heavy");
  for (const configs::KernelResult& kernel : result.kernels()) {
    for (int l = 1; l < kernel.limiters_size(); ++l) EXPECT_GE(kernel.limiters(l - 1).cycles(), kernel.limiters(l).cycles());
  }
}

TEST_F(Model, TakesInterferenceFromASimulationUnlessToldOtherwise) {
  const configs::Result both = model({kPair});
  for (const configs::KernelResult& kernel : both.kernels()) EXPECT_GE(1000 * kernel.solo_cycles(), 998 * kernel.cycles());
  const configs::Interference simulated = both.model().interference();
  EXPECT_EQ(simulated.source(), "simulated");
  EXPECT_GT(simulated.gemm_slowdown(), 1.1);  // each IMAD.WIDE holds the tensor cores up
  EXPECT_GT(simulated.rng_slowdown(), 2);     // and is held up by them
  const configs::Interference paper = model({kPair, "--interference", "paper"}).model().interference();
  EXPECT_EQ(paper.gemm_slowdown(), 1.04);
  EXPECT_EQ(paper.rng_slowdown(), 1.5);
  EXPECT_EQ(paper.hidden_by_fusion(), 0.15);
  const configs::Interference none = model({kPair, "--interference", "none"}).model().interference();
  EXPECT_EQ(none.rng_slowdown(), 1);
  EXPECT_FALSE(none.has_hidden_by_fusion());
}

TEST_F(Model, ComposesWhatTheKernelsAllow) {
  const configs::Result pair = model({kPair, "--interference", "none"});
  EXPECT_THAT(composition_names(pair), ElementsAre("sequential", "overlapped"));
  EXPECT_DOUBLE_EQ(pair.model().compositions(0).total_time_us(), pair.kernels(0).time_us() + pair.kernels(1).time_us());
  EXPECT_DOUBLE_EQ(pair.model().compositions(1).total_time_us(), pair.kernels(0).time_us());  // the longer one
  EXPECT_EQ(pair.model().region(), 2);
  write("s.textproto", small_scenario());
  const configs::Result apart = model({"s.textproto"});
  EXPECT_THAT(composition_names(apart), ElementsAre("sequential"));
  EXPECT_EQ(apart.model().region(), 0);
}

// 528 tiles on 132 SMs, evenly: four for each.
TEST_F(Model, SaysWhatNoPolicyCanBeat) {
  const configs::Result pair = model({kPair, "--interference", "none"});
  EXPECT_EQ(pair.model().any_policy_bound_by(), "wgmma");
  EXPECT_DOUBLE_EQ(pair.model().any_policy_us(), 528.0 * 22 * 8 * 64 / 132 / 1600);
  const auto result = message<configs::Result>({"simulate", kPair, "--set", "policy.kind=CONCURRENT"});
  EXPECT_GE(result.total_time_us(), pair.model().any_policy_us());
}

TEST_F(Model, DividesStoredBits) {
  const configs::StoredBits bits = model({kPair, "--interference", "none", "--gpus", "2", "--segments", "4"}).model().stored_bits();
  EXPECT_EQ(bits.bytes(), 22 * 1024 * 1024 / 8);
  EXPECT_EQ(bits.bytes_per_gpu(), bits.bytes() / 2 / 2);
  EXPECT_EQ(bits.parallelism(), "tensor");
}

TEST_F(Model, PrintsATableForPeopleAndARowForEachLimiterForFiles) {
  EXPECT_THAT(run({"model", kPair, "--interference", "none"}).out,
              AllOf(StartsWith("qkv_philox_small on H100 SXM5 80GB, limiter model\n"), HasSubstr("Compositions"),
                    HasSubstr("Region 2"), HasSubstr("Stored bits: 2.9 MB"), Not(HasSubstr("with stored bits"))));
  EXPECT_THAT(run({"model", kPair, "--interference", "none", "--format", "csv"}).out,
              AllOf(StartsWith("scenario,gpu,kernel,resource,cycles,time_us,slack_cycles\n"), HasSubstr(",qkv,wgmma,45056.0"),
                    HasSubstr(",overlapped,total,")));
}

TEST_F(Model, RefusesWhatItCannotDo) {
  EXPECT_EQ(refusal({kPair, "--interference", "papre"}), "--interference: unknown choice \"papre\"; did you mean \"paper\"?\n");
  EXPECT_EQ(refusal({kPair, "--parallelism", "tensors"}), "--parallelism: unknown choice \"tensors\"; did you mean \"tensor\"?\n");
  EXPECT_EQ(refusal({kPair, "--gpus", "0"}), "--gpus takes a number from 1 to 1048576, not \"0\"\n");
  EXPECT_EQ(refusal({kPair, "--segments", "many"}), "--segments takes a number from 1 to 1048576, not \"many\"\n");
  EXPECT_EQ(refusal({kPair, "--interference", "none", "--gpus", "3"}), "--gpus 3 does not divide the 22 heads of kernel \"rng\"\n");
  EXPECT_EQ(refusal({kPair, "--interference", "none", "--gpus", "3", "--parallelism", "sequence"}),
            "--gpus 3 does not divide the 1024 queries of kernel \"rng\"\n");
  for (const std::string segments : {"3", "2048"}) {
    EXPECT_EQ(refusal({kPair, "--interference", "none", "--segments", segments}),
              "--segments " + segments + ": the 1024 queries of kernel \"rng\" cannot be cut into equal segments\n");
  }
  EXPECT_EQ(refusal({kPair, "--interference", "none", "--gpus", "8", "--parallelism", "sequence", "--segments", "256"}),
            "--segments 256: the 128 queries of each GPU of kernel \"rng\" cannot be cut into equal segments\n");
}

TEST(Pair, LeavesEveryOtherKernelOutAndLetsTheRestMeet) {
  const auto scenario = configs::load_scenario(kPair, {"policy.kind=SEQUENTIAL"});
  ASSERT_TRUE(scenario.has_value());
  configs::Scenario with_attention = *scenario;
  configs::Kernel& attention = *with_attention.add_kernel();
  attention.set_name("attention");
  attention.mutable_flash_attention_3();
  with_attention.mutable_kernel(1)->add_after("attention");
  const configs::Scenario pair = pair_of(with_attention);
  EXPECT_EQ(pair.kernel_size(), 2);
  EXPECT_EQ(pair.kernel(1).after_size(), 0);
  EXPECT_EQ(pair.policy().kind(), configs::CONCURRENT);
}

TEST_F(Model, MeasuresInterferenceBetweenLaunchesUnderEveryPolicy) {
  const std::string block = WARPFOLD_SOURCE_DIR "/configs/scenarios/block_llama3_8b.textproto";
  const std::vector<std::string> small{block, "--set", "seq=512", "--set", "embedding=4096"};
  const auto interference = [&](const std::string& policy) {
    std::vector<std::string> words = small;
    words.insert(words.end(), {"--set", "policy.kind=" + policy});
    return model(words).model().interference();
  };
  const auto concurrent = interference("CONCURRENT");
  EXPECT_GT(concurrent.rng_slowdown(), 1);
  for (const char* policy : {"SEQUENTIAL", "FUSED", "WARP_SPECIALIZED", "PIPELINED"})
    EXPECT_EQ(interference(policy).DebugString(), concurrent.DebugString()) << policy;
}

configs::KernelResult ran(uint64_t start, uint64_t end, uint64_t alone) {
  configs::KernelResult kernel;
  kernel.set_start_cycle(start);
  kernel.set_end_cycle(end);
  kernel.set_cycles(end - start);
  kernel.set_solo_cycles(alone);
  return kernel;
}

// The random numbers run for 300 cycles, 200 of them beside the GEMM, in which they do the work of 100 cycles alone.
TEST(Pair, MeasuresRandomNumbersWhileAGemmRunsAndGemmsOverTheirWholeTime) {
  const auto pair = configs::load_scenario(kPair, {});
  ASSERT_TRUE(pair.has_value());
  configs::Result result;
  *result.add_kernels() = ran(0, 220, 200);
  *result.add_kernels() = ran(20, 320, 200);
  const sim::Interference measured = measured_interference(*pair, result);
  EXPECT_DOUBLE_EQ(measured.gemm_slowdown, 1.1);
  EXPECT_DOUBLE_EQ(measured.rng_slowdown, 2);
}

}  // namespace
}  // namespace warpfold::cli
