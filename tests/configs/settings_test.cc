#include <gtest/gtest.h>

#include <stdexcept>

#include "scratch.h"

namespace warpfold::configs {
namespace {

class Settings : public InScratchFolder {
 protected:
  Settings() {
    write("s.textproto", small_scenario() +
                             "parameter {\n"
                             "  name: \"seq\"\n"
                             "  value: 256\n"
                             "  sets { path: \"kernel.rng.philox.queries\" }\n"
                             "  sets { path: \"kernel.rng.philox.keys\" times: 3 divide: 2 }\n"
                             "}\n"
                             "kernel { name: \"gemm\" stream: 1 hopper_gemm { m: 512 n: 512 k: 512 type: BF16 } }\n"
                             "policy { reserve { kernel: \"rng\" register_percent: 25 warp_slot_percent: 25 } }\n");
  }
  static Scenario load(const std::vector<std::string>& settings) {
    auto loaded = load_scenario("s.textproto", settings);
    if (!loaded) throw std::runtime_error(loaded.error().text());
    return *loaded;
  }
  static std::string error(const std::string& setting) { return scenario_error("s.textproto", {setting}); }
};

TEST_F(Settings, ReachFieldsByNameAndByIndex) {
  EXPECT_EQ(load({"kernel.rng.philox.rounds=7"}).kernel(0).philox().rounds(), 7);
  EXPECT_EQ(load({"kernel.0.philox.rounds=7"}).kernel(0).philox().rounds(), 7);
  EXPECT_EQ(load({"kernel[1].hopper_gemm.tile_n=128"}).kernel(1).hopper_gemm().tile_n(), 128);
  EXPECT_EQ(load({"policy.reserve.rng.register_percent=12.5"}).policy().reserve(0).register_percent(), 12.5);
}

TEST_F(Settings, TakeEveryTypeOfValue) {
  EXPECT_EQ(load({"policy.kind=CARVE_OUT"}).policy().kind(), CARVE_OUT);
  EXPECT_EQ(load({"kernel.rng.priority=-3"}).kernel(0).priority(), -3);
  EXPECT_TRUE(load({"kernel.gemm.hopper_gemm.persistent=true"}).kernel(1).hopper_gemm().persistent());
  EXPECT_FALSE(load({"kernel.gemm.hopper_gemm.persistent=false"}).kernel(1).hopper_gemm().persistent());
  EXPECT_EQ(load({"description=a=b c"}).description(), "a=b c");
  EXPECT_EQ(load({"gpu.l2.bytes=12345678901"}).gpu().l2().bytes(), 12345678901);
  EXPECT_EQ(load({"kernel.gemm.after=rng"}).kernel(1).after(0), "rng");
  EXPECT_TRUE(load({"kernel.gemm.after=rng", "kernel.gemm.after="}).kernel(1).after().empty());
}

TEST_F(Settings, ApplyInOrderOverTheGpuFile) {
  const Scenario scenario = load({"gpu.clock_mhz=1000", "gpu.clock_mhz=1980", "gpu.sm.tensor.wgmma_columns_per_clk=4"});
  EXPECT_EQ(scenario.gpu().clock_mhz(), 1980);
  EXPECT_EQ(scenario.gpu().sm().tensor().wgmma_columns_per_clk(), 4);
  EXPECT_EQ(scenario.gpu().sm().tensor().wgmma_fifo_entries(), 7);
  EXPECT_FALSE(scenario.has_gpu_file());
}

TEST_F(Settings, NameTheGpusFieldsWithoutItToo) {
  const Scenario scenario = load({"sm.tensor.scale=2", "clock_mhz=1980", "l2.latency_scale=0.5"});
  EXPECT_EQ(scenario.gpu().sm().tensor().scale(), 2);
  EXPECT_EQ(scenario.gpu().clock_mhz(), 1980);
  EXPECT_EQ(scenario.gpu().l2().latency_scale(), 0.5);
  EXPECT_EQ(error("sm.tensr.scale=2"), "--set sm.tensr.scale=2: unknown field \"tensr\" in Sm; did you mean \"tensor\"?");
}

TEST_F(Settings, TakeFactorsThatTheMachineCanHave) {
  EXPECT_EQ(error("sm.tensor.scale=0"), "--set sm.tensor.scale=0: gpu: sm.tensor.scale must be from 0.125 to 8, not 0");
  EXPECT_EQ(error("sm.tensor.scale=-2"), "--set sm.tensor.scale=-2: gpu: sm.tensor.scale must be from 0.125 to 8, not -2");
  EXPECT_EQ(error("sm.tensor.scale=nan"), "--set sm.tensor.scale=nan: scale takes a number, not \"nan\"");
  EXPECT_EQ(error("sm.tensor.scale=twice"), "--set sm.tensor.scale=twice: scale takes a number, not \"twice\"");
  EXPECT_EQ(error("dram.latency_scale=9"), "--set dram.latency_scale=9: gpu: dram.latency_scale must be from 0.125 to 8, not 9");
  EXPECT_EQ(error("sub_core.issue.scale=1.5"),
            "--set sub_core.issue.scale=1.5: gpu: sub_core.issue.scale must be a whole number or the reciprocal of one, not 1.5");
  EXPECT_EQ(error("sub_core.register_read.scale=8"),
            "--set sub_core.register_read.scale=8: gpu: sub_core.register_read.scale must make it 0.5, 1, 2, 3 or 4 read ports a "
            "bank, not 8");
  EXPECT_EQ(
      error("sub_core.register_write.scale=3"),
      "--set sub_core.register_write.scale=3: gpu: sub_core.register_write.scale must make it 0.5, 1 or 2 write ports a bank, "
      "not 3");
  EXPECT_EQ(error("sm.warps.capacity_scale=4"),
            "--set sm.warps.capacity_scale=4: gpu: sm.warps.capacity_scale must make it 1 to 32 warps a sub-core, not 64");
}

TEST_F(Settings, ChooseAnotherGpu) {
  EXPECT_EQ(load({"gpu_file=" + gpu_path("h200_sxm.textproto")}).gpu().name(), "H200 SXM5 141GB");
}

TEST_F(Settings, OfParametersSetTheirTargets) {
  const Scenario by_default = load({});
  EXPECT_EQ(by_default.kernel(0).philox().queries(), 256);
  EXPECT_EQ(by_default.kernel(0).philox().keys(), 384);
  const Scenario longer = load({"seq=4096"});
  EXPECT_EQ(longer.kernel(0).philox().queries(), 4096);
  EXPECT_EQ(longer.kernel(0).philox().keys(), 6144);
  EXPECT_EQ(longer.parameter(0).value(), 4096);
}

TEST_F(Settings, NeedPathAndValue) {
  EXPECT_EQ(error("seq"), "--set seq: expected PATH=VALUE");
  EXPECT_EQ(error("=3"), "--set =3: expected PATH=VALUE");
}

TEST_F(Settings, WithUnknownNamesGetANearMiss) {
  EXPECT_EQ(error("sq=1"), "--set sq=1: no parameter or field called \"sq\"; did you mean \"seq\"?");
  EXPECT_EQ(error("kernel.rgn.philox.rounds=7"),
            "--set kernel.rgn.philox.rounds=7: no kernel called \"rgn\"; did you mean \"rng\"?");
  EXPECT_EQ(error("kernel.rng.philox.round=7"),
            "--set kernel.rng.philox.round=7: unknown field \"round\" in Philox; did you mean \"rounds\"?");
  EXPECT_EQ(error("policy.kind=CONCURENT"),
            "--set policy.kind=CONCURENT: unknown value \"CONCURENT\" of kind; did you mean \"CONCURRENT\"?");
  EXPECT_EQ(error("kernel.2.priority=1"), "--set kernel.2.priority=1: no kernel 2: there are 2, counted from 0");
}

TEST_F(Settings, WithValuesOfAnotherTypeSayWhatIsExpected) {
  EXPECT_EQ(error("kernel.rng.philox.rounds=ten"),
            "--set kernel.rng.philox.rounds=ten: rounds takes an integer from 0 to 4294967295, not \"ten\"");
  EXPECT_EQ(error("kernel.rng.philox.rounds=-7"),
            "--set kernel.rng.philox.rounds=-7: rounds takes an integer from 0 to 4294967295, not \"-7\"");
  EXPECT_EQ(error("kernel.rng.philox.rounds=5000000000"),
            "--set kernel.rng.philox.rounds=5000000000: rounds takes an integer from 0 to 4294967295, not \"5000000000\"");
  EXPECT_EQ(error("kernel.rng.priority=1.5"),
            "--set kernel.rng.priority=1.5: priority takes an integer from -2147483648 to 2147483647, not \"1.5\"");
  EXPECT_EQ(error("gpu.clock_mhz=fast"), "--set gpu.clock_mhz=fast: clock_mhz takes a number, not \"fast\"");
  EXPECT_EQ(error("gpu.clock_mhz=nan"), "--set gpu.clock_mhz=nan: clock_mhz takes a number, not \"nan\"");
  EXPECT_EQ(error("kernel.gemm.hopper_gemm.persistent=yes"),
            "--set kernel.gemm.hopper_gemm.persistent=yes: persistent takes true or false, not \"yes\"");
  EXPECT_EQ(error("seq=1e3"), "--set seq=1e3: value takes an integer from 0 to 18446744073709551615, not \"1e3\"");
}

TEST_F(Settings, WithTextThatDoesNotStayInItsLineAreRefused) {
  EXPECT_EQ(error("name=a\nb"), "--set name=a\\nb: name: a line break or another control character");
  EXPECT_EQ(error("kernel.rng.name=\x1b[31m"), "--set kernel.rng.name=\\x1b[31m: name: a line break or another control character");
  EXPECT_EQ(error("name=a\xff"), "--set name=a\\xff: name: bytes that are no UTF-8");
  EXPECT_EQ(error("kernel.gemm.after=rng,\xff"), "--set kernel.gemm.after=rng,\\xff: after: bytes that are no UTF-8");
}

TEST_F(Settings, NameOneField) {
  EXPECT_EQ(error("policy=3"),
            "--set policy=3: policy is a group; name one of its fields: kind, reserve, sm_share, quota, by_priority, "
            "warp_specialized, pipelined, cta_interleaved, warp_interleaved");
  EXPECT_EQ(error("policy.reserve.rng=3"),
            "--set policy.reserve.rng=3: reserve is a group; name one of its fields: kernel, register_percent, "
            "shared_memory_percent, warp_slot_percent");
  EXPECT_EQ(error("gpu.clock_mhz.x=3"), "--set gpu.clock_mhz.x=3: clock_mhz is a plain value and has no field \"x\"");
}

TEST_F(Settings, KeepTheWorkloadOfAKernel) {
  EXPECT_EQ(error("kernel.rng.hopper_gemm.m=3"), "--set kernel.rng.hopper_gemm.m=3: this Kernel has philox, not hopper_gemm");
}

TEST_F(Settings, CannotChangeWhatIsMergedBeforeThem) {
  EXPECT_EQ(error("base=x"), "--set base=x: base is merged before settings and cannot be set");
}

TEST_F(Settings, AreNamedWhereTheirValueIsWrong) {
  EXPECT_EQ(error("kernel.rng.philox.rounds=6"), "--set kernel.rng.philox.rounds=6: rounds must be one of 3, 5, 7, 10, not 6");
  EXPECT_EQ(error("gpu.clock_mhz=0"), "--set gpu.clock_mhz=0: gpu: clock_mhz must be from 1 to 100000, not 0");
  EXPECT_EQ(error("kernel.gemm.after=rgn"), "--set kernel.gemm.after=rgn: no kernel called \"rgn\"; did you mean \"rng\"?");
  EXPECT_EQ(error("seq=0"), "--set seq=0: queries must be at least 1, not 0");
  EXPECT_EQ(error("seq=3"), "--set seq=3: parameter \"seq\": 9 must be a multiple of 2 to set kernel.rng.philox.keys");
  EXPECT_EQ(error("seq=9223372036854775807"), "--set seq=9223372036854775807: parameter \"seq\": value x times is too large");
}

TEST_F(Settings, OfAParametersTargetAreRefused) {
  EXPECT_EQ(error("kernel.rng.philox.keys=8"),
            "--set kernel.rng.philox.keys=8: this field is set by parameter \"seq\"; set that: --set seq=...");
}

class Parameters : public InScratchFolder {
 protected:
  static std::string error(const std::string& parameter) {
    write("s.textproto", small_scenario() + parameter);
    return scenario_error("s.textproto");
  }
};

TEST_F(Parameters, AreCompleteAndUnique) {
  EXPECT_EQ(error("parameter { value: 1 sets { path: \"kernel.rng.priority\" } }"), "s.textproto:3:1: parameter has no name");
  EXPECT_EQ(error("parameter { name: \"p\" sets { path: \"kernel.rng.priority\" } }"),
            "s.textproto:3:1: parameter \"p\" has no value");
  EXPECT_EQ(error("parameter { name: \"p\" value: 1 }"), "s.textproto:3:1: parameter \"p\" sets nothing");
  EXPECT_EQ(
      error("parameter { name: \"p q\" value: 1 }"),
      "s.textproto:3:13: a parameter's name is made of letters, digits, _ and - and does not start with a digit, not \"p q\"");
  EXPECT_EQ(error("parameter { name: \"policy\" value: 1 }"),
            "s.textproto:3:13: a parameter cannot be called \"policy\": a scenario has a field of that name");
  const std::string p = "parameter { name: \"p\" value: 1 sets { path: \"kernel.rng.priority\" } }\n";
  EXPECT_EQ(error(p + p), "s.textproto:4:13: a second parameter called \"p\"");
}

TEST_F(Parameters, HaveTargetsThatCanBeSet) {
  const auto target = [](const std::string& sets) { return "parameter { name: \"p\" value: 5\n  sets { " + sets + " } }"; };
  EXPECT_EQ(error(target("path: \"kernel.rgn.priority\"")),
            "s.textproto:4:10: parameter \"p\": no kernel called \"rgn\"; did you mean \"rng\"?");
  EXPECT_EQ(error(target("path: \"kernel.rng.priority\" divide: 0")),
            "s.textproto:4:38: parameter \"p\": divide must be at least 1, not 0");
  EXPECT_EQ(error(target("path: \"kernel.rng.priority\" divide: 2")),
            "s.textproto:3:23: parameter \"p\": 5 must be a multiple of 2 to set kernel.rng.priority");
  EXPECT_EQ(error(target("path: \"parameter.p.value\"")), "s.textproto:4:10: parameter \"p\": a parameter cannot set a parameter");
}

}  // namespace
}  // namespace warpfold::configs
