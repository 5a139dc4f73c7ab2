// The largest limiter is a lower bound on simulated time: of random programs on random machines, alone and beside others, and of
// every scenario in the repository.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "configs/load.h"
#include "sim/analytic/limiters.h"
#include "tests/source_dir.h"
#include "tests/support/random_programs.h"
#include "workloads/workloads.h"

namespace warpfold::test {
namespace {

void never_faster_than_its_limiters(const Scenario& scenario, bool all_sms) {
  RC_LOG(scenario.describe());
  const auto simulated = sim::simulate(scenario.gpu, scenario.launches, {.serialise = scenario.serialise, .all_sms = all_sms});
  RC_ASSERT(simulated.has_value());
  RC_PRE(!simulated->deadlocked);
  std::vector<const traces::Kernel*> kernels;
  for (const sim::Launch& each : scenario.launches) kernels.push_back(each.kernel);
  const auto together = sim::limiters_of_any_policy(scenario.gpu, kernels);
  RC_ASSERT(together.has_value());
  const double total = static_cast<double>(simulated->total_cycles) * (1 + simulated->fold.error_bound);
  RC_LOG(text({"together ", std::to_string(together->lower_bound()), " of ", std::to_string(total), "\n"}));
  RC_ASSERT(total >= together->lower_bound());
  for (size_t k = 0; k < scenario.launches.size(); ++k) {
    const sim::KernelCounters& kernel = simulated->kernels[k];
    const double cycles = static_cast<double>(kernel.end_cycle - kernel.start_cycle) * (1 + simulated->fold.error_bound);
    const auto limiters = sim::limiters_of(scenario.gpu, *scenario.launches[k].kernel);
    RC_ASSERT(limiters.has_value());
    for (const sim::Limiter& limiter : limiters->all()) {
      RC_LOG(text({limiter.resource, " ", std::to_string(limiter.cycles), " less ", std::to_string(limiter.slack), " of ",
                   std::to_string(cycles), "\n"}));
      RC_ASSERT(cycles >= limiter.cycles - limiter.slack);
    }
  }
}

RC_GTEST_PROP(RandomPrograms, AreNeverFasterThanTheirLimiters, ()) { never_faster_than_its_limiters(any_scenario(), one_in(2)); }

RC_GTEST_PROP(RecurringPrograms, AreNeverFasterThanTheirLimiters, ()) {
  never_faster_than_its_limiters(any_recurring_scenario(), false);
}

RC_GTEST_PROP(ScaledMachines, AreNeverFasterThanTheirLimiters, ()) {
  Scenario scenario = one_in(2) ? any_scenario() : any_recurring_scenario();
  RC_LOG(scale_machine(scenario.gpu));
  never_faster_than_its_limiters(scenario, false);
}

// Both estimators count the same things: the busy cycles of one SM are the limiters' demand on it.
RC_GTEST_PROP(RandomPrograms, AskForWhatASimulationSeesUsed, ()) {
  Scenario scenario = any_scenario();
  scenario.gpu.set_sm_count(1);
  const auto simulated = sim::simulate(scenario.gpu, {launch(scenario.kernels[0])});
  RC_ASSERT(simulated.has_value());
  RC_PRE(!simulated->deadlocked);
  const auto limiters = sim::limiters_of(scenario.gpu, scenario.kernels[0]);
  RC_ASSERT(limiters.has_value());
  for (const sim::ResourceUse& use : simulated->resources) {
    // FMA lite is held by others' instructions too, register reads are those of one bank, and L2 keeps dirty bytes from DRAM.
    if (use.name == "fma_lite" || use.name == "register_read_ports" || use.name == "dram") continue;
    const double asked =
        limiters->cycles_of(use.name) * static_cast<double>(use.capacity) / static_cast<double>(simulated->total_cycles);
    RC_LOG(text({use.name, " asked ", std::to_string(asked), " used ", std::to_string(use.busy), "\n"}));
    RC_ASSERT(std::abs(asked - static_cast<double>(use.busy)) <= 1e-3 * asked);
  }
}

// Loads of several sizes, each executed once or a few times by a CTA, of which L1 serves a share of the requests.
RC_GTEST_PROP(LoadsInL1, AreNeverFasterThanTheirLimiters, ()) {
  Lines lines;
  const int loads = *rc::gen::inRange(1, 12);
  for (int i = 0; i < loads; ++i) {
    const std::string effect = text({"bytes=", std::to_string(32 * *rc::gen::inRange(1, 33)), " stream=", one_in(3) ? "1" : "0"});
    lines.push_back(op("LDG.E R8, [R2.64]", {.stall = 1, .write = i % 6}, effect));
  }
  const uint64_t of = *rc::gen::inRange<uint64_t>(1, 3000);
  const std::string hits =
      text({"stream x read dram=1/1 l1=", std::to_string(*rc::gen::inRange<uint64_t>(0, of + 1)), "/", std::to_string(of)});
  Scenario scenario;
  scenario.gpu = one_sm("a100_sxm");
  scenario.gpu.set_sm_count(*rc::gen::inRange<uint32_t>(1, 4));
  scenario.kernels.push_back(KernelText("k", "sm_80")
                                 .ctas(*rc::gen::inRange<uint64_t>(1, 2000))
                                 .declare(hits)
                                 .declare("stream y read dram=0/1 l1=1/2")
                                 .role("r", 4, loop(*rc::gen::inRange<uint64_t>(1, 5), lines))
                                 .kernel());
  scenario.launches.push_back(launch(scenario.kernels.front()));
  never_faster_than_its_limiters(scenario, one_in(2));
}

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(WARPFOLD_SOURCE_DIR "/configs/scenarios")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class ScenarioFiles : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(ScenarioFiles, AreNeverFasterThanTheirLimiters) {
  const auto scenario = configs::load_scenario(GetParam().string(), {});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  for (const configs::Kernel& described : scenario->kernel()) {
    const auto kernel = workloads::make_kernel(described, scenario->gpu(), GetParam().string());
    ASSERT_TRUE(kernel.has_value()) << kernel.error().text();
    const auto limiters = sim::limiters_of(scenario->gpu(), *kernel);
    ASSERT_TRUE(limiters.has_value()) << limiters.error().text();
    const auto simulated = sim::simulate(scenario->gpu(), {launch(*kernel)});
    ASSERT_TRUE(simulated.has_value()) << simulated.error().text();
    const double cycles = static_cast<double>(simulated->kernels[0].end_cycle) * (1 + simulated->fold.error_bound);
    EXPECT_GE(cycles, limiters->lower_bound()) << described.name() << " by " << limiters->all().front().resource;
    EXPECT_GT(limiters->lower_bound(), 0) << described.name();
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioFiles, testing::ValuesIn(scenario_files()),
                         [](const auto& file) { return test_name(file.param.stem().string()); });

// Four SMs with a CTA each, one of them five times as long as the others.
TEST(AnyPolicy, IsBoundByTheWorkOfAllKernelsSpreadEvenly) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(4);
  const traces::Kernel kernel = KernelText("k", "sm_90")
                                    .classes("parameter t\nclass long t=1000\nclass short t=200\ngrid long*1 short*3\n")
                                    .role("r", 4, loop("t", {op("MUFU.EX2 R8, R2")}))
                                    .kernel();
  const auto dealt = sim::limiters_of(gpu, kernel);
  const auto evenly = sim::limiters_of_any_policy(gpu, {&kernel, &kernel});
  ASSERT_TRUE(dealt.has_value() && evenly.has_value());
  EXPECT_EQ(dealt->cycles_of("xu"), 1000 * 8);
  EXPECT_EQ(evenly->cycles_of("xu"), 2 * (1000 + 3 * 200) * 8 / 4);
}

// A bound that is true of everything says nothing: programs that keep one resource busy come close to it.
struct Busy {
  std::string resource;
  Lines lines;
};

// The limiter is the busier bank's reads over its ports; a simulation's share is that of the ports of both banks.
TEST(RegisterReadPorts, OfOneBankAreFullAtHalfOfTheCapacity) {
  const auto shares = [](std::string_view instruction) {
    const traces::Kernel kernel = on_all_sub_cores("sm_90", 32, loop(400, {op(instruction)}));
    const configs::Gpu gpu = one_sm("h100_sxm");
    const sim::Outcome outcome = replay(gpu, kernel).outcome;
    const auto use = std::ranges::find(outcome.resources, "register_read_ports", &sim::ResourceUse::name);
    const double limiter = sim::limiters_of(gpu, kernel)->cycles_of("register_read_ports");
    return std::pair(static_cast<double>(use->busy) / static_cast<double>(use->capacity),
                     limiter / static_cast<double>(outcome.total_cycles));
  };
  const auto [one_bank, busier] = shares("FFMA R8, R2, R4, R6");
  EXPECT_NEAR(one_bank, busier / 2, 1e-6);
  EXPECT_GT(busier, 0.9);
  const auto [even, either] = shares("FADD R8, R2, R3");
  EXPECT_NEAR(even, either, 1e-6);
}

class BusyResource : public testing::TestWithParam<Busy> {};

TEST_P(BusyResource, IsItsKernelsFirstLimiterAndNearItsTime) {
  const traces::Kernel kernel = on_all_sub_cores("sm_90", 32, loop(400, GetParam().lines));
  const configs::Gpu gpu = one_sm("h100_sxm");
  const auto limiters = sim::limiters_of(gpu, kernel);
  ASSERT_TRUE(limiters.has_value());
  EXPECT_EQ(limiters->all().front().resource, GetParam().resource);
  const auto cycles = static_cast<double>(replay(gpu, kernel).outcome.total_cycles);
  EXPECT_GE(cycles, limiters->lower_bound());
  EXPECT_LT(cycles, 1.1 * limiters->cycles());
}

INSTANTIATE_TEST_SUITE_P(All, BusyResource,
                         testing::Values(Busy{"issue_slot", {op("NOP")}}, Busy{"alu", {op("LOP3.LUT R8, R2, RZ, RZ, 0x96, !PT")}},
                                         Busy{"fma_heavy", {op("IMAD.WIDE.U32 R8, R2, 0x7, RZ")}},
                                         Busy{"xu", {op("MUFU.EX2 R8, R2")}},
                                         Busy{"register_read_ports", {op("FFMA R8, R2, R4, R6")}},
                                         Busy{"shared_memory", {op("LDS R8, [R2]", {}, "wavefronts=8")}},
                                         Busy{"memory_issue", {op("LDC R8, c[0x0][R2]")}}),
                         [](const auto& busy) { return busy.param.resource; });

}  // namespace
}  // namespace warpfold::test
