// Runs that went wrong once, or would without a rule of when a jump may be made.

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "configs/load.h"
#include "sim/plan/run_cache.h"
#include "tests/bounded/mixes.h"
#include "tests/source_dir.h"
#include "workloads/workloads.h"

namespace warpfold {
namespace {

// Draws the machine of a seed under the policy with which these cases were found, since the policy that a seed draws depends on the
// number of policies.
configs::Gpu known_machine(Dice& dice) {
  configs::Gpu gpu = machine(dice);
  gpu.mutable_sub_core()->set_issue_policy(configs::LRR);
  return gpu;
}

// Philox-7 for 1024 x `keys` thresholds of 16 bits, in CTAs of 128 threads.
configs::Kernel random_numbers(uint64_t calls_per_thread, uint64_t keys) {
  configs::Kernel kernel;
  kernel.set_name("rng");
  configs::Philox& philox = *kernel.mutable_philox();
  philox.set_heads(1);
  philox.set_rounds(7);
  philox.set_threshold_bits(16);
  philox.set_threads_per_cta(128);
  philox.set_calls_per_thread(calls_per_thread);
  philox.set_queries(1024);
  philox.set_keys(keys);
  return kernel;
}

// 16 tiles of FP8, one after the other on an SM.
configs::Kernel persistent_gemm() {
  configs::Kernel kernel;
  configs::HopperGemm& shape = *kernel.mutable_hopper_gemm();
  shape.set_type(configs::FP8);
  shape.set_tile_m(128);
  shape.set_tile_n(128);
  shape.set_tile_k(128);
  shape.set_schedule(configs::COOPERATIVE);
  shape.set_persistent(true);
  shape.set_cluster_m(1);
  shape.set_cluster_n(1);
  shape.set_m(2048);
  shape.set_n(128);
  shape.set_k(2048);
  return kernel;
}

// Two SMs differ by one CTA of two hundred, too much for one to represent the other. They share the replay before the first jump,
// but no rate: each SM jumps by its own rate.
TEST(Bounded, ClassesPartBeforeTheyAreMovedOnByTheirRates) {
  Dice dice(1);
  configs::Gpu gpu = known_machine(dice);
  gpu.set_sm_count(2);
  gpu.mutable_sm()->set_cta_launch_cycles(50);
  const configs::Kernel rng = random_numbers(1000, 400'800);
  const traces::Kernel kernel = must(workloads::make_kernel(rng, gpu, "rng"));
  ASSERT_EQ(kernel.ctas() % 2, 1);
  sim::Launch launch;
  launch.kernel = &kernel;
  const std::vector<sim::Launch> launches{launch};
  const sim::FoldOptions fold{.mode = sim::FoldMode::kAuto, .error = 0.002, .sampling_delay = 100'000};
  const sim::Outcome folded = must(sim::simulate(gpu, launches, {.fold = fold}));
  const sim::Outcome replayed = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}}));
  EXPECT_EQ(folded.sms_simulated, 2);
  EXPECT_EQ(folded.fold.mode, sim::Folded::kBounded);
  std::set<uint32_t> jumped;
  for (const sim::FoldedPeriod& period : folded.fold.periods) {
    if (!period.exact) jumped.insert(period.sm_class);
  }
  EXPECT_FALSE(jumped.empty());
  std::string failure;
  EXPECT_LE(compare(folded, replayed, failure).cycles, 0.002);
  EXPECT_EQ(failure, "");
}

// After the first GEMM, random numbers have the SM to themselves for as long as a launch takes, and take the room of the second
// GEMM, which then waits until their CTAs have ended. Their rates in that time do not predict the later rates.
TEST(Bounded, ALaunchThatIsDueIsNotPutOff) {
  struct Case {
    uint32_t kernel_launch, cta_launch;  // cycles
    uint64_t calls;                      // a thread
    bool bounded;                        // there is time for a jump that puts nothing off
  };
  for (const auto& [kernel_launch, cta_launch, calls, bounded] : {Case{200'000, 20, 50, true}, Case{2'000, 1'500, 800, false}}) {
    Dice dice(1);
    configs::Gpu gpu = known_machine(dice);
    gpu.mutable_sm()->set_cta_launch_cycles(cta_launch);
    gpu.set_kernel_launch_cycles(kernel_launch);
    const configs::Kernel rng = random_numbers(calls, 24'000);
    configs::Kernel gemm = persistent_gemm();
    std::vector<traces::Kernel> kernels;
    for (const char* name : {"first", "second"}) {
      gemm.set_name(name);
      kernels.push_back(must(workloads::make_kernel(gemm, gpu, "chain")));
    }
    kernels.push_back(must(workloads::make_kernel(rng, gpu, "chain")));
    std::vector<sim::Launch> launches(3);
    for (size_t l = 0; l < 3; ++l) {
      launches[l].kernel = &kernels[l];
      launches[l].stream = l < 2 ? 0 : 1;
      launches[l].priority = l < 2 ? 1 : 0;
    }
    const sim::FoldOptions fold{.mode = sim::FoldMode::kAuto, .error = 0.05, .sampling_delay = 20'000};
    const sim::Outcome folded = must(sim::simulate(gpu, launches, {.fold = fold}));
    const sim::Outcome replayed = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}}));
    EXPECT_EQ(folded.fold.mode == sim::Folded::kBounded, bounded);
    const auto start = static_cast<double>(replayed.kernels[1].start_cycle);
    EXPECT_NEAR(static_cast<double>(folded.kernels[1].start_cycle), start, 0.05 * start);
    std::string failure;
    EXPECT_LE(compare(folded, replayed, failure).cycles, 0.05);
    EXPECT_EQ(failure, "");
  }
}

// Two GEMMs on an SM of their own: that the second is due there when the first has ended says nothing of the random numbers on
// the other SM.
TEST(Bounded, ALaunchForOtherSmsKeepsNobodyWaiting) {
  Dice dice(1);
  configs::Gpu gpu = known_machine(dice);
  gpu.set_sm_count(2);
  gpu.set_kernel_launch_cycles(1'500);
  const configs::Kernel rng = random_numbers(50, 24'000);
  configs::Kernel gemm = persistent_gemm();
  std::vector<traces::Kernel> kernels;
  for (const char* name : {"first", "second"}) {
    gemm.set_name(name);
    gemm.mutable_hopper_gemm()->set_k(kernels.empty() ? 65536 : 2048);
    kernels.push_back(must(workloads::make_kernel(gemm, gpu, "chain")));
  }
  kernels.push_back(must(workloads::make_kernel(rng, gpu, "chain")));
  std::vector<sim::Launch> launches(kernels.size());
  for (size_t l = 0; l < launches.size(); ++l) {
    const bool random = l + 1 == launches.size();
    launches[l].kernel = &kernels[l];
    launches[l].stream = random ? 1 : 0;
    launches[l].sms = {random ? 0U : 1U, 1};
  }
  const sim::FoldOptions fold{.mode = sim::FoldMode::kAuto, .error = 0.05, .sampling_delay = 20'000};
  const sim::Outcome folded = must(sim::simulate(gpu, launches, {.fold = fold}));
  const sim::Outcome replayed = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}}));
  EXPECT_LT(replayed.kernels[2].end_cycle, replayed.kernels[1].start_cycle);
  EXPECT_EQ(folded.fold.mode, sim::Folded::kBounded);
  std::string failure;
  EXPECT_LE(compare(folded, replayed, failure).cycles, 0.05);
  EXPECT_EQ(failure, "");
}

// Causal attention's CTAs stay and go round one loop for each length of their tiles; its rounds are counted within each.
TEST(Bounded, TilesOfManyLengthsBesideRandomNumbers) {
  Dice dice(1);
  const configs::Gpu gpu = known_machine(dice);
  configs::Kernel attention;
  attention.set_name("attention");
  configs::AttentionShape& shape = *attention.mutable_flash_attention_3()->mutable_shape();
  shape.set_type(configs::FP16);
  shape.set_batch(1);
  shape.set_heads(60);
  shape.set_queries(512);
  shape.set_keys(512);
  shape.set_head_dim(128);
  shape.set_causal(true);
  const configs::Kernel rng = random_numbers(20, 39'000);
  const std::vector<traces::Kernel> kernels{must(workloads::make_kernel(attention, gpu, "pair")),
                                            must(workloads::make_kernel(rng, gpu, "pair"))};
  std::vector<sim::Launch> launches(2);
  for (size_t l = 0; l < 2; ++l) {
    launches[l].kernel = &kernels[l];
    launches[l].stream = static_cast<int>(l);
    launches[l].priority = l == 0 ? 1 : 0;
  }
  const sim::FoldOptions fold{.mode = sim::FoldMode::kAuto, .error = 0.05, .sampling_delay = 10'000};
  const sim::Outcome folded = must(sim::simulate(gpu, launches, {.fold = fold}));
  const sim::Outcome replayed = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}}));
  EXPECT_EQ(folded.fold.mode, sim::Folded::kBounded);
  std::string failure;
  EXPECT_LE(compare(folded, replayed, failure).cycles, 0.05);
  EXPECT_EQ(failure, "");
}

// Attention with a mask has CTAs of as many lengths as rows of tiles. SMs with equal work may end at different times because of the
// order of their CTAs, by 5.9 % and 1.8 % here. If the difference may exceed the error, an SM may represent only few others;
// otherwise most SMs need not be simulated.
TEST(Bounded, CtasOfSeveralLengthsInAnotherOrder) {
  struct Case {
    const char* gpu;
    uint32_t heads;
    uint64_t tokens;
    double error;
  };
  for (const Case& each : {Case{"a100_sxm", 64, 512, 0.002}, Case{"h100_sxm", 320, 256, 0.01}, Case{"h100_sxm", 1280, 256, 0.05}}) {
    const configs::Gpu gpu = must(configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/" + std::string(each.gpu) + ".textproto"));
    configs::Kernel attention;
    attention.set_name("attention");
    configs::AttentionShape& shape = *attention.mutable_flash_attention_2()->mutable_shape();
    shape.set_type(configs::FP16);
    shape.set_batch(1);
    shape.set_heads(each.heads);
    shape.set_queries(each.tokens);
    shape.set_keys(each.tokens);
    shape.set_head_dim(128);
    shape.set_causal(true);
    const traces::Kernel kernel = must(workloads::make_kernel(attention, gpu, "mask"));
    sim::Launch launch;
    launch.kernel = &kernel;
    const std::vector<sim::Launch> launches{launch};
    const sim::Outcome exact = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact}}));
    const sim::Outcome folded = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kAuto, .error = each.error}}));
    std::string failure;
    EXPECT_LE(compare(folded, exact, failure).cycles, folded.fold.error_bound) << each.heads << " heads";
    EXPECT_EQ(failure, "");
  }
}

// A run for which no error bound can be kept is replayed, or simulated on every class of SMs. The cases are random numbers that
// wait for the room of other kernels, a GEMM that waits for room reserved for random numbers, and tiles of several lengths beside
// random numbers.
TEST(Bounded, LaunchesThatWantEachOthersRoom) {
  struct Case {
    const char* gpu;
    uint32_t sms;
    double error;
    std::array<const char*, 2> kernels;
    uint32_t reserved_warps;  // for the second
  };
  for (const Case& each : {
           Case{"a100_sxm",
                4,
                0.01,
                {"priority: 0 philox { heads: 1 queries: 64 keys: 518848 rounds: 3 threshold_bits: 8 threads_per_cta: 64 "
                 "calls_per_thread: 30 }",
                 "priority: 0 philox { heads: 1 queries: 64 keys: 23936 rounds: 7 threshold_bits: 32 threads_per_cta: 64 "
                 "ctas_per_sm: 8 }"},
                0},
           Case{"h100_sxm",
                16,
                0.01,
                {"hopper_gemm { m: 1408 n: 384 k: 256 type: FP8 output_type: BF16 tile_m: 128 tile_n: 128 tile_k: 128 "
                 "schedule: COOPERATIVE persistent: true cluster_m: 1 cluster_n: 1 swizzle: 8 registers_per_thread: 160 "
                 "shared_memory_limit_bytes: 216064 }",
                 "philox { heads: 1 queries: 64 keys: 775168 rounds: 5 threshold_bits: 32 threads_per_cta: 128 "
                 "calls_per_thread: 16 }"},
                4},
           Case{"a100_sxm",
                12,
                0.05,
                {"flash_attention_2 { shape { batch: 1 heads: 35 queries: 384 head_dim: 64 type: FP16 causal: true } }",
                 "philox { heads: 1 queries: 64 keys: 173376 rounds: 7 threshold_bits: 32 threads_per_cta: 128 "
                 "calls_per_thread: 4 }"},
                0},
       }) {
    configs::Gpu gpu = must(configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/" + std::string(each.gpu) + ".textproto"));
    gpu.set_sm_count(each.sms);
    std::vector<traces::Kernel> kernels;
    for (const char* text : each.kernels) {
      configs::Kernel kernel;
      ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &kernel)) << text;
      kernel.set_name(kernels.empty() ? "one" : "other");
      kernels.push_back(must(workloads::make_kernel(kernel, gpu, "pair")));
    }
    std::vector<sim::Launch> launches(2);
    for (int l = 0; l < 2; ++l) {
      launches[l].kernel = &kernels[l];
      launches[l].stream = l;
    }
    launches[1].reserved = each.reserved_warps > 0;
    launches[1].reserved_warps = each.reserved_warps;
    launches[1].reserved_registers = launches[1].reserved ? gpu.sm().registers() / 4 : 0;
    const sim::Outcome exact = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact}}));
    const sim::Outcome folded = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kAuto, .error = each.error}}));
    std::string failure;
    EXPECT_LE(compare(folded, exact, failure).cycles, each.error) << each.kernels[0];
    EXPECT_EQ(failure, "");
  }
}

// Stores of a GEMM's tiles do not wait for DRAM until L2 holds its maximum of dirty bytes, half of the run later: the earlier rate
// does not predict the later rate.
TEST(Bounded, WhatWaitsToBeWrittenBackFillsL2) {
  Dice dice(1);
  configs::Gpu gpu = known_machine(dice);
  gpu.mutable_dram()->set_bandwidth_gb_per_s(25);
  gpu.mutable_l2()->set_dirty_bytes(1'000'000);
  configs::Kernel gemm = persistent_gemm();
  gemm.set_name("gemm");
  configs::HopperGemm& shape = *gemm.mutable_hopper_gemm();
  shape.set_m(uint64_t{128} * 80);
  shape.set_n(128);
  shape.set_k(2048);
  const traces::Kernel kernel = must(workloads::make_kernel(gemm, gpu, "gemm"));
  sim::Launch launch;
  launch.kernel = &kernel;
  const std::vector<sim::Launch> launches{launch};
  const sim::Outcome folded = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kAuto, .error = 0.002}}));
  const sim::Outcome replayed = must(sim::simulate(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}}));
  EXPECT_EQ(folded.fold.mode, sim::Folded::kBounded);
  std::string failure;
  EXPECT_LE(compare(folded, replayed, failure).cycles, 0.002);
  EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace warpfold
