// The QKV projection of a Llama-3-70B-like block with Philox dropout bits beside it, against silicon.
// Source: Ma, Liu and Krashinsky, arXiv 2410.07531: the GEMM is 4 % slower, the random numbers 50 %; 6 % of the registers and 7 %
// of shared memory taken away cost the GEMM 0.5 %. Required is the sign and the order of magnitude: docs/validation/co_run.md says
// where the differences come from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/physics/support.h"
#include "tests/source_dir.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

const std::string kScenarios = WARPFOLD_SOURCE_DIR "/configs/scenarios/";

// How much slower random numbers are made while the GEMM runs: those left over when it ends are made at full speed.
//
//   GEMM ends at 3.69, the kernel at 5.82, alone it takes 4.26: 2.13 were left, 2.13 of 4.26 were made in 3.69: 1.73 times slower
double slowdown_beside(const configs::KernelResult& rng, const configs::KernelResult& gemm) {
  const auto alone = static_cast<double>(rng.solo_cycles());
  if (rng.end_cycle() <= gemm.end_cycle()) return rng.slowdown_vs_solo();
  const auto left = static_cast<double>(rng.end_cycle() - gemm.end_cycle());
  return static_cast<double>(gemm.end_cycle()) / (alone - left);
}

// What the random numbers lose most to the GEMM.
std::string largest_loss(const configs::Result& result) {
  const configs::LedgerEntry* most = nullptr;
  for (const configs::LedgerEntry& entry : result.ledger()) {
    if (entry.victim() != "rng" || entry.culprit() != "qkv") continue;
    if (most == nullptr || entry.warp_cycles() > most->warp_cycles()) most = &entry;
  }
  return most == nullptr ? "" : most->resource();
}

void expect_as_on_silicon(const configs::Result& result) {
  const configs::KernelResult& gemm = result.kernels(0);
  const configs::KernelResult& rng = result.kernels(1);
  const double beside = slowdown_beside(rng, gemm);
  std::cout << "GEMM " << 100 * (gemm.slowdown_vs_solo() - 1) << " % slower (silicon 4 %), random numbers " << 100 * (beside - 1)
            << " % while it runs (silicon 50 %), " << 100 * (rng.slowdown_vs_solo() - 1) << " % in all\n";
  // Known gap (deviation D22): the GEMM's warps are older, so that it loses next to nothing.
  EXPECT_THAT(gemm.slowdown_vs_solo(), AllOf(Ge(0.995), Le(1.01)));
  EXPECT_THAT(beside, AllOf(Ge(1.25), Le(1.75)));  // silicon 1.5 within 0.25
  EXPECT_EQ(largest_loss(result), "issue_slot");
}

TEST(GemmBesidePhilox, SlowsDownAsOnSilicon) {
  const configs::Result result = simulate_with_solo(kScenarios + "qkv_philox_llama3_70b.textproto");
  expect_as_on_silicon(result);
  // Alone, the tensor pipe binds the GEMM: it is busy for as many cycles beside the random numbers.
  EXPECT_EQ(result.kernels(0).bound_by(), "wgmma");
  const double sms = static_cast<double>(result.provenance().scenario().gpu().sm_count());
  const double tensor =
      static_cast<double>(resource(result, "wgmma").busy()) / (sms * static_cast<double>(result.kernels(0).solo_cycles()));
  std::cout << "tensor pipe of the GEMM alone: " << 100 * tensor << " %\n";
  EXPECT_THAT(tensor, AllOf(Ge(0.85), Le(0.99)));
}

TEST(GemmBesidePhiloxSmall, SlowsDownAsOnSilicon) {
  expect_as_on_silicon(simulate_with_solo(kScenarios + "qkv_philox_small.textproto"));
}

// The promoted sums are what the GEMM is slowed down by: summed in the tensor core it hardly notices its neighbour.
TEST(GemmBesidePhiloxSmall, IsNotSlowedDownWhereTheTensorCoreKeepsTheSums) {
  const configs::Result result =
      simulate_with_solo(kScenarios + "qkv_philox_small.textproto", {"kernel.qkv.hopper_gemm.fp8_accumulation=FAST"});
  EXPECT_THAT(result.kernels(0).slowdown_vs_solo(), AllOf(Ge(0.97), Le(1.01)));
}

// Without the reservation: the launch bound and the shared memory of a GEMM that has the SM to itself.
TEST(GemmAloneSmall, GivesUpTheCarveOutForLessThanTwoPercent) {
  const auto cycles = [](const Settings& settings) {
    Settings all = {"policy.kind=SEQUENTIAL"};
    all.insert(all.end(), settings.begin(), settings.end());
    return static_cast<double>(simulate(kScenarios + "qkv_philox_small.textproto", all).kernels(0).cycles());
  };
  const double carved = cycles({});
  const double whole =
      cycles({"kernel.qkv.hopper_gemm.registers_per_thread=168", "kernel.qkv.hopper_gemm.shared_memory_limit_bytes=0"});
  EXPECT_THAT(carved / whole, AllOf(Ge(1.0), Le(1.02)));
}

}  // namespace
}  // namespace warpfold::test
