// Files of configurations are found by name, wherever the current folder is.

#include "configs/search_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "configs/load.h"
#include "scratch.h"

namespace warpfold::configs {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

// Two folders of the user's in WARPFOLD_PATH, the first with a GPU that the program has too.
class SearchPath : public InScratchFolder {
 protected:
  SearchPath() {
    fs::create_directories("mine/gpus");
    fs::create_directories("ours/gpus");
    fs::create_directories("ours/scenarios");
    write("mine/gpus/h100_sxm.textproto", "base: \"h200_sxm\" name: \"mine\"");
    write("ours/gpus/h100_sxm.textproto", "base: \"h200_sxm\" name: \"ours\"");
    write("ours/scenarios/copy_of_ours.textproto",
          "name: \"s\" gpu_file: \"h100_sxm\" kernel { name: \"k\" elementwise { operation: COPY elements: 65536 } }");
    setenv("WARPFOLD_PATH", "mine:ours", 1);
  }
  ~SearchPath() override { unsetenv("WARPFOLD_PATH"); }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
};

TEST_F(SearchPath, LooksInTheFirstFolderFirstAndInTheProgramsOwnLast) {
  const auto mine = load_gpu("h100-sxm");
  ASSERT_TRUE(mine) << mine.error().text();
  EXPECT_EQ(mine->name(), "mine");
  EXPECT_EQ(mine->sm_count(), 132);  // of the program's own h200_sxm
  const auto scenario = load_scenario(*find_config("copy_of_ours", "scenarios"), {});
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_EQ(scenario->gpu().name(), "mine");
}

TEST_F(SearchPath, PrefersAFileThatIsThere) {
  write("beside.textproto", "base: \"h200_sxm\" name: \"beside\"");
  EXPECT_EQ(*find_config("beside.textproto", "gpus"), "beside.textproto");
  // A base lies beside the file that names it, or among the configurations.
  write("h200_sxm", "base: \"a100_sxm\" name: \"a file\"");
  EXPECT_EQ(load_gpu("beside.textproto")->architecture(), "sm_80");
}

TEST_F(SearchPath, FindsALaunchDescriptionAndItsListing) {
  write("sums.textproto", "gpu_file: \"a100_sxm\" kernel { name: \"k\" listing { launch: \"all_reduce\" } }");
  const auto scenario = load_scenario("sums.textproto", {});
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_TRUE(fs::exists(scenario->kernel(0).listing().path())) << scenario->kernel(0).listing().path();
  // Operators lie in a folder below kernels; a kernel comes before an operator of the same name.
  EXPECT_THAT(*find_config("rms-norm", "kernels"), EndsWith("kernels/operators/rms_norm.textproto"));
  EXPECT_THAT(*find_config("row_sums", "kernels"), EndsWith("kernels/row_sums.textproto"));
}

TEST_F(SearchPath, FindsAPathBelowConfigsFromAnywhere) {
  const auto found = find_config("configs/scenarios/copy_of_ours.textproto", "scenarios");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, "ours/scenarios/copy_of_ours.textproto");
  EXPECT_EQ(*find_config("configs/scenarios/none.textproto", "scenarios"), "configs/scenarios/none.textproto");
}

TEST_F(SearchPath, SaysWhatIsNearToANameThatNothingHas) {
  const auto none = load_gpu("h100_sxn");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text(), "there is neither a file \"h100_sxn\" nor a GPU of that name; did you mean \"h100_sxm\"?");
  write("wrong.textproto", "base: \"h200_sxn\"");
  EXPECT_THAT(load_gpu("wrong.textproto").error().text(), HasSubstr("wrong.textproto:1:1: there is neither a file"));
}

TEST_F(SearchPath, ListsANameOnce) {
  size_t of_that_name = 0;
  for (const fs::path& file : config_files("gpus")) of_that_name += file.stem() == "h100_sxm";
  EXPECT_EQ(of_that_name, 1);
}

}  // namespace
}  // namespace warpfold::configs
