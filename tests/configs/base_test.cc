#include <gtest/gtest.h>

#include "scratch.h"

namespace warpfold::configs {
namespace {

class Base : public InScratchFolder {};

TEST_F(Base, IsMergedUnderTheDerivedFile) {
  write("gpu.textproto", "base: \"" + gpu_path("h100_sxm.textproto") + "\"\nname: \"mine\"\nsm { cta_slots: 16 }\n");
  const auto gpu = load_gpu("gpu.textproto");
  ASSERT_TRUE(gpu) << gpu.error().text();
  EXPECT_EQ(gpu->name(), "mine");
  EXPECT_EQ(gpu->sm().cta_slots(), 16);
  EXPECT_EQ(gpu->sm().registers(), 65536);
  EXPECT_FALSE(gpu->has_base());
}

TEST_F(Base, IsOverriddenByAZero) {
  write("gpu.textproto", "base: \"" + gpu_path("h100_sxm.textproto") + "\"\nkernel_launch_cycles: 0\n");
  EXPECT_EQ(load_gpu("gpu.textproto").value().kernel_launch_cycles(), 0);
}

TEST_F(Base, GivesListsOnlyWhereTheDerivedFileGivesNone) {
  write("base.textproto", small_scenario() + "kernel { name: \"two\" philox { heads: 1 queries: 8 keys: 8 } }\n");
  write("same.textproto", "base: \"base.textproto\"\nname: \"same\"\n");
  write("one.textproto", "base: \"base.textproto\"\nkernel { name: \"only\" philox { heads: 2 queries: 8 keys: 8 } }\n");
  EXPECT_EQ(load_scenario("same.textproto", {}).value().kernel_size(), 2);
  const auto one = load_scenario("one.textproto", {});
  ASSERT_EQ(one.value().kernel_size(), 1);
  EXPECT_EQ(one->kernel(0).name(), "only");
}

TEST_F(Base, KeepsFileNamesRelativeToTheFileThatGivesThem) {
  write("lib/gpu.textproto", "base: \"" + gpu_path("h100_sxm.textproto") + "\"\nname: \"near the base\"\n");
  write("lib/base.textproto", "gpu_file: \"gpu.textproto\"\nkernel { name: \"k\" trace { path: \"k.wft\" } }\n");
  write("mine/derived.textproto", "base: \"../lib/base.textproto\"\n");
  const auto scenario = load_scenario("mine/derived.textproto", {});
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_EQ(scenario->gpu().name(), "near the base");
  EXPECT_EQ(scenario->kernel(0).trace().path(), "../lib/k.wft");
}

TEST_F(Base, FormsNoCycle) {
  write("a.textproto", "name: \"a\"\nbase: \"b.textproto\"\n");
  write("b.textproto", "base: \"a.textproto\"\n");
  EXPECT_EQ(gpu_error("a.textproto"), "b.textproto:1:1: base: files form a cycle: a.textproto -> b.textproto -> a.textproto");
  write("self.textproto", "base: \"./self.textproto\"\n");
  EXPECT_EQ(scenario_error("self.textproto"), "self.textproto:1:1: base: files form a cycle: self.textproto -> self.textproto");
}

TEST_F(Base, IsMissing) {
  write("gpu.textproto", "name: \"a\"\n  base: \"none.textproto\"\n");
  EXPECT_EQ(gpu_error("gpu.textproto"), "gpu.textproto:2:3: cannot read \"none.textproto\": No such file or directory");
  EXPECT_EQ(gpu_error("none.textproto"), "cannot read \"none.textproto\": No such file or directory");
}

TEST_F(Base, HasItsOwnMistakesReportedInItsOwnPlaces) {
  write("base.textproto", "base: \"" + gpu_path("h100_sxm.textproto") + "\"\nsm {\n  cta_slots: 0\n}\n");
  write("gpu.textproto", "base: \"base.textproto\"\nsm {\n  warp_slots: 63\n}\n");
  EXPECT_EQ(gpu_error("gpu.textproto"), "base.textproto:3:3: sm.cta_slots must be from 1 to 256, not 0");
  write("base.textproto", "base: \"" + gpu_path("h100_sxm.textproto") + "\"\nsn {}\n");
  EXPECT_EQ(gpu_error("gpu.textproto"), "base.textproto:2:1: unknown field \"sn\" in Gpu; did you mean \"sm\"?");
}

TEST_F(Base, CedesItsPlacesToTheFileThatOverrides) {
  write("base.textproto", "base: \"" + gpu_path("h100_sxm.textproto") + "\"\n\n\nclock_mhz: 1700\n");
  write("gpu.textproto", "base: \"base.textproto\"\n clock_mhz: 0\n");
  EXPECT_EQ(gpu_error("gpu.textproto"), "gpu.textproto:2:2: clock_mhz must be from 1 to 100000, not 0");
}

}  // namespace
}  // namespace warpfold::configs
