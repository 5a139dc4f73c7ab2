#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/load.h"
#include "sim/gpu/simulate.h"
#include "support.h"
#include "tests/source_dir.h"
#include "workloads/policies/cache_shares.h"
#include "workloads/policies/plan.h"

// The shares of L1 and L2 that kernels have when they run side by side.

namespace warpfold::policies {
namespace {

using testing::ElementsAre;

TEST(PartsOfCache, AreAsRatesAndNoMoreThanIsTouched) {
  EXPECT_THAT(parts_of_cache(96, {{1, 200}, {1, 200}}), ElementsAre(48, 48));
  EXPECT_THAT(parts_of_cache(96, {{3, 200}, {1, 200}}), ElementsAre(72, 24));
  EXPECT_THAT(parts_of_cache(96, {{1, 40}, {1, 80}}), ElementsAre(40, 56));
  EXPECT_THAT(parts_of_cache(96, {{1, 20}, {1, 30}}), ElementsAre(20, 30));
  EXPECT_THAT(parts_of_cache(96, {{1, 200}, {0, 200}}), ElementsAre(96, 0));
}

// Copies of `kib` KB by each CTA, one on every SM of an RTX 5090, whose L1 has 120 KB beside the system's share of two CTAs.
configs::Scenario two_copies(uint64_t kib, const std::string& policy) {
  const std::string stride = "131072";
  std::string text;
  for (const char* name : {"a", "b"}) {
    text += std::string("kernel { name: \"") + name + "\" stream: " + (*name == 'a' ? "0" : "1") +
            " listing { path: \"../kernels/one_resource_sm_89.sass\" description { function: \"copy_by_cta\" "
            "architecture: \"sm_89\" runs_on: \"sm_120\" grid { x: 170 } block { x: 64 } array { name: \"in\" bytes: 22282240 } "
            "array { name: \"out\" bytes: 22282240 } parameter { array: \"in\" } parameter { array: \"out\" } "
            "parameter { value: " +
            std::to_string(kib * 256) + " bytes: 8 } parameter { value: 100 bytes: 8 } parameter { value: 32768 } } } }\n";
  }
  configs::Scenario scenario;
  EXPECT_TRUE(configs::parse_text("copies", text + "policy { kind: " + policy + " }", scenario));
  *scenario.mutable_gpu() = configs::load_gpu(std::string(WARPFOLD_SOURCE_DIR) + "/configs/gpus/rtx_5090.textproto").value();
  return scenario;
}

Plan planned(const configs::Scenario& scenario) {
  workloads::KernelMaker kernels(std::string(WARPFOLD_SOURCE_DIR) + "/configs/scenarios/copies.textproto");
  return make_plan(scenario, kernels).value();
}

// Most loads go on to L2.
bool loads_pass_l1(const std::vector<traces::MemoryStream>& streams) {
  return std::ranges::any_of(
      streams, [](const traces::MemoryStream& stream) { return !stream.write && 2 * stream.l1_numerator < stream.l1_denominator; });
}

TEST(CacheShares, TwoCopiesOfOneSmHaveHalfOfItsL1Each) {
  const Plan fits = planned(two_copies(24, "CONCURRENT"));
  EXPECT_FALSE(loads_pass_l1(fits.kernels[0].beside));
  const Plan does_not = planned(two_copies(40, "CONCURRENT"));
  for (const PlannedKernel& kernel : does_not.kernels) {
    EXPECT_TRUE(loads_pass_l1(kernel.beside));
    EXPECT_FALSE(loads_pass_l1(kernel.kernel.streams));
  }
}

TEST(CacheShares, OneAfterTheOtherAndOnOtherSmsHaveL1ToThemselves) {
  for (const char* policy : {"SEQUENTIAL", "SM_PARTITION"}) {
    configs::Scenario scenario = two_copies(40, policy);
    for (configs::Kernel& kernel : *scenario.mutable_kernel())
      kernel.mutable_listing()->mutable_description()->mutable_grid()->set_x(85);  // a CTA on every SM of a half
    for (const PlannedKernel& kernel : planned(scenario).kernels) {
      EXPECT_FALSE(loads_pass_l1(kernel.kernel.streams)) << policy;
      EXPECT_FALSE(loads_pass_l1(kernel.beside)) << policy;
    }
  }
}

struct Traffic {
  uint64_t cycles = 0;    // of the whole run
  uint64_t l2_bytes = 0;  // that L2 served to the first kernel

  bool operator==(const Traffic&) const = default;
};

Traffic traffic(const configs::Scenario& scenario, sim::FoldMode mode = sim::FoldMode::kAuto, bool all_sms = false) {
  const Plan plan = planned(scenario);
  std::vector<sim::Launch> launches;
  for (const PlannedKernel& kernel : plan.kernels) launches.push_back({kernel, &kernel.kernel});
  sim::Options options{.serialise = plan.serialise, .all_sms = all_sms};
  options.fold.mode = mode;
  const sim::Outcome outcome = sim::simulate(scenario.gpu(), launches, options).value();
  return {outcome.total_cycles, outcome.kernels.front().l2_bytes_served};
}

configs::Scenario with_trips(configs::Scenario scenario, int kernel, uint64_t trips) {
  scenario.mutable_kernel(kernel)->mutable_listing()->mutable_description()->mutable_parameter(3)->set_value(trips);
  return scenario;
}

// A kernel loses its hits in L1 while the other kernel is there, and no longer.
TEST(CacheShares, EndWithTheOtherKernel) {
  const auto loaded = [](const configs::Scenario& scenario) {
    const uint64_t stored = uint64_t{170} * 40 * 1024 * 100;
    return static_cast<double>(traffic(scenario).l2_bytes - stored);
  };
  const double alone = loaded(two_copies(40, "SEQUENTIAL"));
  const double beside = loaded(with_trips(two_copies(40, "CONCURRENT"), 1, 400)) - alone;
  const double meets = loaded(with_trips(two_copies(40, "CONCURRENT"), 1, 20)) - alone;
  EXPECT_GT(beside, 40 * alone);
  EXPECT_NEAR(meets / beside, 0.2, 0.04) << "both pass 20 times side by side, then the first one 80 times by itself";
}

// The end of a launch reaches every SM in the same cycle, whether SMs run by themselves, skip time, or meet in the chip's memory.
TEST(CacheShares, EndInTheSameCycleFoldedReplayedAndOnEverySm) {
  for (const char* policy : {"CONCURRENT", "SM_PARTITION"}) {
    configs::Scenario scenario = with_trips(two_copies(40, policy), 1, 20);
    scenario.mutable_gpu()->set_sm_count(8);
    for (configs::Kernel& kernel : *scenario.mutable_kernel())
      kernel.mutable_listing()->mutable_description()->mutable_grid()->set_x(8);
    scenario.mutable_gpu()->mutable_l2()->set_bytes(800 * 1024);  // one kernel fits, two do not
    EXPECT_FALSE(planned(scenario).kernels.front().beside.empty()) << policy;
    const Traffic replayed = traffic(scenario, sim::FoldMode::kOff);
    EXPECT_EQ(traffic(scenario, sim::FoldMode::kExact), replayed) << policy;
    EXPECT_EQ(traffic(scenario, sim::FoldMode::kOff, true), replayed) << policy;
  }
}

// The requests of a kernel do not depend on the caches that it gets.
TEST(CacheShares, LeaveTheRequestedBytesAsTheyAre) {
  const Plan alone = planned(two_copies(40, "SEQUENTIAL"));
  const Plan together = planned(two_copies(40, "CONCURRENT"));
  EXPECT_EQ(alone.kernels[0].kernel, together.kernels[0].kernel);
}

}  // namespace
}  // namespace warpfold::policies
