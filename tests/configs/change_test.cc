#include <gtest/gtest.h>

#include <stdexcept>

#include "configs/settings.h"
#include "scratch.h"

namespace warpfold::configs {
namespace {

// Three kernels, of which two are GEMMs, and a parameter of each kind.
class Changes : public InScratchFolder {
 protected:
  Changes() {
    write("base.textproto",
          small_scenario() +
              "kernel { name: \"proj\" stream: 1 hopper_gemm { m: 512 n: 512 k: 512 type: BF16 } }\n"
              "kernel { name: \"fc1\" stream: 1 after: \"rng\" hopper_gemm { m: 512 n: 1024 k: 512 type: BF16 } }\n"
              "parameter { name: \"seq\" value: 512 sets { path: \"kernel.rng.philox.queries\" } "
              "sets { path: \"kernel.*.hopper_gemm.m\" } }\n"
              "parameter { name: \"rounds\" value: 7 sets { path: \"kernel.rng.philox.rounds\" } }\n"
              "policy { reserve { kernel: \"rng\" register_percent: 25 warp_slot_percent: 25 } }\n");
  }
  static Scenario load(const std::vector<std::string>& settings, const std::string& file = "base.textproto") {
    auto loaded = load_scenario(file, settings);
    if (!loaded) throw std::runtime_error(loaded.error().text());
    return *loaded;
  }
  // A file on the base, from its second line on.
  static Scenario child(const std::string& text) {
    write("child.textproto", "base: \"base.textproto\"\n" + text);
    return load({}, "child.textproto");
  }
  static std::string child_error(const std::string& text, const std::vector<std::string>& settings = {}) {
    write("child.textproto", "base: \"base.textproto\"\n" + text);
    return scenario_error("child.textproto", settings);
  }
  static std::string error(const std::string& setting) { return scenario_error("base.textproto", {setting}); }
};

TEST_F(Changes, OfOneKernelKeepTheOthers) {
  const Scenario scenario = child("set: \"kernel.fc1.hopper_gemm.n=2048\"\nset: \"seq=1024\"\n");
  ASSERT_EQ(scenario.kernel_size(), 3);
  EXPECT_EQ(scenario.kernel(2).hopper_gemm().n(), 2048);
  EXPECT_EQ(scenario.kernel(1).hopper_gemm().n(), 512);
  EXPECT_EQ(scenario.kernel(0).philox().queries(), 1024);
  EXPECT_EQ(scenario.set_size(), 0) << "the result is resolved";
}

TEST_F(Changes, WithAWildcardAreOfEveryKernelThatHasTheField) {
  const Scenario scenario = load({"kernel.*.hopper_gemm.type=fp8"});
  EXPECT_EQ(scenario.kernel(1).hopper_gemm().type(), FP8);
  EXPECT_EQ(scenario.kernel(2).hopper_gemm().type(), FP8);
  EXPECT_TRUE(scenario.kernel(0).has_philox());
  EXPECT_EQ(load({"kernel.fc*.hopper_gemm.type=FP8"}).kernel(1).hopper_gemm().type(), BF16);
  EXPECT_EQ(load({"kernel.*.*_gemm.tile_k=64"}).kernel(2).hopper_gemm().tile_k(), 64);
  EXPECT_EQ(load({"kernel.*.priority=3"}).kernel(0).priority(), 3);
  EXPECT_EQ(load({"gpu.sm.tensor.*_entries=5"}).gpu().sm().tensor().wgmma_fifo_entries(), 5);
}

// Eighty of them once took longer than anyone waits: each doubled the ways to share out the letters.
TEST_F(Changes, TakeAnyNumberOfWildcardsInAName) {
  const std::string stars(80, '*');
  EXPECT_EQ(load({"kernel." + stars + "fc*1*.priority=3"}).kernel(2).priority(), 3);
  EXPECT_EQ(load({"kernel.*f*c*1.priority=3"}).kernel(2).priority(), 3);
  EXPECT_EQ(load({"kernel.fc1**.priority=3"}).kernel(2).priority(), 3);
  const auto none = load_scenario("base.textproto", {"kernel." + stars + "x.priority=3"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::HasSubstr("no kernel"));
}

TEST_F(Changes, OfParametersTakeWildcardsToo) {
  const Scenario scenario = load({"seq=256"});
  EXPECT_EQ(scenario.kernel(1).hopper_gemm().m(), 256);
  EXPECT_EQ(scenario.kernel(2).hopper_gemm().m(), 256);
}

TEST_F(Changes, AddToListsAndTakeOutOfThem) {
  EXPECT_EQ(load({"kernel.fc1.after+=proj"}).kernel(2).after_size(), 2);
  EXPECT_EQ(load({"kernel.fc1.after-=rng"}).kernel(2).after_size(), 0);
  EXPECT_EQ(load({"kernel.*.after-=rng"}).kernel(2).after_size(), 0);
  const Scenario more = load({"kernel+={ name: \"two\" stream: 2 philox { heads: 1 queries: 8 keys: 8 } }"});
  ASSERT_EQ(more.kernel_size(), 4);
  EXPECT_EQ(more.kernel(3).philox().queries(), 8);
  const Scenario fewer = load({"kernel-=proj"});
  ASSERT_EQ(fewer.kernel_size(), 2);
  EXPECT_EQ(fewer.kernel(1).name(), "fc1");
}

TEST_F(Changes, UnsetFieldsAndElements) {
  EXPECT_FALSE(load({"unset kernel.fc1.stream"}).kernel(2).has_stream());
  EXPECT_EQ(load({"unset kernel.fc1.after"}).kernel(2).after_size(), 0);
  EXPECT_EQ(load({"unset policy"}).policy().reserve_size(), 0);
  EXPECT_EQ(load({"unset kernel.*.after"}).kernel(2).after_size(), 0);
  EXPECT_EQ(load({"unset policy.reserve.rng", "unset kernel.fc1.after", "unset kernel.rng"}).kernel_size(), 2);
  const Scenario first = load({"unset policy.reserve", "unset kernel.*c*"});
  ASSERT_EQ(first.kernel_size(), 2);
  EXPECT_EQ(first.kernel(1).name(), "proj");
  // The GPU keeps the fields of its file.
  EXPECT_TRUE(load({}).gpu().has_graph_launch_cycles());
  EXPECT_FALSE(load({"unset graph_launch_cycles"}).gpu().has_graph_launch_cycles());
}

TEST_F(Changes, OfAKernelThatIsGoneAreNoParametersAnyMore) {
  const Scenario scenario = load({"unset policy.reserve", "unset kernel.fc1.after", "unset kernel.rng", "seq=256"});
  ASSERT_EQ(scenario.parameter_size(), 1);
  EXPECT_EQ(scenario.parameter(0).sets_size(), 1);
  EXPECT_EQ(scenario.kernel(0).hopper_gemm().m(), 256);
}

TEST_F(Changes, OfAWorkloadTakeTheOldOneAwayFirst) {
  const Scenario scenario = child("unset: \"kernel.fc1.hopper_gemm\"\nset: \"kernel.fc1.elementwise.elements=4096\"\n");
  EXPECT_EQ(scenario.kernel(2).elementwise().elements(), 4096);
}

TEST_F(Changes, AreCarriedOutInTheOrderInWhichTheyAreWritten) {
  EXPECT_TRUE(child("unset: \"kernel.fc1.after\"\nset: \"kernel.fc1.after+=proj\"\n").kernel(2).after(0) == "proj");
  EXPECT_EQ(child("set: \"kernel.fc1.after+=proj\"\nunset: \"kernel.fc1.after\"\n").kernel(2).after_size(), 0);
  EXPECT_EQ(load({"kernel.fc1.priority=3", "unset kernel.fc1.priority"}).kernel(2).priority(), 0);
}

TEST_F(Changes, OfABaseStandUnderTheFileOnIt) {
  write("middle.textproto", "base: \"base.textproto\"\nset: \"clock_mhz=1000\"\nset: \"kernel.fc1.priority=1\"\nlaunch: STREAM\n");
  write("top.textproto", "base: \"middle.textproto\"\nset: \"kernel.fc1.priority=2\"\ngpu { clock_mhz: 1500 }\n");
  const Scenario scenario = load({}, "top.textproto");
  EXPECT_EQ(scenario.gpu().clock_mhz(), 1500);
  EXPECT_EQ(scenario.kernel(2).priority(), 2);
  EXPECT_EQ(load({"gpu_file=" + gpu_path("h200_sxm.textproto")}, "middle.textproto").gpu().clock_mhz(), 1000);
}

TEST_F(Changes, NameFilesBesideTheFileThatStatesThem) {
  write("lib/gpu.textproto", "base: \"" + gpu_path("h100_sxm.textproto") + "\"\nname: \"near\"\n");
  write("lib/middle.textproto",
        "base: \"../base.textproto\"\nset: \"gpu_file=gpu.textproto\"\n"
        "set: \"kernel+={ name: 't' stream: 3 trace { path: 't.wft' } }\"\n");
  write("top.textproto", "base: \"lib/middle.textproto\"\n");
  const Scenario scenario = load({}, "top.textproto");
  EXPECT_EQ(scenario.gpu().name(), "near");
  EXPECT_EQ(scenario.kernel(3).trace().path(), "lib/t.wft");
}

TEST_F(Changes, OfLaunchDescriptionsAreOverTheirFiles) {
  write("launch.textproto", "function: \"f\" grid { x: 3 } block { x: 32 } parameter { name: \"n\" value: 3 }\n");
  write(
      "middle.textproto",
      "base: \"base.textproto\"\nset: \"kernel+={ name: 'own' stream: 2 listing { path: 'a.sass' launch: 'launch.textproto' } }\"\n"
      "set: \"kernel.own.listing.description.parameter.n.value=5\"\n");
  const Scenario scenario = load({"kernel.*.listing.description.grid.x=4"}, "middle.textproto");
  EXPECT_EQ(scenario.kernel(3).listing().description().parameter(0).value(), 5);
  EXPECT_EQ(scenario.kernel(3).listing().description().grid().x(), 4);
  // Kernels that a file states are none of its base's.
  write("top.textproto",
        "base: \"middle.textproto\"\nkernel { name: \"only\" philox { heads: 1 queries: 8 keys: 8 } }\n"
        "unset: \"policy\"\nunset: \"parameter\"\n");
  EXPECT_EQ(load({}, "top.textproto").kernel_size(), 1);
}

TEST_F(Changes, ThatAreWrongSayWhereAndWhatIsNear) {
  EXPECT_EQ(child_error("name: \"c\" set: \"kernel.rgn.philox.rounds=5\"\n"),
            "child.textproto:2:11: set \"kernel.rgn.philox.rounds=5\": no kernel called \"rgn\"; did you mean \"rng\"?");
  EXPECT_EQ(child_error("\n unset: \"kernel.rgn\"\n"),
            "child.textproto:3:2: unset \"kernel.rgn\": no kernel called \"rgn\"; did you mean \"rng\"?");
  EXPECT_EQ(child_error("set: \"kernel.rng.philox.round=5\"\n"),
            "child.textproto:2:1: set \"kernel.rng.philox.round=5\": unknown field \"round\" in Philox; did you mean \"rounds\"?");
  EXPECT_EQ(child_error("set: \"rng\"\n"), "child.textproto:2:1: set \"rng\": expected PATH=VALUE");
  EXPECT_EQ(child_error("unset: \"seq=3\"\n"), "child.textproto:2:1: unset \"seq=3\": expected PATH");
  EXPECT_EQ(child_error("set: \"gpu.smm.tensor=5\"\n"),
            "child.textproto:2:1: set \"gpu.smm.tensor=5\": unknown field \"smm\" in Gpu; did you mean \"sm\"?");
  EXPECT_EQ(child_error("set: \"base=x\"\n"),
            "child.textproto:2:1: set \"base=x\": base is merged before settings and cannot be set");
  EXPECT_EQ(child_error("set: \"kernel.rng.philox.rounds=5\"\n"),
            "child.textproto:2:1: this field is set by parameter \"rounds\"; set that: --set rounds=...");
}

TEST_F(Changes, ThatMatchNothingAreRefused) {
  EXPECT_EQ(
      error("kernel.*.ampere_gemm.m=3"),
      "--set kernel.*.ampere_gemm.m=3: \"kernel.*.ampere_gemm.m\" matches nothing: this Kernel has philox, not ampere_gemm; this "
      "Kernel has hopper_gemm, not ampere_gemm");
  EXPECT_EQ(error("kernel.*.hoper_gemm.m=3"),
            "--set kernel.*.hoper_gemm.m=3: unknown field \"hoper_gemm\" in Kernel; did you mean \"hopper_gemm\"?");
  EXPECT_EQ(error("kernel.pro*t.priority=3"), "--set kernel.pro*t.priority=3: no kernel called \"pro*t\"; did you mean \"proj\"?");
  EXPECT_EQ(
      error("kernel.rng.*.roundz=3"),
      "--set kernel.rng.*.roundz=3: \"kernel.rng.*.roundz\" matches nothing: unknown field \"roundz\" in Philox; did you mean "
      "\"rounds\"?");
  EXPECT_EQ(error("unset kernel.*.l2"), "--unset kernel.*.l2: \"kernel.*.l2\" is set nowhere");
  EXPECT_EQ(error("unset kernel.fc1.l2"), "--unset kernel.fc1.l2: kernel[2].l2 is not set");
  EXPECT_EQ(error("kernel.fc1.after-=rgn"), "--set kernel.fc1.after-=rgn: no \"rgn\" in after; did you mean \"rng\"?");
  EXPECT_EQ(error("kernel.*.after-=qkv"), "--set kernel.*.after-=qkv: \"kernel.*.after\": no list has \"qkv\"");
}

TEST_F(Changes, OfListsAreOfListsAlone) {
  EXPECT_EQ(error("kernel.rng.priority+=3"), "--set kernel.rng.priority+=3: priority is no list: PATH=VALUE sets it");
  EXPECT_EQ(error("kernel.rng.priority-=3"), "--set kernel.rng.priority-=3: priority is no list: --unset clears it");
  EXPECT_EQ(error("kernel+={ nam: \"x\" }"),
            "--set kernel+={ nam: \"x\" }: unknown field \"nam\" in Kernel; did you mean \"name\"?");
  EXPECT_EQ(error("+=3"), "--set +=3: expected PATH+=VALUE");
}

TEST_F(Changes, AreWhereWrongValuesAreReported) {
  EXPECT_EQ(child_error("set: \"rounds=6\"\n"), "child.textproto:2:1: rounds must be one of 3, 5, 7, 10, not 6");
  EXPECT_EQ(child_error("set: \"kernel.*.hopper_gemm.n=0\"\n"), "child.textproto:2:1: n must be at least 1, not 0");
  EXPECT_EQ(child_error("set: \"kernel+={ name: 'two' philox { heads: 0 queries: 8 keys: 8 } }\"\n"),
            "child.textproto:2:1: heads must be at least 1, not 0");
  // Elements that have moved up are where they were written.
  write("base.textproto", small_scenario() +
                              "kernel { name: \"a\" stream: 1 philox { heads: 1 queries: 8 keys: 8 } }\n\n"
                              "kernel { name: \"b\" stream: 1 philox { heads: 0 queries: 8 keys: 8 } }\n");
  EXPECT_EQ(child_error("unset: \"kernel.a\"\n"), "base.textproto:5:39: heads must be at least 1, not 0");
  EXPECT_EQ(child_error("unset: \"kernel.b\"\nset: \"kernel.a.after=qkv\"\n"),
            "child.textproto:3:1: no kernel called \"qkv\"; known: rng, a");
  // A value that a later file states has that file's position.
  write("middle.textproto", "base: \"base.textproto\"\nunset: \"kernel.b\"\nset: \"gpu.clock_mhz=1\"\n");
  write("top.textproto", "base: \"middle.textproto\"\n\n\n gpu { clock_mhz: 0 }\n");
  EXPECT_EQ(scenario_error("top.textproto"), "top.textproto:4:8: gpu: clock_mhz must be from 1 to 100000, not 0");
}

TEST_F(Changes, AreAdvisedWhereAListOfKernelsIsStated) {
  EXPECT_EQ(
      child_error("unset: \"parameter\"\nkernel { name: \"rng\" philox { rounds: 5 } }\n"),
      "child.textproto:3:22: heads must be at least 1, not 0; this list of kernels replaces the base's, to change one of them say "
      "set: \"kernel.rng...=...\"");
  // Targets of parameters in kernels that are gone are gone too.
  const Scenario only = child(
      "unset: \"policy\"\nkernel { name: \"rng\" philox { heads: 1 queries: 8 keys: 8 } }\n"
      "unset: \"parameter.seq.sets.1\"\n");
  EXPECT_EQ(only.kernel_size(), 1);
}

TEST(Change, IsAllOrNothing) {
  Scenario scenario;
  scenario.add_kernel()->set_name("a");
  scenario.mutable_kernel(0)->mutable_philox();
  const Scenario before = scenario;
  EXPECT_FALSE(apply_change(scenario, {Verb::kSet, "kernel.a.philox.rounds", "x"}));
  EXPECT_FALSE(apply_change(scenario, {Verb::kUnset, "policy.pipelined.segments", ""}));
  EXPECT_EQ(scenario.DebugString(), before.DebugString());
}

}  // namespace
}  // namespace warpfold::configs
