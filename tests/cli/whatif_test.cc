// warpfold whatif: every variation has the figures of a direct simulation; a machine that does not run has a reason; refusals.

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "configs/resources.h"
#include "configs/result.pb.h"
#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A GEMM of one wave and random numbers beside it, a carve-out: every kind of resource is in use.
const std::string kPair = WARPFOLD_SOURCE_DIR "/configs/scenarios/qkv_philox_small.textproto";

class WhatIf : public Program {
 protected:
  configs::Result result(const std::vector<std::string>& arguments) const { return message<configs::Result>(arguments); }
  std::string refusal(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "whatif");
    return refused(arguments);
  }
};

const configs::VariedResource& varied(const configs::WhatIf& what_if, const std::string& name) {
  const auto found = std::ranges::find(what_if.resources(), name, &configs::VariedResource::resource);
  if (found == what_if.resources().end()) throw std::runtime_error("no " + name);
  return *found;
}

TEST_F(WhatIf, AgreesWithADirectSimulationForEveryResource) {
  write("s.textproto", small_scenario());
  const configs::Result answer = result({"whatif", "s.textproto"});
  const auto single = std::ranges::count(configs::scalable_resources(), false, &configs::ScalableResource::many);
  EXPECT_EQ(answer.what_if().resources_size(), single);
  const configs::Result base = result({"simulate", "s.textproto"});
  EXPECT_EQ(answer.total_cycles(), base.total_cycles());
  int changed = 0;
  for (const configs::VariedResource& resource : answer.what_if().resources()) {
    for (const configs::Variation* variation : {&resource.better(), &resource.worse()}) {
      std::vector<std::string> direct{"simulate", "s.textproto"};
      std::istringstream words(variation->arguments());
      for (std::string word; words >> word;) direct.push_back(word);
      if (!variation->not_run().empty()) {
        EXPECT_NE(run(direct).exit_code, 0) << resource.resource();
        continue;
      }
      const configs::Result simulated = result(direct);
      EXPECT_EQ(simulated.total_cycles(), variation->total_cycles()) << resource.resource() << " x " << variation->factor();
      EXPECT_DOUBLE_EQ(base.total_time_us() / simulated.total_time_us(), variation->speedup()) << resource.resource();
      ASSERT_EQ(simulated.kernels_size(), variation->kernels_size());
      for (int k = 0; k < simulated.kernels_size(); ++k) {
        EXPECT_EQ(simulated.kernels(k).cycles(), variation->kernels(k).cycles()) << resource.resource();
        EXPECT_EQ(simulated.kernels(k).bound_by(), variation->kernels(k).bound_by()) << resource.resource();
      }
      changed += variation->total_cycles() != base.total_cycles();
    }
  }
  EXPECT_GE(changed, 10);
}

// The text of every machine, pasted behind the command's own settings, simulates that machine.
TEST_F(WhatIf, PrintsTheArgumentsThatMakeEachMachine) {
  write("s.textproto", small_scenario());
  const std::vector<std::string> own{"s.textproto", "--policy", "sequential", "--set", "sm.tensor.scale=2"};
  std::vector<std::string> asked{"whatif"};
  asked.insert(asked.end(), own.begin(), own.end());
  asked.insert(asked.end(), {"--resources", "tensor,alu,l2_latency,l2_bytes,sm_count,registers"});
  EXPECT_THAT(run(asked).out, HasSubstr(" is warpfold simulate SCENARIO --set gpu."));
  std::vector<std::string> csv_asked = asked;
  csv_asked.insert(csv_asked.end(), {"--format", "csv"});
  const std::string csv = run(csv_asked).out;
  const configs::Result answer = result(asked);
  int machines = 0;
  for (const configs::VariedResource& resource : answer.what_if().resources()) {
    for (const configs::Variation* variation : {&resource.better(), &resource.worse()}) {
      ASSERT_THAT(variation->arguments(), StartsWith("--set gpu."));
      EXPECT_THAT(csv, HasSubstr(",warpfold simulate SCENARIO " + variation->arguments() + "\n"));
      std::vector<std::string> direct{"simulate"};
      direct.insert(direct.end(), own.begin(), own.end());
      std::istringstream words(variation->arguments());
      for (std::string word; words >> word;) direct.push_back(word);
      if (variation->not_run().empty()) {
        EXPECT_EQ(result(direct).total_cycles(), variation->total_cycles()) << variation->arguments();
      } else {
        EXPECT_NE(run(direct).exit_code, 0) << variation->arguments();
      }
      ++machines;
    }
  }
  EXPECT_EQ(machines, 12);
}

TEST_F(WhatIf, RanksByWhatMoreOfAResourceGains) {
  const configs::WhatIf what_if = result({"whatif", kPair, "--resources", "fp64,dram,tensor,fma_heavy,l2_latency"}).what_if();
  ASSERT_EQ(what_if.resources_size(), 5);
  for (int r = 1; r < what_if.resources_size(); ++r) {
    EXPECT_GE(what_if.resources(r - 1).better().speedup(), what_if.resources(r).better().speedup());
  }
  EXPECT_EQ(varied(what_if, "fp64").better().speedup(), 1);  // no kernel uses it
  EXPECT_LT(varied(what_if, "tensor").worse().speedup(), 0.8);
  EXPECT_EQ(varied(what_if, "tensor").better().factor(), 2);
  EXPECT_EQ(varied(what_if, "l2_latency").better().factor(), 0.5);
  EXPECT_THAT(varied(what_if, "tensor").better().setting(), ElementsAre("gpu.sm.tensor.scale=2"));
}

TEST_F(WhatIf, TakesAPolicyAFactorAndSettings) {
  const configs::Result answer =
      result({"whatif", kPair, "--policy", "sequential", "--factor", "1.5", "--resources", "tensor", "--set", "sm.tensor.scale=2"});
  EXPECT_EQ(answer.policy(), "SEQUENTIAL");
  EXPECT_EQ(answer.what_if().factor(), 1.5);
  EXPECT_THAT(answer.what_if().resources(0).better().setting(), ElementsAre("gpu.sm.tensor.scale=3"));
}

TEST_F(WhatIf, SaysWhichMachinesTheScenarioDoesNotRunOn) {
  const configs::Result answer = result({"whatif", kPair, "--resources", "registers,issue_slot", "--factor", "4"});
  EXPECT_THAT(varied(answer.what_if(), "registers").worse().not_run(), HasSubstr("it needs"));
  EXPECT_EQ(varied(answer.what_if(), "registers").worse().speedup(), 0);
  EXPECT_GT(varied(answer.what_if(), "issue_slot").worse().total_cycles(), answer.total_cycles());
  EXPECT_THAT(run({"whatif", kPair, "--resources", "registers", "--factor", "4"}).out,
              AllOf(HasSubstr("does not run"), HasSubstr("registers x 0.25 does not run: a CTA of kernel ")));
}

TEST_F(WhatIf, DrawsATornadoForPeopleAndARowForEachKernelForFiles) {
  const std::string text = run({"whatif", kPair, "--resources", "tensor,fp64"}).out;
  EXPECT_THAT(text,
              AllOf(StartsWith("Largest speed-up: tensor x 2 makes the run 1.0"), HasSubstr("Largest slowdown: tensor x 0.5 makes"),
                    HasSubstr("slower|faster"), HasSubstr("-----"), HasSubstr(" %): fp64.\n")));
  const std::string csv = run({"whatif", kPair, "--resources", "tensor,fp64", "--format", "csv"}).out;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 2 * 2 * 2);
  EXPECT_THAT(csv, StartsWith("scenario,policy,gpu,resource,kind,direction,factor,settings,"));
}

TEST_F(WhatIf, DoesNotDependOnTheNumberOfJobs) {
  write("s.textproto", small_scenario());
  const std::vector<std::string> few{"whatif", "s.textproto", "--resources", "alu,xu,l2,dram", "--format", "csv"};
  std::vector<std::string> many = few;
  many.insert(many.end(), {"--jobs", "8"});
  EXPECT_EQ(run(few).out, run(many).out);
}

TEST_F(WhatIf, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(refusal({kPair, "--resources", "tensr"}), "--resources: unknown resource \"tensr\"; did you mean \"tensor\"?\n");
  EXPECT_EQ(refusal({kPair, "--resources", "alu,alu"}), "--resources: alu is given twice\n");
  EXPECT_THAT(refusal({kPair, "--resources", ""}), StartsWith("--resources: unknown resource \"\"; known: issue_slot, alu, "));
  for (const std::string factor : {"0", "-2", "nan", "inf", "1", "9", "two", ""}) {
    EXPECT_EQ(refusal({kPair, "--factor", factor}), "--factor takes a number above 1, up to 8, not \"" + factor + "\"\n");
  }
  EXPECT_EQ(refusal({kPair, "--policy", "sequentiel"}), "--policy: unknown policy \"sequentiel\"; did you mean \"sequential\"?\n");
  EXPECT_EQ(refusal({kPair, "--set", "sm.tensor.scale=0"}),
            "--set sm.tensor.scale=0: gpu: sm.tensor.scale must be from 0.125 to 8, not 0\n");
  EXPECT_EQ(refusal({}), "SCENARIO is missing; see --help\n");
}

// ---- roofline

TEST_F(WhatIf, RooflineOfAGemmHasTheTensorCoresPeak) {
  const configs::Result answer = result({"roofline", kPair, "--set", "policy.kind=SEQUENTIAL"});
  const configs::Roofline& gemm = answer.kernels(0).roofline();
  EXPECT_EQ(gemm.operation(), "FLOP");
  EXPECT_EQ(gemm.bound_by(), "wgmma");
  // FP8: 8192 operations a cycle and SM, 132 SMs at 1600 MHz.
  EXPECT_DOUBLE_EQ(gemm.roof(), 8192 * 132 * 1.6);
  EXPECT_LT(gemm.operations_per_ns(), gemm.roof());
  EXPECT_NEAR(gemm.operations_per_ns() / 1000, answer.kernels(0).tflops(), 1e-9);
  ASSERT_EQ(gemm.levels_size(), 3);
  for (const configs::RooflineLevel& level : gemm.levels()) EXPECT_LE(level.gb_per_s(), level.ceiling_gb_per_s()) << level.level();
  EXPECT_GT(gemm.levels(0).bytes(), gemm.levels(1).bytes());
  EXPECT_EQ(answer.kernels(1).roofline().operation(), "warp instruction");
  const configs::Result twice = result({"roofline", kPair, "--set", "policy.kind=SEQUENTIAL", "--set", "sm.tensor.scale=2"});
  EXPECT_EQ(twice.kernels(0).roofline().bound_by(), "l2");
  EXPECT_DOUBLE_EQ(twice.kernels(0).roofline().ceilings(0).operations_per_ns(), 2 * gemm.roof());
  EXPECT_THAT(run({"roofline", kPair}).out, AllOf(HasSubstr("operations/byte"), HasSubstr("% of it")));
  EXPECT_THAT(run({"roofline", kPair, "--format", "csv"}).out, HasSubstr(",level,dram,"));
}

}  // namespace
}  // namespace warpfold::cli
