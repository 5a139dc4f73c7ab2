// A GEMM with Philox dropout bits beside it, compared with silicon. The model follows the silicon kit's measurements on an H100
// (docs/notebook/silicon.md). The model misses the QKV projection of Ma, Liu and Krashinsky (arXiv 2410.07531): there the GEMM is 4
// % slower, the random numbers 50 %. Taking away 6 % of the registers and 7 % of shared memory costs the GEMM 0.5 %.
// docs/validation/co_run.md explains the differences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

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

// Returns the resource for which the random numbers lose most to the GEMM.
std::string largest_loss(const configs::Result& result) {
  const configs::LedgerEntry* most = nullptr;
  for (const configs::LedgerEntry& entry : result.ledger()) {
    if (entry.victim() != "rng" || entry.culprit() != "qkv") continue;
    if (most == nullptr || entry.warp_cycles() > most->warp_cycles()) most = &entry;
  }
  return most == nullptr ? "" : most->resource();
}

// Known gap (deviations D21, D22): the paper has 1.04 and 1.5.
void expect_both_are_held_up(const configs::Result& result) {
  const configs::KernelResult& gemm = result.kernels(0);
  const configs::KernelResult& rng = result.kernels(1);
  const double beside = slowdown_beside(rng, gemm);
  std::cout << "GEMM " << 100 * (gemm.slowdown_vs_solo() - 1) << " % slower (silicon 4 %), random numbers " << 100 * (beside - 1)
            << " % while it runs (silicon 50 %), " << 100 * (rng.slowdown_vs_solo() - 1) << " % in all\n";
  EXPECT_THAT(gemm.slowdown_vs_solo(), AllOf(Ge(1.15), Le(1.35)));
  EXPECT_THAT(beside, AllOf(Ge(3.0), Le(4.5)));
  EXPECT_EQ(largest_loss(result), "register_write_port");
}

TEST(GemmBesidePhilox, BothAreHeldUpByResults) {
  const configs::Result result = simulate_with_solo(kScenarios + "qkv_philox_llama3_70b.textproto");
  expect_both_are_held_up(result);
  // Alone, the tensor pipe binds the GEMM: it is busy for as many cycles beside the random numbers.
  EXPECT_EQ(result.kernels(0).bound_by(), "wgmma");
  const double sms = static_cast<double>(result.provenance().scenario().gpu().sm_count());
  const double tensor =
      static_cast<double>(resource(result, "wgmma").busy()) / (sms * static_cast<double>(result.kernels(0).solo_cycles()));
  std::cout << "tensor pipe of the GEMM alone: " << 100 * tensor << " %\n";
  EXPECT_THAT(tensor, AllOf(Ge(0.85), Le(0.99)));
}

TEST(GemmBesidePhiloxSmall, BothAreHeldUpByResults) {
  expect_both_are_held_up(simulate_with_solo(kScenarios + "qkv_philox_small.textproto"));
}

// The kit's pair, the GEMM older: in one run the random numbers outlast the GEMM, which gives the GEMM's loss; in the other the
// GEMM outlasts them. Nothing was fitted to these rows.
struct KitRow {
  std::string settings;
  double gemm;
  double rng;
};

std::ostream& operator<<(std::ostream& stream, const KitRow& row) { return stream << row.settings; }

class KitPair : public testing::TestWithParam<KitRow> {};

TEST_P(KitPair, LosesWhatItDoesOnAnH100) {
  const KitRow& row = GetParam();
  const auto slowdown = [&](const std::string& kernel, Settings settings) {
    std::istringstream words(row.settings);
    for (std::string word; words >> word;) settings.push_back(word);
    const configs::Result result = simulate_with_solo(WARPFOLD_SOURCE_DIR "/tests/physics/data/kit_pair_h100.textproto", settings);
    const configs::KernelResult& of = result.kernels(kernel == "gemm" ? 0 : 1);
    const configs::KernelResult& other = result.kernels(kernel == "gemm" ? 1 : 0);
    EXPECT_LT(of.end_cycle(), other.end_cycle());
    return of.slowdown_vs_solo();
  };
  const double gemm = slowdown("gemm", {"k=2048", "seq=12288"});
  const double rng = slowdown("rng", {"k=16384", "seq=4096"});
  std::cout << row.settings << ": GEMM " << gemm << ", measured " << row.gemm << "; random numbers " << rng << ", measured "
            << row.rng << "\n";
  EXPECT_NEAR(gemm, row.gemm, 0.1 * row.gemm);
  EXPECT_NEAR(rng, row.rng, 0.2 * row.rng);
}

INSTANTIATE_TEST_SUITE_P(GemmIsOlder, KitPair,
                         testing::Values(KitRow{"rounds=7 bits=32 warps=1", 1.05, 3.35},
                                         KitRow{"rounds=7 bits=32 warps=2", 1.12, 3.57},
                                         KitRow{"rounds=3 bits=32 warps=1", 1.05, 2.60},
                                         KitRow{"rounds=7 bits=8 warps=1", 0.96, 3.06}));

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
