// Kernels from listings: the launch description that each uses, and the positions of errors.
#include <gtest/gtest.h>

#include <stdexcept>

#include "scratch.h"

namespace warpfold::configs {
namespace {

class Listing : public InScratchFolder {
 protected:
  Listing() {
    write("lib/k.textproto", "grid { x: 4 }\nblock { x: 32 }\nparameter { name: \"n\" value: 7 }\n");
    write("s.textproto", scenario("launch: \"lib/k.textproto\" description { block { x: 64 } }"));
  }
  static std::string scenario(const std::string& rest) {
    return "gpu_file: \"" + gpu_path("a100_sxm.textproto") + "\"\nkernel { name: \"k\" listing { path: \"k.sass\" " + rest +
           " } }\n";
  }
  static KernelLaunch description(const std::vector<std::string>& settings = {}, Places* places = nullptr) {
    const auto loaded = load_scenario("s.textproto", settings, places);
    return loaded ? loaded->kernel(0).listing().description() : throw std::runtime_error(loaded.error().text());
  }
};

TEST_F(Listing, HasTheLaunchFileUnderTheScenariosDescription) {
  const KernelLaunch launch = description();
  EXPECT_EQ(launch.grid().x(), 4U);
  EXPECT_EQ(launch.block().x(), 64U);
  EXPECT_EQ(launch.parameter(0).value(), 7);
}

TEST_F(Listing, TakesSettingsByTheNamesOfTheLaunchFile) {
  const KernelLaunch launch =
      description({"kernel.k.listing.description.grid.x=9", "kernel.k.listing.description.parameter.n.value=8"});
  EXPECT_EQ(launch.grid().x(), 9U);
  EXPECT_EQ(launch.parameter(0).value(), 8);
  EXPECT_EQ(scenario_error("s.textproto", {"kernel.k.listing.description.parameter.m.value=8"}),
            "--set kernel.k.listing.description.parameter.m.value=8: no parameter called \"m\"; did you mean \"n\"?");
}

TEST_F(Listing, TakesAnotherLaunchFileBeforeItsFieldsAreSet) {
  write("other.textproto", "grid { x: 5 }\nparameter { name: \"m\" value: 1 }\n");
  const KernelLaunch launch =
      description({"kernel.k.listing.description.parameter.m.value=3", "kernel.k.listing.launch=other.textproto"});
  EXPECT_EQ(launch.grid().x(), 5U);
  EXPECT_EQ(launch.parameter(0).value(), 3);
}

TEST_F(Listing, RemembersWhereEachFieldWasWritten) {
  Places places;
  description({"kernel.k.listing.description.grid.y=2"}, &places);
  const auto place = [&](const std::string& field) { return places.find("kernel[0].listing.description." + field); };
  EXPECT_EQ(place("grid.x").file, "lib/k.textproto");
  EXPECT_EQ(place("grid.x").column, 8);
  EXPECT_EQ(place("parameter[0].value").line, 3);
  EXPECT_EQ(place("block.x").file, "s.textproto");
  EXPECT_EQ(place("grid.y").file, "--set kernel.k.listing.description.grid.y=2");
}

TEST_F(Listing, KeepsFileNamesRelativeToTheFileThatGivesThem) {
  write("mine/derived.textproto", "base: \"../s.textproto\"\n");
  const auto loaded = load_scenario("mine/derived.textproto", {});
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->kernel(0).listing().path(), "../k.sass");
  EXPECT_EQ(loaded->kernel(0).listing().description().grid().x(), 4U);
}

TEST_F(Listing, IsRefusedWhereItsFilesAreNotNamedOrNotThere) {
  write("none.textproto", scenario(""));
  EXPECT_EQ(scenario_error("none.textproto"),
            "none.textproto:2:20: launch is missing: the file that says grid, block and parameters");
  write("gone.textproto", scenario("launch: \"gone.txt\""));
  EXPECT_EQ(scenario_error("gone.textproto"), "gone.textproto:2:45: cannot read \"gone.txt\": No such file or directory");
  write("base.textproto", scenario("description { base: \"lib/k.textproto\" }"));
  EXPECT_EQ(scenario_error("base.textproto"), "base.textproto:2:59: a listing's description has no base; name the file in launch");
  write("lib/k.textproto", "grid { x: 4 }\nblok { x: 32 }\n");
  EXPECT_EQ(scenario_error("s.textproto"), "lib/k.textproto:2:1: unknown field \"blok\" in KernelLaunch; did you mean \"block\"?");
}

}  // namespace
}  // namespace warpfold::configs
