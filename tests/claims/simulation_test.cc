// Ma, Liu and Krashinsky (arXiv 2410.07531): statements about a transformer block on silicon, compared with simulations of
// configs/scenarios/block_*.textproto. Llama-3-like is embedding and sequence 8192, GPT-4-like 16384 and 16384: the paper gives no
// shapes. Nothing in the machine or the workloads is fitted to these figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "configs/load.h"
#include "tests/claims/claim.h"
#include "tests/source_dir.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::test {
namespace {

using Settings = std::vector<std::string>;

template <typename Value, typename Error>
Value value_of(std::expected<Value, Error> expected) {
  if (expected) return std::move(*expected);
  if constexpr (std::is_same_v<Error, Diagnostic>)
    throw std::runtime_error(expected.error().text());
  else
    throw std::runtime_error(expected.error().text);
}

// By policy. As the command does it; every set of settings is simulated once.
const std::map<std::string, configs::Result>& block(const std::string& name, const Settings& settings = {}) {
  static std::map<std::pair<std::string, Settings>, std::map<std::string, configs::Result>> known;
  auto& results = known[{name, settings}];
  if (!results.empty()) return results;
  const std::string file = WARPFOLD_SOURCE_DIR "/configs/scenarios/block_" + name + ".textproto";
  workloads::KernelMaker kernels(file);
  std::vector<cli::Planned> planned;
  for (const char* policy : {"SEQUENTIAL", "CARVE_OUT", "FUSED"}) {
    Settings all = settings;
    all.push_back(std::string("policy.kind=") + policy);
    planned.push_back(value_of(cli::plan_scenario(value_of(configs::load_scenario(file, all)), kernels)));
  }
  cli::RunOptions how;
  how.jobs = 2;
  for (configs::Result& result : value_of(cli::Runner(kernels, "", how).run(planned))) results[result.policy()] = std::move(result);
  return results;
}

double speedup(const std::map<std::string, configs::Result>& results, const std::string& of, const std::string& over) {
  return results.at(over).total_time_us() / results.at(of).total_time_us();
}

const configs::KernelResult& kernel(const configs::Result& result, const std::string& name) {
  return *std::ranges::find(result.kernels(), name, &configs::KernelResult::name);
}

// Every dropout is simulated once.
double attention_us(const std::string& dropout) {
  static std::map<std::string, double> known;
  const auto at = known.find(dropout);
  if (at != known.end()) return at->second;
  const std::string file = WARPFOLD_SOURCE_DIR "/configs/scenarios/flash_attention_3_dropout_h100.textproto";
  const std::string path = "kernel.attention.flash_attention_3.";
  const Settings settings{path + "shape.type=FP8", path + "tile_keys=128", path + "shape.threshold_bits=32",
                          path + "shape.dropout=" + dropout};
  workloads::KernelMaker kernels(file);
  const cli::Planned planned = value_of(cli::plan_scenario(value_of(configs::load_scenario(file, settings)), kernels));
  return known[dropout] = value_of(cli::Runner(kernels, "", {}).run({planned})).front().total_time_us();
}

// ---- met

TEST(SimulatedBlock, TwiceTheTensorThroughputRaisesTheSpeedUpAtShortSequences) {
  const Settings small{"seq=4096"};
  const Settings fast{"seq=4096", "sm.tensor.scale=2"};
  const double before = speedup(block("llama3_70b", small), "CARVE_OUT", "SEQUENTIAL");
  const double after = speedup(block("llama3_70b", fast), "CARVE_OUT", "SEQUENTIAL");
  expect_between({"speed-up with twice the tensor throughput over that without, 4K, simulated", 1, after / before}, 1, 2);
}

TEST(SimulatedAttention, DroppingElementsCosts12PercentWithin6Points) {
  const double cost = attention_us("STORED_BITS") / attention_us("NONE") - 1;
  expect_between({"dropping elements costs attention, simulated", 0.12, cost}, 0.06, 0.18);
}

TEST(SimulatedAttention, FusedDropoutAboutDoublesItBetween1Point7And2Point3) {
  expect_between({"fused dropout over attention, simulated", 2, attention_us("FUSED_PHILOX") / attention_us("NONE")}, 1.7, 2.3);
}

// Region 3 begins before this shape.
TEST(SimulatedBlock, RandomNumbersOutlastTheGemmsAtEmbedding6KAndSequence16K) {
  const configs::Result& result = block("llama3_70b", {"embedding=6144", "seq=16384"}).at("CARVE_OUT");
  const double ratio =
      static_cast<double>(kernel(result, "rng").end_cycle()) / static_cast<double>(kernel(result, "qkv").end_cycle());
  expect_between({"random numbers end behind the GEMMs at 6K/16K, simulated", 1, ratio}, 1, 10);
}

// ---- not met; docs/validation/paper.md has the mechanisms suspected

// Random numbers that multiply by IMAD.WIDE slow wgmma down, and it them, as measured on an H100 (docs/validation/co_run.md).
TEST(SimulatedBlock, ListsOverlapOverSequentialOfALlama3LikeBlock) {
  expect_listed_miss(
      {"overlap over sequential, Llama-3-like, simulated", 1.26, speedup(block("llama3_70b"), "CARVE_OUT", "SEQUENTIAL")}, 1.20,
      1.32);
}

TEST(SimulatedBlock, ListsOverlapOverFusionOfALlama3LikeBlock) {
  expect_listed_miss({"overlap over fusion, Llama-3-like, simulated", 1.22, speedup(block("llama3_70b"), "CARVE_OUT", "FUSED")},
                     1.16, 1.28);
}

TEST(SimulatedBlock, ListsOverlapOverSequentialOfAGpt4LikeBlock) {
  expect_listed_miss(
      {"overlap over sequential, GPT-4-like, simulated", 1.25, speedup(block("gpt4_like"), "CARVE_OUT", "SEQUENTIAL")}, 1.19, 1.31);
}

TEST(SimulatedBlock, ListsOverlapOverFusionOfAGpt4LikeBlock) {
  expect_listed_miss({"overlap over fusion, GPT-4-like, simulated", 1.20, speedup(block("gpt4_like"), "CARVE_OUT", "FUSED")}, 1.14,
                     1.26);
}

TEST(SimulatedBlock, ListsWhatFusionHides) {
  const auto& results = block("llama3_70b");
  const configs::Result& apart = results.at("SEQUENTIAL");
  const double rng = kernel(apart, "rng").time_us();
  const double hidden = (kernel(apart, "attention").time_us() + rng - kernel(results.at("FUSED"), "attention").time_us()) / rng;
  expect_listed_miss({"share of random numbers that fusion hides, simulated", 0.15, hidden}, 0.0, 0.3);
}

// The default of CUTLASS and cuBLASLt; the paper does not say how its GEMMs keep their sums.
TEST(SimulatedBlock, ListsOverlapOverSequentialOfALlama3LikeBlockWithPromotedSums) {
  Settings promoted;
  for (const char* gemm : {"proj", "fc1", "fc2", "qkv"})
    promoted.push_back(std::string("kernel.") + gemm + ".hopper_gemm.fp8_accumulation=PROMOTED");
  expect_listed_miss({"overlap over sequential, Llama-3-like, promoted sums, simulated", 1.26,
                      speedup(block("llama3_70b", promoted), "CARVE_OUT", "SEQUENTIAL")},
                     1.20, 1.32);
}

TEST(SimulatedBlock, ListsFirstLimiters) {
  const configs::Result& apart = block("llama3_70b").at("SEQUENTIAL");
  expect_listed_miss("random numbers' busiest resource, simulated", {"issue_slot", "alu"}, kernel(apart, "rng").bound_by());
  // The paper has issue bind attention. Here its issue slots are busy for less than 60 % of its time, so that no resource binds it:
  // its warps issue and wait for fixed latencies.
  const configs::KernelResult& attention = kernel(apart, "attention");
  const configs::Gpu& gpu = apart.provenance().scenario().gpu();
  const double slots = static_cast<double>(attention.cycles()) * gpu.sm_count() * gpu.sm().sub_cores();
  EXPECT_LT(static_cast<double>(attention.instructions_issued()) / slots, 0.6);
  EXPECT_EQ(attention.bound_by(), "clock");
  EXPECT_EQ(kernel(apart, "fc1").bound_by(), "wgmma");
}

// Averages of the paper over GEMMs that it does not name, shown with the losses of the kernels to each other.
TEST(SimulatedBlock, ListsTheSlowdownsAndShowsTheirCauses) {
  const configs::Result& result = block("llama3_70b").at("CARVE_OUT");
  double gemm = 0;
  double alone = 0;
  for (const char* name : {"proj", "fc1", "fc2", "qkv"}) {
    gemm += static_cast<double>(kernel(result, name).cycles());
    alone += static_cast<double>(kernel(result, name).solo_cycles());
  }
  expect_listed_miss({"GEMMs beside random numbers, simulated", 1.04, gemm / alone}, 1, 1.1);
  expect_listed_miss({"random numbers beside GEMMs, simulated", 1.5, kernel(result, "rng").slowdown_vs_solo()}, 1, 2.5);
  uint64_t lost = 0;
  for (const configs::LedgerEntry& entry : result.ledger()) {
    if (entry.victim() == entry.culprit()) continue;
    lost += entry.warp_cycles();
    const double share =
        static_cast<double>(entry.warp_cycles()) / static_cast<double>(kernel(result, entry.victim()).resident_warp_cycles());
    if (share >= 0.005)
      std::cout << "  " << entry.victim() << " lost " << 100 * share << " % of its warp-cycles to " << entry.culprit() << " on "
                << entry.resource() << "\n";
  }
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace warpfold::test
