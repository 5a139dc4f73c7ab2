// gpu.clock: POWER from the command line: the result and the refusals.

#include <gmock/gmock.h>

#include <stdexcept>

#include "configs/result.pb.h"
#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kPair = WARPFOLD_SOURCE_DIR "/configs/scenarios/qkv_philox_small.textproto";
const std::string kGemm = WARPFOLD_SOURCE_DIR "/configs/scenarios/gemm_a100_fp16_4096.textproto";
const std::string kStream = WARPFOLD_SOURCE_DIR "/configs/scenarios/stream_copy_h100.textproto";

class Power : public Program {
 protected:
  configs::Result result(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "simulate");
    return message<configs::Result>(arguments);
  }
};

TEST_F(Power, SaysNothingWhereTheClockIsFixed) {
  const configs::Result fixed = result({kPair});
  EXPECT_FALSE(fixed.has_power());
  EXPECT_EQ(fixed.total_time_us(), static_cast<double>(fixed.total_cycles()) / 1600);
  EXPECT_THAT(run({"simulate", kPair}).out, Not(HasSubstr("Energy")));
}

TEST_F(Power, TimesTheRunAtTheClockThatTheCapLeaves) {
  const configs::Result capped = result({kGemm, "--set", "gpu.clock=POWER"});
  const configs::PowerUse& power = capped.power();
  EXPECT_TRUE(power.capped());
  EXPECT_LE(power.watts(), power.cap_w());
  EXPECT_GT(power.watts(), 0.99 * power.cap_w());
  EXPECT_LT(power.clock_mhz(), power.clock_limit_mhz());
  EXPECT_GT(power.cap_cost_us(), 0);
  EXPECT_EQ(capped.provenance().scenario().gpu().clock_mhz(), power.clock_mhz());
  EXPECT_DOUBLE_EQ(capped.total_time_us(), static_cast<double>(capped.total_cycles()) / power.clock_mhz());
  EXPECT_FALSE(power.assumptions().empty());
}

// By resource, and static and by kernel: both are the whole.
TEST_F(Power, AccountsForEveryJoule) {
  const configs::Result made = result({kPair, "--set", "gpu.clock=POWER"});
  const configs::PowerUse& power = made.power();
  double by_resource = 0;
  for (const configs::ResourceEnergy& resource : power.resources()) by_resource += resource.joules();
  EXPECT_NEAR(by_resource, power.joules(), 1e-9 * power.joules());
  double by_kernel = power.resources(0).joules();
  for (const configs::KernelEnergy& kernel : power.kernels()) by_kernel += kernel.joules();
  EXPECT_EQ(power.resources(0).resource(), "static");
  EXPECT_NEAR(by_kernel, power.joules(), 1e-9 * power.joules());
  EXPECT_NEAR(power.watts() * made.total_time_us() * 1e-6, power.joules(), 1e-9 * power.joules());
  ASSERT_EQ(power.kernels_size(), made.kernels_size());
  // Joules of the phases are the whole, up to the launch before the first.
  double by_phase = 0;
  for (const configs::PowerPhase& phase : power.phases()) by_phase += phase.watts() * (phase.end_us() - phase.start_us()) * 1e-6;
  EXPECT_NEAR(by_phase, power.joules(), 0.01 * power.joules());
}

TEST_F(Power, FallsWithTheCap) {
  double before = 0;
  for (const char* cap : {"250", "400", "700"}) {
    const configs::PowerUse power =
        result({kPair, "--set", "gpu.clock=POWER", "--set", std::string("gpu.power.cap_w=") + cap}).power();
    EXPECT_GE(power.clock_mhz(), before);
    before = power.clock_mhz();
  }
  EXPECT_GT(before, 0);
}

TEST_F(Power, SimulatesMostRunsOnce) {
  EXPECT_EQ(result({kGemm, "--set", "gpu.clock=POWER"}).power().simulations(), 1);
  EXPECT_EQ(result({kStream, "--set", "gpu.clock=POWER"}).power().simulations(), 1);
}

// Cycles equal those of a fixed clock at the clock that was found, within the error that the result states.
TEST_F(Power, AgreesWithThatClockFixed) {
  for (const std::string& scenario : {kPair, kGemm, kStream}) {
    const configs::Result found = result({scenario, "--set", "gpu.clock=POWER"});
    const configs::Result fixed =
        result({scenario, "--set", "gpu.clock_mhz=" + std::to_string(static_cast<int>(found.power().clock_mhz()))});
    const double ratio = static_cast<double>(found.total_cycles()) / static_cast<double>(fixed.total_cycles());
    EXPECT_NEAR(ratio, 1, found.power().clock_error() + found.fold().error_bound() + 1e-3) << scenario;
  }
}

TEST_F(Power, IsTheSameWithEveryNumberOfJobs) {
  const auto text = [&](const std::string& jobs) {
    return run({"compare", kPair, "--policies", "sequential,concurrent", "--set", "gpu.clock=POWER", "--jobs", jobs}).out;
  };
  const std::string one = text("1");
  EXPECT_EQ(one, text("4"));
  EXPECT_THAT(one, HasSubstr("Least energy: "));
  EXPECT_THAT(one, HasSubstr("MHz"));
}

TEST_F(Power, NamesTheFileOfLeastEnergy) {
  for (const std::string cap : {"500", "700", "600"}) {
    const Ended ended = run({"simulate", kPair, "--set", "gpu.clock=POWER", "--set", "gpu.power.cap_w=" + cap, "--format", "json",
                             "--output", cap + ".json"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
  }
  EXPECT_THAT(run({"report", "700.json", "500.json", "600.json"}).out,
              AllOf(HasSubstr("Least energy: 500.json, "), HasSubstr(" % of 700.json\n")));
}

// Policies have clocks of their own: CONCURRENT takes more cycles here than issue by priority, and less time.
TEST_F(Power, ThePageShowsTheTimelineOfTheShortestTime) {
  const std::vector<std::string> arguments{"compare",    kPair,
                                           "--policies", "priority,concurrent",
                                           "--set",      "gpu.clock=POWER",
                                           "--set",      "gpu.power.cap_w=300",
                                           "--set",      "embedding=4096",
                                           "--set",      "policy.by_priority.issue=true",
                                           "--html",     "p.html"};
  const auto compared = message<configs::Comparison>(arguments);
  ASSERT_LT(compared.results(0).total_cycles(), compared.results(1).total_cycles());
  ASSERT_GT(compared.results(0).total_time_us(), compared.results(1).total_time_us());
  const std::string page = read("p.html");
  EXPECT_GT(page.find("\"timeline\":{"), page.find("\"policy\":\"CONCURRENT\""));
}

TEST_F(Power, SaysWhereAPhaseIsLongEnoughForAClockOfItsOwn) {
  const auto assumptions = [&](const std::string& response_ms) {
    return result({kPair, "--set", "gpu.clock=POWER", "--set", "gpu.power.response_ms=" + response_ms}).power().assumptions_size();
  };
  EXPECT_EQ(assumptions("0.001"), assumptions("38.5") + 1);
}

TEST_F(Power, IsAskedForTheCap) {
  const Ended ended = run({"whatif", kGemm, "--set", "gpu.clock=POWER", "--resources", "power_cap", "--factor", "1.25"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("power_cap x 1.25: "));
  const Ended fixed = run({"whatif", kGemm, "--resources", "power_cap"});
  EXPECT_EQ(fixed.exit_code, 2);
  EXPECT_EQ(fixed.err, "--resources: power_cap changes nothing while gpu.clock is FIXED; add --set gpu.clock=POWER\n");
  const Ended clock = run({"whatif", kGemm, "--set", "gpu.clock=POWER", "--resources", "clock"});
  EXPECT_EQ(clock.exit_code, 2);
  EXPECT_EQ(clock.err, "--resources: clock follows from power while gpu.clock is POWER; ask for power_cap\n");
}

TEST_F(Power, RefusesAGpuWhoseModelIsOfAnother) {
  const std::string h200 = WARPFOLD_SOURCE_DIR "/configs/gpus/h200_sxm.textproto";
  const Ended ended = run({"simulate", kPair, "--gpu", h200, "--set", "gpu.clock=POWER"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("clock: POWER needs a power model of H200 SXM5 141GB, this one is of H100 SXM5 80GB"));
  EXPECT_TRUE(ended.out.empty());
}

TEST_F(Power, NamesThePlaceOfAMistakeInAModel) {
  write("g.textproto",
        "base: \"" WARPFOLD_SOURCE_DIR
        "/configs/gpus/a100_sxm.textproto\"\nname: \"mine\"\npower {\n  gpu: \"mine\"\n"
        "  point { clock_mhz: 300 voltage: 1 static_w: 60 }\n  point { clock_mhz: 200 voltage: 1 static_w: 60 }\n}\n");
  const Ended ended = run({"check", "g.textproto"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err, "g.textproto:6:11: power.point[1].clock_mhz must be above that of the point before (300), not 200\n");
}

}  // namespace
}  // namespace warpfold::cli
